#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/graph/tensor_shape.h"

namespace systole::graph {

/// "28x28x1", height first.
std::string to_text(const Shape& shape);

/// "kernel 3x3, stride 1x1, padding 1,1,1,1" (top, left, bottom, right).
std::string to_text(const Window& window);

/// A name from a file, in quotes and in one line: control characters are escaped, length is limited.
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

/// The product, or nothing where it does not fit.
std::optional<std::uint64_t> checked_product(std::initializer_list<std::uint64_t> factors);

/// Shape::elements(), or nothing where it does not fit.
std::optional<std::uint64_t> checked_elements(const Shape& shape);

}  // namespace systole::graph
