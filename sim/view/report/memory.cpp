// The occupancy of the memories over time.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/view/occupancy/occupancy.h"
#include "sim/view/report/report.h"

namespace systole::report {
namespace {

constexpr std::size_t most_values = 1000;
constexpr std::size_t most_steps = 6000;

std::uint64_t first_begin(const occupancy::Shape& shape) {
    const auto earlier = [](const auto& a, const auto& b) { return a.begin < b.begin; };
    return std::min_element(shape.begin(), shape.end(), earlier)->begin;
}

/// The cycle in which the first value begins that does not fit the map; the run's end if all values fit.
std::uint64_t end_of_room(const std::vector<occupancy::RowValue>& values, std::uint64_t cycles) {
    std::vector<std::uint64_t> begins;
    occupancy::for_each_shape(values, cycles,
                              [&](occupancy::Shape&& shape) { begins.push_back(first_begin(shape)); });
    if (begins.size() <= most_values) return cycles;
    const auto behind = begins.begin() + most_values;
    std::nth_element(begins.begin(), behind, begins.end());
    return *behind;
}

}  // namespace

MemoryOverTime make_memory_over_time(const run::RunRecord& record) {
    const std::uint64_t cycles = record.cycles;
    const run::Occupancy& occupancy = *record.occupancy;
    MemoryOverTime time{.window_cycles = occupancy.weight_fifo_tiles.window_cycles,
                        .unified_buffer_bytes = {},
                        .accumulator_rows = {},
                        .weight_fifo_tiles = occupancy.weight_fifo_tiles.windows};
    const auto most = [&](const std::vector<occupancy::RowValue>& values) {
        return occupancy::most_held(occupancy::changes_of(values, cycles), cycles, time.window_cycles);
    };
    time.unified_buffer_bytes = most(occupancy.values.unified_buffer);
    for (std::uint64_t& rows : time.unified_buffer_bytes) rows *= record.spec.machine.matrix_unit.rows;
    time.accumulator_rows = most(occupancy.values.accumulators);
    return time;
}

UnifiedBufferMap make_unified_buffer_map(const run::RunRecord& record) {
    const std::uint64_t cycles = record.cycles;
    const run::MemoryValues& values = record.occupancy->values;
    const std::uint64_t until = end_of_room(values.unified_buffer, cycles);
    UnifiedBufferMap map{
        .until = until, .step_cycles = until / run::most_windows, .values = {}, .left_out = 0};
    std::vector<occupancy::Shape> shapes;
    std::size_t count = 0;
    occupancy::for_each_shape(values.unified_buffer, map.step_cycles, [&](occupancy::Shape&& shape) {
        ++count;
        if (first_begin(shape) < until) shapes.push_back(std::move(shape));
    });
    std::stable_sort(shapes.begin(), shapes.end(),
                     [](const auto& a, const auto& b) { return first_begin(a) < first_begin(b); });
    std::size_t steps = 0;
    for (occupancy::Shape& shape : shapes) {
        steps += shape.size();
        if (steps > most_steps) {
            map.until = first_begin(shape);
            break;
        }
        for (occupancy::RowValue& step : shape) step.end = std::min(step.end, cycles);
        const std::string& writer = values.writers[shape.front().writer];
        map.values.push_back({.name = writer, .steps = std::move(shape)});
    }
    map.left_out = count - map.values.size();
    return map;
}

}  // namespace systole::report
