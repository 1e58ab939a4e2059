#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

/// The lists of a validation, and the texts that are written once for each element of one.
namespace systole::validate {

struct Element {
    std::string name;                         ///< part of dotted names: "MLP0"
    std::map<std::string, std::string> more;  ///< other texts of it, by key
};

/// Elements by the name of their list: "workloads".
using Lists = std::map<std::string, std::vector<Element>, std::less<>>;

/// Whether formulas can have the name: letters, digits and _.
bool is_name(std::string_view text);

/// From {"workloads": ["MLP0", ...], "scales": [{"name": "half", "text": "0.5"}, ...]}; `file` leads the
/// messages. Throws ConfigError for a list without elements, and for a name that formulas cannot have.
Lists read_lists(const nlohmann::json& object, const std::string& file);

/// The JSON with all that stands for several things written once for each. A list's name in braces in a key
/// of an object, "speed.{scales}", multiplies the key and its value; "each": "scales" in an element of an
/// array, the element. In the texts of the parts, "{scales}" is the element's name and "{scales.text}" its
/// other text of that key. Other braces stay. Throws ConfigError for a list or a key that is not there.
nlohmann::json written_out(const nlohmann::json& json, const Lists& lists, const std::string& file);

}  // namespace systole::validate
