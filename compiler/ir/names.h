#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace systole::ir {

/// A name from a file in a message: in quotes and in one line, control characters escaped, length limited.
std::string quoted(std::string_view name);

/// The elements of a range, "a, b, c"; `prefix` stands before each. (g++ 12 warns about an overflow within
/// fmt::join, wrongly.)
template <typename Range>
std::string joined(const Range& range, std::string_view prefix = "") {
    std::string text;
    for (const auto& element : range)
        text += fmt::format("{}{}{}", text.empty() ? "" : ", ", prefix, element);
    return text;
}

}  // namespace systole::ir
