#pragma once

#include <span>
#include <string>
#include <string_view>

namespace systole {

/// The word of `known` with the fewest edits from `word`; empty where none is near.
std::string_view nearest(std::string_view word, std::span<const std::string> known);

}  // namespace systole
