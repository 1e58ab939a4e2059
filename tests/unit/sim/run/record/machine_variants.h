#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "hw/machine/machine_config.h"
#include "tests/support/source_dir.h"

/// Machines that differ from another in one key, for tests that walk over all keys.
namespace systole::tests {

struct MachineVariant {
    std::string place;  ///< of the key, as a JSON pointer
    machine::MachineConfig machine;
};

/// The shipped TPU v1 with one of the two models of weight memory, and a matrix unit of one number format: of
/// all formats that there are, none could be changed alone.
inline machine::MachineConfig machine_of_one_format(const std::string& weight_memory_model) {
    nlohmann::json file =
        machine::read_json_object(std::filesystem::path(source_dir()) / "configs/machines/tpu_v1.json");
    file["matrix_unit"]["formats"] = {{{"activations", "uint8"}, {"weights", "int8"}, {"passes", 1}}};
    file["weight_memory"]["model"] = weight_memory_model;
    if (weight_memory_model == "dram") {
        file["weight_memory"].erase("bandwidth_gb_per_s");
        file["sources"].erase("weight_memory.bandwidth_gb_per_s");
    }
    return machine::read_machine(file, "test");
}

namespace detail {

/// Other values of a key of the machine's file, of which one at least makes a machine that can be built.
inline std::vector<nlohmann::ordered_json> other_values(const nlohmann::ordered_json& value) {
    if (value.is_boolean()) return {!value.get<bool>()};
    if (value.is_string()) return {"pe", "dram", "int8", "int16", value.get<std::string>() + "!"};
    if (value.is_number_float()) {
        const double number = value.get<double>();
        return {number * 1.0000001 + 1e-9, number * 0.9999999};
    }
    const auto number = value.get<std::uint64_t>();
    return {number + 1, number * 2, number / 2};
}

inline std::optional<machine::MachineConfig> built(const nlohmann::ordered_json& flat) {
    try {
        return machine::read_machine(nlohmann::json(flat.unflatten()), "test");
    } catch (const machine::ConfigError&) {
        return std::nullopt;
    }
}

}  // namespace detail

/// One machine for each key of its file. Left out are the keys of which there is one value: the schema, the
/// accumulators' format, and the weight memory's model, whose other keys go with it. A test fails that meets
/// another key that it cannot change.
inline std::vector<MachineVariant> machine_variants(const machine::MachineConfig& machine) {
    std::vector<MachineVariant> variants;
    const nlohmann::ordered_json flat = machine::to_json(machine).flatten();
    for (const auto& [place, value] : flat.items()) {
        if (place == "/schema" || place.ends_with("/accumulators") || place == "/weight_memory/model") {
            continue;
        }
        INFO(place);
        bool is_changed = false;
        for (const nlohmann::ordered_json& other : detail::other_values(value)) {
            nlohmann::ordered_json changed = flat;
            changed[place] = other;
            const auto variant = detail::built(changed);
            if (!variant || machine::to_json(*variant).flatten() == flat) continue;
            variants.push_back({place, *variant});
            is_changed = true;
            break;
        }
        REQUIRE(is_changed);
    }
    return variants;
}

}  // namespace systole::tests
