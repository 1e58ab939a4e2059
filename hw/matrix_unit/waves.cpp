// The signals that waves show of the unit, and the port through which it writes sums.
#include <fmt/format.h>

#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "hw/matrix_unit/matrix_unit.h"

namespace systole::hw {
namespace {

DrivenWave& state(WaveMaker& maker, const char* name) {
    return maker.flag(fmt::format("matrix_unit.{}", name));
}

/// The tiles of machines whose programs number them.
struct TileWaves {
    explicit TileWaves(WaveMaker& maker)
        : streaming(maker.tile("matrix_unit.tile")),
          shift(maker.moved_tile("matrix_unit.shift", "matrix_unit.shift_tile")) {}

    DrivenWave& streaming;
    NumberedWave shift;
    std::deque<std::uint32_t> waiting;  ///< have been fetched and not yet used
    std::uint32_t in_array = 0;
};

class MatrixUnitWaves final : public TraceListener {
public:
    /// `sums`: the memory with a port for them, of so many rows; or none.
    MatrixUnitWaves(WaveMaker& maker, bool numbers_tiles, const std::string& sums, std::uint64_t sums_rows)
        : active_(state(maker, "active")),
          weight_stall_(state(maker, "weight_stall")),
          weight_shift_(state(maker, "weight_shift")),
          non_matrix_(state(maker, "non_matrix")),
          raw_stall_(state(maker, "raw_stall")),
          input_stall_(state(maker, "input_stall")),
          setup_stall_(state(maker, "setup_stall")),
          port_stall_(state(maker, "port_stall")),
          layer_(maker.layer("matrix_unit.layer")),
          instruction_(maker.instruction("matrix_unit.instruction")),
          repetition_(maker.number("matrix_unit.repetition", std::numeric_limits<std::uint8_t>::max())) {
        if (numbers_tiles) tiles_.emplace(maker);
        if (!sums.empty()) sums_.emplace(maker.port(sums + ".write", sums_rows));
    }

    void tile_fetched(const TileTimes& times) override {
        if (tiles_) tiles_->waiting.push_back(times.tile);
    }
    void tile(const TileTimes& times) override {
        if (tiles_) tiles_->shift.hold(times.shifting, times.shifted, times.tile);
    }

    void matrix_idle(const MatrixIdleTimes& times) override {
        Cycle begin = times.begin;
        const auto part = [&](DrivenWave& cause, Cycle cycles) {
            cause.hold(begin, begin + cycles);
            begin += cycles;
        };
        raw_stall_.hold(begin, begin + times.activations);
        input_stall_.hold(begin, begin + times.inputs);
        part(non_matrix_, times.idle.without_rows);
        part(weight_stall_, times.idle.without_tile);
        part(weight_shift_, times.idle.shifting);
        non_matrix_.hold(begin, begin + times.idle.without_port);
        part(port_stall_, times.idle.without_port);
        layer_.hold(times.begin, begin, times.tag);
    }

    void stream(const StreamTimes& times) override {
        if (tiles_ && !times.keep_weights && !tiles_->waiting.empty()) {
            tiles_->in_array = tiles_->waiting.front();
            tiles_->waiting.pop_front();
        }
        const Cycle end = times.begun + times.lines * times.line_cycles;
        instruction_.hold(times.begun, end, times.number);
        repetition_.hold(times.begun, end, times.repetition);
        if (tiles_) tiles_->streaming.hold(times.begun, end, tiles_->in_array);
        layer_.hold(times.begun, end, times.tag);
        const bool has_gaps = times.line_rows * times.passes < times.line_cycles;
        if (has_gaps) {
            for (Cycle line = times.begun; line < end; line += times.line_cycles) enter_line(line, times);
        } else {
            active_.hold(times.begun, end);
        }
        if (sums_) write_sums(times);
        free_at_ = end;
    }

    void ended(Cycle end, Tag tag) override {
        non_matrix_.hold(free_at_, end);
        layer_.hold(free_at_, end, tag);
    }

private:
    void enter_line(Cycle begin, const StreamTimes& times) {
        const Cycle entered = begin + times.line_rows * times.passes;
        const Cycle end = begin + times.line_cycles;
        active_.hold(begin, entered);
        non_matrix_.hold(entered, end);
        setup_stall_.hold(entered, end);
    }

    /// The port is held in the last cycle before a sum can be read, as for writes of other memories.
    void write_sums(const StreamTimes& times) {
        const Cycle busy = times.line_rows * times.passes;
        const bool has_gaps = busy != times.line_cycles;
        const std::uint64_t pieces = has_gaps ? times.lines : 1;
        const std::uint64_t rows_of_piece = has_gaps ? times.line_rows : times.lines * times.line_rows;
        for (std::uint64_t piece = 0; piece < pieces; ++piece) {
            const Cycle begin = times.summed - 1 + piece * times.line_cycles;
            const Cycle end = begin + rows_of_piece * times.passes;
            sums_->flag.hold(begin, end);
            sums_->number.drive({.begin = begin,
                                 .end = end,
                                 .first = times.accumulator_row + piece * rows_of_piece,
                                 .step = 1,
                                 .every = times.passes});
        }
    }

    DrivenWave& active_;
    DrivenWave& weight_stall_;
    DrivenWave& weight_shift_;
    DrivenWave& non_matrix_;
    DrivenWave& raw_stall_;
    DrivenWave& input_stall_;
    DrivenWave& setup_stall_;
    DrivenWave& port_stall_;
    DrivenWave& layer_;
    DrivenWave& instruction_;
    DrivenWave& repetition_;
    std::optional<TileWaves> tiles_;
    std::optional<NumberedWave> sums_;
    Cycle free_at_ = 0;
};

}  // namespace

std::unique_ptr<TraceListener> MatrixUnit::waves(WaveMaker& maker) const {
    const ArrayNeighbours& neighbours = counters_.neighbours;
    return std::make_unique<MatrixUnitWaves>(maker, neighbours.numbers_tiles,
                                             std::string(neighbours.sums_memory),
                                             context_.machine.accumulators.rows);
}

}  // namespace systole::hw
