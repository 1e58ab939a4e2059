#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "hw/machine/config_description.h"

namespace systole::sweep {

/// A key that a study varies, and its values.
struct Axis {
    /// All numbers between two, for random samples.
    struct Interval {
        double from = 0.0;
        double to = 0.0;
        bool logarithmic = false;  ///< equal ratios are equally likely, not equal differences
    };

    std::string key;  ///< as --set takes it: "batch", "machine.clock_mhz"
    std::vector<nlohmann::json> values = {};
    std::optional<Interval> interval = {};  ///< instead of values
    bool whole = false;                     ///< the key takes whole numbers only

    /// One of the values, or a number of the interval. The same generator gives the same on every computer.
    nlohmann::json draw(std::mt19937_64& generator) const;
};

/// Most values of an axis, and most points of a study.
inline constexpr std::size_t most_points = 1'000'000;

/// A number as JSON, whole where it is.
nlohmann::json number_json(double value);

/// The key's description, absent for a key inside a text or value by name. Throws ConfigError, beginning with
/// `file`, unless a run or a machine (after "machine.") has the key.
std::optional<machine::KeyDescription> described_key(const std::string& key, const std::string& file);

/// The axis of a study file: `given` is a list, one value, or an object: from, to, and step (linear), factor
/// (powers), or points with scale (linear or log); without these, every number in between. Throws ConfigError
/// with `file` and key.
Axis axis_of(const std::string& key, const nlohmann::json& given, const std::string& file);

/// The axis of a text on the command line, KEY=VALUES: "64,128,256" (values), "1:512:*2" (powers),
/// "400:1390:+10" (linear), "400:1390" (every number in between), or JSON as in a file. Throws ConfigError.
Axis axis_of(std::string_view text);

}  // namespace systole::sweep
