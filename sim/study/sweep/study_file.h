#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hw/machine/config_description.h"
#include "sim/run/run_config.h"
#include "sim/study/sweep/axis.h"
#include "sim/study/sweep/metrics.h"

namespace systole::sweep {

/// Random points instead of all of the grid.
struct Sample {
    std::uint64_t points = 0;
    std::uint64_t seed = 1;
};

/// A study as a file and the command line describe it.
struct StudyDefinition {
    std::string name = {};
    std::string file = "command line";               ///< leads the messages
    std::filesystem::path run_file = {};             ///< empty: the settings say all
    std::vector<run::Setting> settings = {};         ///< of every point
    std::vector<Axis> axes = {};                     ///< the last varies fastest
    std::vector<std::vector<std::string>> zip = {};  ///< keys of axes that go through their values together
    std::optional<Sample> sample = {};
    std::vector<NamedFormula> derive = {};  ///< keys, and their formulas of other keys
    std::vector<std::string> where = {};    ///< points for which one of these is 0 are left out
    std::vector<Metric> metrics = {};       ///< formulas may begin with "max:" or "min:"
};

inline constexpr std::string_view study_schema = "sim.study/1";

/// Describes each key of a study file.
std::vector<machine::KeyDescription> study_keys();

/// Reads a study file. Its run is found as `sim run` finds it. Throws ConfigError.
StudyDefinition read_study(const std::filesystem::path& file);
/// The same from text.
StudyDefinition parse_study(std::string_view text, const std::filesystem::path& file);

/// Throws ConfigError, beginning with `place`, unless the name can be that of files in a folder.
void check_name(const std::string& name, const std::string& place);

/// "KEY,KEY": keys that go together. Throws ConfigError with `place`.
std::vector<std::string> parse_zip(std::string_view text, const std::string& place);

/// "NAME=FORMULA" of the command line; `option` leads the message. Throws ConfigError.
NamedFormula parse_formula(std::string_view text, std::string_view option);

}  // namespace systole::sweep
