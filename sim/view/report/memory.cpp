// How full the memories are: at most, and over time.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/view/occupancy/occupancy.h"
#include "sim/view/report/batching.h"
#include "sim/view/report/json_values.h"
#include "sim/view/report/sections.h"

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

/// Peak occupancy of each memory in each window of the run, in the unit of its description; the last window
/// ends with the run. Null if no memory describes its occupancy.
Json over_time(const run::RunRecord& record, const run::Occupancy& occupancy) {
    const std::uint64_t cycles = record.cycles;
    std::vector<std::pair<machine::Occupied, std::vector<std::uint64_t>>> memories;
    for (const run::ValuesOfMemory& each : occupancy.values.memories) {
        const machine::Occupied& memory = run::occupied(record, each.unit);
        std::vector<std::uint64_t> most =
            occupancy::most_held(occupancy::changes_of(each.values, cycles), cycles, occupancy.window_cycles);
        for (std::uint64_t& places : most) places *= memory.units_a_place;
        memories.emplace_back(memory, std::move(most));
    }
    for (const run::MostHeld& each : occupancy.most_held) {
        memories.emplace_back(run::occupied(record, each.unit), each.windows);
    }
    if (memories.empty()) return nullptr;
    Json object{{"window_cycles", occupancy.window_cycles}};
    for (const auto& [memory, most] : memories) object[memory.figure] = most;
    object["memories"] = list_of(memories, [](const auto& each) -> Json {
        return {{"title", each.first.title},
                {"figure", each.first.figure},
                {"unit", each.first.unit},
                {"capacity", each.first.capacity}};
    });
    return object;
}

/// A value in a memory: its rows, each from its first write to its last read.
Json value_json(const std::string& writer, const occupancy::Shape& shape, Cycle cycles) {
    const auto step = [cycles](const occupancy::RowValue& each) -> Json {
        return {{"first_row", each.rows.first},
                {"rows", each.rows.count()},
                {"begin", each.begin},
                {"end", std::min(each.end, cycles)}};
    };
    return {{"name", writer}, {"steps", list_of(shape, step)}};
}

/// The values of a memory in the order of their first write: all that begin before `until`. `left_out` is the
/// number of the later ones.
Json map_json(const run::MemoryValues& all, const std::vector<run::RowValue>& of_memory, Cycle cycles) {
    std::uint64_t until = end_of_room(of_memory, cycles);
    const std::uint64_t step_cycles = until / run::most_windows;
    std::vector<occupancy::Shape> shapes;
    std::size_t count = 0;
    occupancy::for_each_shape(of_memory, step_cycles, [&](occupancy::Shape&& shape) {
        ++count;
        if (first_begin(shape) < until) shapes.push_back(std::move(shape));
    });
    std::stable_sort(shapes.begin(), shapes.end(),
                     [](const auto& a, const auto& b) { return first_begin(a) < first_begin(b); });
    Json values = Json::array();
    std::size_t steps = 0;
    for (const occupancy::Shape& shape : shapes) {
        steps += shape.size();
        if (steps > most_steps) {
            until = first_begin(shape);
            break;
        }
        const std::string& writer = all.writers[shape.front().writer];
        values.push_back(value_json(writer, shape, cycles));
    }
    const std::size_t left_out = count - values.size();
    return {{"until", until},
            {"step_cycles", step_cycles},
            {"left_out", left_out},
            {"values", std::move(values)}};
}

}  // namespace

Json occupancy_json(const run::RunRecord& record, const run::Occupancy& occupancy) {
    Json object = Json::object();
    if (Json time = over_time(record, occupancy); !time.is_null()) object["over_time"] = std::move(time);
    for (const run::ValuesOfMemory& each : occupancy.values.memories) {
        const std::string& figure = run::occupied(record, each.unit).map;
        if (!figure.empty()) object[figure] = map_json(occupancy.values, each.values, record.cycles);
    }
    return object;
}

Json memory_json(const Basis& basis) {
    const run::RunRecord& record = basis.record;
    Json object = Json::object();
    for (const machine::UnitDescription& unit : record.units) {
        if (!unit.box || !unit.box->filled) continue;
        const machine::Filled& filled = *unit.box->filled;
        object[unit.name + "_" + filled.figure + "_bytes"] = filled.used_bytes;
        object[unit.name + "_bytes"] = filled.bytes;
    }
    if (basis.parts.weight_memory) object["spilled_weight_bytes"] = record.program.spilled_bytes;
    if (record.cut_images) object["cut_images"] = to_json(*record.cut_images);
    if (record.occupancy) object.update(occupancy_json(record, *record.occupancy));
    return object;
}

}  // namespace systole::report
