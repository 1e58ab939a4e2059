#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// What is known about the parameters of machines beyond published figures: configs/evidence/*.json, schema
/// sim.evidence/1.
namespace systole::validate {

struct Evidence {
    std::vector<std::string> machines;  ///< in configs/machines: to look at besides those of the target
    /// Test cases, by parameter, that hold its value or its effect against something outside the program.
    std::map<std::string, std::string> tests;
    /// Parameters that are not changed, with the reason.
    std::map<std::string, std::string> unchanged;
};

/// From JSON; `file` leads the messages. Throws ConfigError.
Evidence read_evidence(const nlohmann::json& object, const std::string& file);
Evidence read_evidence(const std::filesystem::path& path);

}  // namespace systole::validate
