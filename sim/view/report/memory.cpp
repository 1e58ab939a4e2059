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
    MemoryOverTime time{.window_cycles = occupancy.window_cycles, .memories = {}};
    for (const run::ValuesOfMemory& each : occupancy.values.memories) {
        const machine::Occupied& memory = run::occupied(record, each.unit);
        std::vector<std::uint64_t> most =
            occupancy::most_held(occupancy::changes_of(each.values, cycles), cycles, time.window_cycles);
        for (std::uint64_t& places : most) places *= memory.units_a_place;
        time.memories.push_back({memory, std::move(most)});
    }
    for (const run::MostHeld& each : occupancy.most_held) {
        time.memories.push_back({run::occupied(record, each.unit), each.windows});
    }
    return time;
}

namespace {

MemoryMap make_map(const run::RunRecord& record, const std::string& figure,
                   const std::vector<run::RowValue>& of_memory) {
    const std::uint64_t cycles = record.cycles;
    const run::MemoryValues& values = record.occupancy->values;
    const std::uint64_t until = end_of_room(of_memory, cycles);
    MemoryMap map{.figure = figure,
                  .until = until,
                  .step_cycles = until / run::most_windows,
                  .values = {},
                  .left_out = 0};
    std::vector<occupancy::Shape> shapes;
    std::size_t count = 0;
    occupancy::for_each_shape(of_memory, map.step_cycles, [&](occupancy::Shape&& shape) {
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

}  // namespace

std::vector<MemoryMap> make_memory_maps(const run::RunRecord& record) {
    std::vector<MemoryMap> maps;
    for (const run::ValuesOfMemory& each : record.occupancy->values.memories) {
        const std::string& figure = run::occupied(record, each.unit).map;
        if (!figure.empty()) maps.push_back(make_map(record, figure, each.values));
    }
    return maps;
}

}  // namespace systole::report
