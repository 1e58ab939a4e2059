// The share of each path's bandwidth that the run used.
#include <algorithm>
#include <stdexcept>

#include "sim/view/report/report.h"

namespace systole::report {
namespace {

const Traffic& traffic_of(const std::vector<Traffic>& traffic, std::string_view path) {
    const auto found =
        std::find_if(traffic.begin(), traffic.end(), [&](const Traffic& each) { return each.path == path; });
    if (found == traffic.end()) throw std::logic_error("traffic without one of its paths");
    return *found;
}

}  // namespace

std::vector<Path> make_paths(const run::RunRecord& record, const std::vector<Traffic>& traffic) {
    const machine::MachineConfig& machine = record.spec.machine;
    const auto counted = [&](std::string_view counter) { return record.counters.at(counter).value(); };
    const auto outside = [&](std::string_view from, std::string_view to, std::string_view path) {
        const Traffic& each = traffic_of(traffic, path);
        return Path{from, to, each.bytes, "bytes", each.utilization};
    };
    /// `a_cycle` is the most that a path on the chip can move in a cycle.
    const auto inside = [&](std::string_view from, std::string_view to, std::uint64_t moved,
                            std::string_view unit, std::uint64_t a_cycle) {
        const double most = static_cast<double>(record.cycles) * static_cast<double>(a_cycle);
        Path path{from, to, moved, unit, std::nullopt};
        if (most > 0.0) path.utilization = static_cast<double>(moved) / most;
        return path;
    };
    // A tile shifts in one array row a cycle. All other paths on the chip move rows; one with 16-bit operands
    // passes through the array two or four times.
    return {
        outside("weight_memory", "weight_fifo", "weight"),
        inside("weight_fifo", "matrix_unit", counted("weight_fifo.shifted_bytes"), "bytes",
               machine.matrix_unit.columns),
        outside("host_interface", "sequencer", "instruction"),
        outside("host_interface", "unified_buffer", "host_read"),
        inside("unified_buffer", "systolic_data_setup", counted("systolic_data_setup.fetches"), "rows",
               machine.systolic_data_setup.fetches_per_cycle),
        inside("systolic_data_setup", "matrix_unit", counted("matrix_unit.active_cycles"), "row passes", 1),
        inside("matrix_unit", "accumulators", counted("accumulators.pass_writes"), "row passes", 1),
        inside("accumulators", "activation_unit", counted("accumulators.reads"), "rows", 1),
        inside("unified_buffer", "activation_unit", counted("activation_unit.buffer_reads"), "rows", 1),
        inside("activation_unit", "unified_buffer", counted("activation_unit.buffer_writes"), "rows", 1),
        outside("unified_buffer", "host_interface", "host_write"),
    };
}

}  // namespace systole::report
