#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

/// JSON values in files of networks.
namespace systole::frontend {

/// Parses JSON. Throws ModelError, beginning with `what`, if the text is not JSON, is nested too deep or has
/// the same key twice in an object.
nlohmann::json parse_json(std::string_view text, std::string_view what);

/// A value for an error message: short, on one line.
std::string describe(const nlohmann::json& value);

/// The value as std::uint32_t; nullopt unless it is an integer of this range.
std::optional<std::uint32_t> as_unsigned(const nlohmann::json& value);

}  // namespace systole::frontend
