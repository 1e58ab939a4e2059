#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/study/sweep/study_file.h"

namespace systole::sweep {

/// The keys of a study's base run and of its machine, with their defaults: formulas read those that no axis
/// varies.
class BaseValues {
public:
    explicit BaseValues(const StudyDefinition& study) : study_(study) {}

    /// The value of a dotted key; null if the run has none. `machine` is the machine of the point, if an axis
    /// varies it. Throws ConfigError where run or machine are broken.
    const nlohmann::ordered_json& find(const std::string& key, const std::optional<nlohmann::json>& machine);

private:
    struct Values {
        nlohmann::ordered_json run;
        nlohmann::ordered_json machine;
    };
    const Values& values_of(const std::optional<nlohmann::json>& machine);

    const StudyDefinition& study_;
    std::map<std::string, Values> by_machine_;
};

}  // namespace systole::sweep
