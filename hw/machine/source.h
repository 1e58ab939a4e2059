#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

/// What a machine's file says about the origin of a number.
namespace systole::machine {

/// How a value is known. In a file it is the first word of the source: "choice: not published".
enum class SourceKind : std::uint8_t {
    Published,  ///< the source states the value, in whatever unit
    Derived,    ///< computed from published figures, or published of a similar part
    Fitted,     ///< chosen so that results agree with published ones
    Choice,     ///< not published
};
inline constexpr std::array<std::string_view, 4> source_kind_names{"published", "derived", "fitted",
                                                                   "choice"};

struct Source {
    SourceKind kind = SourceKind::Choice;
    std::string text;  ///< without the kind
};

/// Splits the source of a key. Throws ConfigError, led by `file`, for a text without a kind or without
/// anything behind it.
Source read_source(std::string_view key, std::string_view text, const std::string& file);

}  // namespace systole::machine
