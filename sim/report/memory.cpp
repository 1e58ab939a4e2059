// What lay in the memories over time.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "sim/occupancy/over_time.h"
#include "sim/report/report.h"

namespace systole::report {
namespace {

/// As many points as a chart can show, and a report should hold.
constexpr std::uint64_t most_windows = 500;
constexpr std::size_t most_values = 1000;
constexpr std::size_t most_steps = 6000;

std::uint64_t first_begin(const occupancy::Shape& shape) {
    const auto earlier = [](const auto& a, const auto& b) { return a.begin < b.begin; };
    return std::min_element(shape.begin(), shape.end(), earlier)->begin;
}

/// In the order of their first write.
std::vector<occupancy::Shape> shapes_by_time(const occupancy::ProgramValues& values,
                                             std::uint64_t tolerance) {
    std::vector<occupancy::Shape> shapes = occupancy::shapes_of(values.unified_buffer, tolerance);
    std::stable_sort(shapes.begin(), shapes.end(),
                     [](const auto& a, const auto& b) { return first_begin(a) < first_begin(b); });
    return shapes;
}

/// When the first shape behind so many begins.
std::optional<std::uint64_t> begin_behind(const std::vector<occupancy::Shape>& shapes, std::size_t count) {
    if (shapes.size() <= count) return std::nullopt;
    return first_begin(shapes[count]);
}

}  // namespace

MemoryOverTime make_memory_over_time(const run::Result& result, const occupancy::ProgramValues& values) {
    const std::uint64_t cycles = result.tpu->cycles();
    MemoryOverTime time{
        .window_cycles = std::max<std::uint64_t>((cycles + most_windows - 1) / most_windows, 1),
        .unified_buffer_bytes = {},
        .accumulator_rows = {},
        .weight_fifo_tiles = {}};
    const auto most = [&](const auto& held) {
        return occupancy::most_held(occupancy::holdings_of(held), cycles, time.window_cycles);
    };
    time.unified_buffer_bytes = most(values.unified_buffer);
    for (std::uint64_t& rows : time.unified_buffer_bytes) rows *= result.machine.matrix_unit.rows;
    time.accumulator_rows = most(values.accumulators);
    time.weight_fifo_tiles = most(result.spans->tiles);
    return time;
}

UnifiedBufferMap make_unified_buffer_map(const run::Result& result, const occupancy::ProgramValues& values) {
    const std::uint64_t cycles = result.tpu->cycles();
    const std::uint64_t until = begin_behind(shapes_by_time(values, cycles), most_values).value_or(cycles);
    UnifiedBufferMap map{.until = until, .step_cycles = until / most_windows, .values = {}, .left_out = 0};
    std::vector<occupancy::Shape> shapes = shapes_by_time(values, map.step_cycles);
    std::size_t steps = 0;
    for (occupancy::Shape& shape : shapes) {
        steps += shape.size();
        if (steps > most_steps || first_begin(shape) >= until) {
            map.until = std::min(until, first_begin(shape));
            break;
        }
        for (occupancy::RowValue& step : shape) step.end = std::min(step.end, cycles);
        const std::string& writer = values.writers[shape.front().writer];
        map.values.push_back({.name = writer, .steps = std::move(shape)});
    }
    map.left_out = shapes.size() - map.values.size();
    return map;
}

}  // namespace systole::report
