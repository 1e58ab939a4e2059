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
#include "sim/run/record/spec.h"

/// Training: a program with state, a step again and again.
namespace systole::run {

inline constexpr std::string_view training_schema = "sim.training/1";

/// How an input begins that is state, where no file has its values.
enum class InitialRule : std::uint8_t {
    Zeros,
    Ones,
    Value,          ///< one number everywhere
    GlorotUniform,  ///< between -+ sqrt(6 / (inputs + outputs)); Glorot and Bengio, AISTATS 2010
    HeNormal,       ///< normal with variance 2 / inputs, cut at two deviations; He et al., ICCV 2015
    RandomBits      ///< of a generator in the program
};

/// The values at first of the inputs that a pattern fits.
struct InitialValues {
    std::string inputs;  ///< a name; '*' stands for any text
    InitialRule rule = InitialRule::Zeros;
    std::optional<double> value;
};

/// What a training program is fed, and what of its results comes back: a file beside the program.
struct TrainingFile {
    std::string path;
    std::vector<StatePairs> state;
    std::string images;                            ///< the input that takes the images or other examples
    std::string labels;                            ///< that takes their labels; empty: none
    std::string step;                              ///< that takes the number of the step, from 0; empty: none
    std::map<std::string, nlohmann::json> values;  ///< inputs that are the same number in each step
    std::map<std::string, std::string> columns;    ///< outputs to show, by the name of their column
    std::vector<InitialValues> initial;            ///< the first that fits
};

/// Describes each key of the file.
std::vector<machine::KeyDescription> training_keys();

/// Throws ConfigError.
TrainingFile read_training(const std::filesystem::path& path);
/// The same from the object of such a file; messages begin with `path`.
TrainingFile read_training(const nlohmann::json& object, const std::string& path);

}  // namespace systole::run
