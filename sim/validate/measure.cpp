#include "sim/validate/measure.h"

#include <algorithm>
#include <optional>

#include "hw/tpu/tpu.h"
#include "sim/energy/run_energy.h"

namespace systole::validate {
namespace {

/// Where the host is all that the chip waits for, and when weights came.
class Borders final : public hw::TraceListener {
public:
    void instruction(const hw::InstructionTimes& times) override {
        const bool computes = times.unit == static_cast<std::size_t>(isa::Unit::Matrix) ||
                              times.unit == static_cast<std::size_t>(isa::Unit::Activation);
        if (computes) last_result_ = std::max(last_result_, times.complete);
    }
    void tile(const hw::TileTimes& times) override {
        first_fetch_ = std::min(first_fetch_.value_or(times.fetched), times.fetched);
        last_tile_ = std::max(last_tile_, times.whole);
    }
    void matrix_idle(const hw::MatrixIdleTimes& times) override {
        if (seen_first_) return;
        seen_first_ = true;
        head_ = times.idle.without_rows;
    }

    Cycle head() const { return head_; }
    Cycle tail(Cycle end) const { return end - std::min(end, last_result_); }
    Cycle weight_fetch() const { return last_tile_ - first_fetch_.value_or(last_tile_); }

private:
    Cycle head_ = 0;
    bool seen_first_ = false;
    Cycle last_result_ = 0;
    std::optional<Cycle> first_fetch_;
    Cycle last_tile_ = 0;
};

}  // namespace

Measurement measure(const isa::Program& program, const machine::MachineConfig& machine, std::uint64_t macs) {
    Borders borders;
    hw::Tpu tpu("tpu", machine, program,
                {.values = hw::Values::TimingOnly,
                 .trace = &borders,
                 .registers = nullptr,
                 .held_back = {},
                 .value_threads = 0});
    tpu.run();

    const hw::MatrixUnitCounters& array = tpu.matrix_unit();
    Measurement result;
    result.clock_hz = static_cast<double>(machine.clock_hz());
    result.cells = static_cast<double>(machine.tile_bytes());
    result.batch = program.batch;
    result.macs = macs * program.inferences;
    for (const isa::WeightTile& tile : program.tiles) {
        result.weight_bytes += std::uint64_t{tile.rows} * tile.columns * bytes_of(tile.type);
    }
    result.cycles = tpu.cycles();
    result.active_cycles = array.active_cycles.value();
    result.weight_stall_cycles = array.weight_stall_cycles.value();
    result.weight_shift_cycles = array.weight_shift_cycles.value();
    result.non_matrix_cycles = array.non_matrix_cycles.value();
    result.raw_stall_cycles = array.raw_stall_cycles.value();
    result.input_stall_cycles = array.input_stall_cycles.value();
    result.useful_macs = array.useful_macs.value();
    result.unused_macs = array.unused_macs.value();
    result.tiles = array.tiles.value();
    result.unified_buffer_peak_bytes = tpu.unified_buffer().touched_bytes();
    const hw::HostInterfaceCounters& host = tpu.host_interface();
    result.host_read_bytes = host.read_bytes.value();
    result.host_write_bytes = host.write_bytes.value();
    for (const hw::CounterGroup* group : tpu.counters()) {
        if (group->unit() != "host_read" && group->unit() != "host_write") continue;
        for (const hw::Counter& counter : *group) {
            if (counter.name() == "busy_cycles") result.host_busy_cycles += counter.value();
        }
    }
    result.head_cycles = borders.head();
    result.tail_cycles = borders.tail(tpu.cycles());
    result.weight_fetch_cycles = borders.weight_fetch();
    if (machine.energy) {
        const energy::Joules joules = energy::joules(energy::events(tpu, machine), machine, tpu.cycles());
        result.static_watts = joules[energy::Consumer::ChipStatic] / result.seconds();
        result.dynamic_watts = joules.on_die() / result.seconds() - result.static_watts;
    }
    return result;
}

}  // namespace systole::validate
