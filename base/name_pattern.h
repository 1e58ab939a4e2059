#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Patterns that stand for several names: `*` is any text, also none.
namespace systole {

bool fits_pattern(std::string_view name, std::string_view pattern);

/// The text that the only `*` of a pattern stands for in a name; nullopt if the name does not fit, or the
/// pattern has none or several.
std::optional<std::string_view> text_of_star(std::string_view name, std::string_view pattern);

/// The name in which the only `*` of a pattern stands for a text.
std::string with_star(std::string_view pattern, std::string_view text);

}  // namespace systole
