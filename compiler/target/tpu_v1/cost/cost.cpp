#include "compiler/target/tpu_v1/cost/cost.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "compiler/target/tpu_v1/cost/unit_times.h"
#include "hw/isa/instruction.h"
#include "hw/isa/registers.h"
#include "hw/timing/activation_unit.h"
#include "hw/timing/matrix_unit.h"
#include "hw/timing/transfers.h"

namespace systole::tpu_v1 {
namespace {

using isa::Register;

isa::Registers window_registers(const MappedProduct& product, std::uint32_t element_tile) {
    isa::Registers registers;
    const ir::Window& window = *product.window;
    registers.set(Register::WindowInputHeight, product.input.height);
    registers.set(Register::WindowInputWidth, product.input.width);
    registers.set(Register::WindowChannels, product.input.channels);
    registers.set(Register::WindowKernelHeight, window.kernel_height);
    registers.set(Register::WindowKernelWidth, window.kernel_width);
    registers.set(Register::WindowStrideY, window.stride_y);
    registers.set(Register::WindowStrideX, window.stride_x);
    registers.set(Register::WindowPadTop, window.pad_top);
    registers.set(Register::WindowPadLeft, window.pad_left);
    registers.set(Register::WindowOutputHeight, product.grid.height);
    registers.set(Register::WindowOutputWidth, product.grid.width);
    registers.set(Register::WindowTile, element_tile);
    return registers;
}

/// The stream of one line against an element tile.
timing::StreamShape line_of(const MappedProduct& product, const machine::MachineConfig& machine,
                            std::uint32_t element_tile) {
    const isa::MatrixFlags flags{.activations = product.activations, .weights = product.weights};
    if (!product.window) {
        return timing::stream_cost(isa::MatrixMultiply{.length = 1, .flags = flags}, {}, 0, machine).shape;
    }
    return timing::stream_cost(isa::Convolve{.lines = 1, .flags = flags},
                               window_registers(product, element_tile), 0, machine)
        .shape;
}

}  // namespace

std::vector<TileCost> tile_costs(const MappedProduct& product, const ColumnTile& column,
                                 const machine::MachineConfig& machine) {
    // Many fetches, because one also pays the latency and takes whole cycles.
    constexpr std::size_t fetches = 64;
    const std::vector<isa::WeightTile> tiles(
        fetches, {.rows = machine.matrix_unit.rows, .columns = column.channels, .type = product.weights});
    const timing::TileFetchCost cost = timing::tile_fetch_cost(tiles, machine);
    const Cycle cycles = product.spilled ? timing::host_read_cycles(cost.bytes, machine) : cost.cycles;
    const double fetch = static_cast<double>(cycles) / fetches;
    const double latency = product.spilled ? static_cast<double>(machine.host_latency()) : 0.0;
    std::vector<TileCost> tiles_of_column;
    for (const TileRun& run : column.runs) {
        for (std::uint32_t t = 0; t < run.tiles; ++t) {
            tiles_of_column.push_back({.line = line_of(product, machine, run.first_element_tile + t),
                                       .fetch = fetch,
                                       .latency = latency});
        }
    }
    return tiles_of_column;
}

Cycle activation_cycles(const ActivatedColumns& columns, std::uint32_t rows, bool loads,
                        const machine::MachineConfig& machine) {
    isa::Registers registers;
    registers.set(Register::ActivationColumns, columns.columns);
    registers.set(Register::ActivationPixelBytes, columns.pixel_bytes);
    registers.set(Register::BlockWidth, columns.block.width);
    registers.set(Register::BlockHeight, columns.block.height);
    registers.set(Register::BlockOutputWidth, columns.pixels.width);
    registers.set(Register::BlockOutputHeight, columns.pixels.height);
    const isa::Activate activate{.length = static_cast<std::uint16_t>(rows),
                                 .function = columns.function,
                                 .load_parameters = loads,
                                 .multipliers = columns.multipliers,
                                 .output = columns.output};
    return timing::activation_cost(activate, registers, machine).cycles;
}

namespace {

/// The chunks of products, column tile after column tile.
class Recurrence {
public:
    explicit Recurrence(const machine::MachineConfig& machine)
        : machine_(machine), times_(machine), activated_(1, 0.0) {}

    void add(const MappedProduct& product) {
        divide_accumulators(product.cut.parts);
        for (std::size_t j = 0; j < product.tiling.columns.size(); ++j) add_column(product, j);
    }

    Cycle cycles() const { return static_cast<Cycle>(std::llround(times_.end())); }

private:
    /// The next chunks use as many parts of the accumulators. Each is free when all its rows are.
    void divide_accumulators(std::size_t parts) {
        const std::size_t before = activated_.size();
        if (parts == before) return;
        std::vector<double> activated(parts, 0.0);
        for (std::size_t i = 0; i < parts; ++i) {
            for (std::size_t j = 0; j < before; ++j) {
                const bool overlap = i * before < (j + 1) * parts && j * parts < (i + 1) * before;
                if (overlap) activated[i] = std::max(activated[i], activated_[j]);
            }
        }
        part_ = part_ == 0 ? 0 : divide_up(((part_ - 1) % before + 1) * parts, before);
        activated_ = std::move(activated);
    }

