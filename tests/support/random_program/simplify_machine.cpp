#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "hw/machine/config_error.h"
#include "tests/support/random_program/simplify.h"

namespace systole::tests {
namespace {

using nlohmann::ordered_json;

/// What says nothing about time, is the judge's to choose, or belongs to the program as well.
bool is_fixed(const std::string& key) {
    constexpr std::array<std::string_view, 7> fixed{
        "/schema", "/name", "/sources", "/power", "/server", "/matrix_unit/engine", "/matrix_unit/rows"};
    return key == "/matrix_unit/columns" ||
           std::any_of(fixed.begin(), fixed.end(),
                       [&](std::string_view each) { return key.starts_with(each); });
}

/// The simple values of a parameter before `value`, from the simplest on.
std::vector<ordered_json> simpler_than(const ordered_json& value, const std::optional<ordered_json>& usual,
                                       const std::string& key) {
    std::vector<ordered_json> values;
    const bool size = key.ends_with("/rows") || key.ends_with("/bytes");  // smaller is simpler
    if (usual && !size) values.push_back(*usual);
    if (value.is_number()) {
        for (const int number : {0, 1}) values.emplace_back(number);
    }
    const auto known = std::find(values.begin(), values.end(), value);
    if (known != values.end()) {
        values.erase(known, values.end());
    } else if (value.is_number_integer() && value.get<std::uint64_t>() > 3) {
        values.emplace_back(value.get<std::uint64_t>() / 2);
    }
    return values;
}

/// Rows and columns beyond the array are cut off.
isa::WeightTile cut(const isa::WeightTile& tile, const isa::Geometry& array) {
    isa::WeightTile result = tile;
    result.rows = std::min(tile.rows, array.rows);
    result.columns = std::min(tile.columns, array.columns);
    result.useful_macs = std::min(tile.useful_macs, result.rows * result.columns);
    if (result.useful_macs != tile.useful_macs || tile.block_macs.size() > array.columns) {
        result.block_macs.clear();
    }
    result.values.clear();
    for (std::size_t row = 0; row < result.rows; ++row) {
        const auto begin =
            tile.values.begin() + static_cast<std::ptrdiff_t>(row * tile.columns * bytes_of(tile.type));
        const auto bytes = static_cast<std::ptrdiff_t>(std::size_t{result.columns} * bytes_of(tile.type));
        result.values.insert(result.values.end(), begin, begin + bytes);
    }
    return result;
}

/// Initial sums of the columns that are left.
isa::InitialRows cut(const isa::InitialRows& sums, const isa::Geometry& before, const isa::Geometry& array) {
    isa::InitialRows result = sums;
    result.values.resize(isa::rows_of(sums, isa::MemoryId::Accumulators, before).count() *
                         isa::row_bytes(isa::MemoryId::Accumulators, array));
    return result;
}

}  // namespace

std::optional<Case> with_smaller_array(const Case& from, bool rows, unsigned part) {
    Case result = from;
    std::uint32_t& side = rows ? result.machine.matrix_unit.rows : result.machine.matrix_unit.columns;
    if (side == 1) return std::nullopt;
    side = part == 1 ? side - 1 : side / part;
    machine::MatrixUnitConfig& array = result.machine.matrix_unit;
    array.cells_per_stage = std::gcd(array.cells_per_stage, std::gcd(array.rows, array.columns));
    result.program.geometry = {.rows = result.machine.matrix_unit.rows,
                               .columns = result.machine.matrix_unit.columns};
    for (isa::WeightTile& tile : result.program.tiles) tile = cut(tile, result.program.geometry);
    for (isa::InitialRows& sums : result.program.initial[isa::MemoryId::Accumulators]) {
        sums = cut(sums, from.program.geometry, result.program.geometry);
    }
    return result;
}

std::vector<std::string> machine_keys(const Case& from) {
    std::vector<std::string> keys;
    const ordered_json flat = machine::to_json(from.machine).flatten();
    for (const auto& [key, value] : flat.items()) {
        if (!is_fixed(key)) keys.push_back(key);
    }
    return keys;
}

SimpleValue with_simple_value(const Case& from, const std::string& key, std::size_t number) {
    const ordered_json::json_pointer pointer(key);
    ordered_json machine = machine::to_json(from.machine);
    if (!machine.contains(pointer)) return {};  // it went with another
    const ordered_json usual = machine::to_json(machine::MachineConfig{});
    const auto values = simpler_than(
        machine[pointer], usual.contains(pointer) ? std::optional(usual[pointer]) : std::nullopt, key);
    if (number >= values.size()) return {};
    SimpleValue simple{.exists = true, .changed = from};
    try {
        if (key == "/weight_memory/model") {
            simple.changed->machine.weight_memory.model = machine::MachineConfig{}.weight_memory.model;
        } else {
            machine[pointer] = values[number];
            simple.changed->machine = machine::read_machine(machine, "simpler machine");
        }
    } catch (const machine::ConfigError&) {
        simple.changed.reset();
    }
    return simple;
}

}  // namespace systole::tests
