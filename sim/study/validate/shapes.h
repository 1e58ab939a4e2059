#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/study/validate/null_models/roofline.h"

namespace systole::validate {

/// Networks as plain numbers, by name, for null models: models/isca17/shapes.json, schema sim.shapes/1, which
/// the script writes that also writes the graph files.
using Shapes = std::map<std::string, null_models::Network>;

/// From JSON; `file` leads the messages. Throws ConfigError.
Shapes read_shapes(const nlohmann::json& object, const std::string& file);
Shapes read_shapes(const std::filesystem::path& path);

}  // namespace systole::validate