    void add_column(const MappedProduct& product, std::size_t column) {
        const std::vector<TileCost> tiles = tile_costs(product, product.tiling.columns[column], machine_);
        const std::vector<Chunk>& chunks = product.cut.chunks;
        const bool each_fetches = tiles.size() > 1;  // one tile stays in the array
        Repetition repetition;
        for (std::size_t c = 0; c < chunks.size();) {
            add_chunk(tiles, chunks[c].lines, activation_of(product, column, c), c == 0 || each_fetches);
            ++c;
            const auto [cycles, period] = repetition.find(c, state(each_fetches));
            if (period == 0) continue;
            const std::size_t periods = repeated_chunks(chunks, c, period) / period;
            advance(cycles * static_cast<double>(periods), each_fetches);
            c += periods * period;
            if (periods > 0) repetition = {};
        }
    }

    /// Finds out after how many chunks all times are the same again but for the cycles that have passed. (As
    /// Brent's algorithm for the cycle of a sequence does: it compares with one earlier state, which it takes
    /// anew when twice as many chunks have passed.)
    class Repetition {
    public:
        struct Found {
            double cycles = 0;       ///< in which
            std::size_t period = 0;  ///< so many chunks pass; 0: it is not known
        };
        /// `times` are those after the first `chunk` chunks.
        Found find(std::size_t chunk, std::vector<double> times) {
            const std::size_t passed = chunk - chunk_;
            if (is_later(times)) return {.cycles = times.front() - times_.front(), .period = passed};
            if (times_.empty() || passed >= longest_) {
                longest_ *= 2;
                chunk_ = chunk;
                times_ = std::move(times);
            }
            return {};
        }

    private:
        bool is_later(const std::vector<double>& times) const {
            if (times_.empty() || times.size() != times_.size()) return false;
            const double cycles = times.front() - times_.front();
            for (std::size_t i = 0; i < times.size(); ++i) {
                if (times[i] - times_[i] != cycles) return false;
            }
            return true;
        }

        std::size_t chunk_ = 0;
        std::size_t longest_ = 1;
        std::vector<double> times_;
    };

    /// The number of chunks from `next` on that are as long as those `period` chunks before them.
    static std::size_t repeated_chunks(const std::vector<Chunk>& chunks, std::size_t next,
                                       std::size_t period) {
        std::size_t c = next;
        while (c < chunks.size() && chunks[c].lines == chunks[c - period].lines) ++c;
        return c - next;
    }

    /// All times on which those of the next chunks depend, in the order of their use.
    std::vector<double> state(bool fetches) const {
        std::vector<double> times = times_.state(fetches);
        if (times.empty()) return times;
        for (std::size_t i = 0; i < activated_.size(); ++i) {
            times.push_back(activated_[(part_ + i) % activated_.size()]);
        }
        return times;
    }

    void advance(double cycles, bool fetches) {
        times_.advance(cycles, fetches);
        for (double& time : activated_) time += cycles;
    }

    double activation_of(const MappedProduct& product, std::size_t column, std::size_t chunk) const {
        const std::vector<ActivatedColumns>& segments = product.activated[column];
        Cycle activation = 0;
        for (const ActivatedColumns& segment : segments) {
            // Several segments load their parameters for each chunk.
            activation += activation_cycles(segment, product.cut.chunks[chunk].lines * product.grid.width,
                                            chunk == 0 || segments.size() > 1, machine_);
        }
        return static_cast<double>(activation);
    }

    void add_chunk(const std::vector<TileCost>& tiles, std::uint32_t lines, double activation, bool fetches) {
        double& activated = activated_[part_++ % activated_.size()];
        double sums = 0;  // when the last of them are complete
        for (const TileCost& tile : tiles) {
            timing::StreamShape stream = tile.line;
            stream.lines = lines;
            // The first stream overwrites the rows of sums.
            const double ready = &tile == tiles.data() ? activated : 0.0;
            const UnitTimes::Fetch fetch{.cycles = tile.fetch, .latency = tile.latency};
            sums = times_.add_stream(stream, ready, fetches ? std::optional(fetch) : std::nullopt);
        }
        activated = times_.add_activation(sums, activation);
    }

    const machine::MachineConfig& machine_;
    UnitTimes times_;
    std::vector<double> activated_;  ///< by part of the accumulators: its rows are free
    std::size_t part_ = 0;           ///< that the next chunk takes, modulo their number
};

}  // namespace

Cycle predicted_cycles(const MappedProduct& product, const machine::MachineConfig& machine) {
    return predicted_cycles(std::span(&product, 1), machine);
}

Cycle predicted_cycles(std::span<const MappedProduct> products, const machine::MachineConfig& machine) {
    Recurrence recurrence(machine);
    for (const MappedProduct& product : products) recurrence.add(product);
    return recurrence.cycles();
}

Cycle predicted_cycles(std::span<const MappedProduct* const> products,
                       const machine::MachineConfig& machine) {
    Recurrence recurrence(machine);
    for (const MappedProduct* product : products) recurrence.add(*product);
    return recurrence.cycles();
}

}  // namespace systole::tpu_v1
