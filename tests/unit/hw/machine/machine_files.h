#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "hw/machine/machine_config.h"
#include "tests/support/source_dir.h"

namespace systole::tests {

inline std::filesystem::path shipped_machine(const std::string& name) {
    return std::filesystem::path(source_dir()) / "configs/machines" / name;
}

/// The error of reading the machine, or "no error".
inline std::string machine_error(const nlohmann::json& object) {
    try {
        machine::read_machine(object, "test.json");
    } catch (const machine::ConfigError& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace systole::tests
