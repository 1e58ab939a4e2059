#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace systole::frontend {

/// Throws ModelError, beginning with `what`, where the text is not JSON, nests too deep or names a key of
/// an object twice.
nlohmann::json parse_json(std::string_view text, std::string_view what);

/// A value in an error message: short, in one line.
std::string describe(const nlohmann::json& value);

/// An integer within the limits of std::uint32_t, or nothing.
std::optional<std::uint32_t> as_unsigned(const nlohmann::json& value);

/// All of a file. Throws ModelError, in one line that begins with the path.
std::string read_text(const std::filesystem::path& path);

}  // namespace systole::frontend
