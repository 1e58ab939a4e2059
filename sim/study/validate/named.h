#pragma once

#include <array>
#include <cstddef>

namespace systole::validate {

/// One number for each of a list of names, which are the keys in a file.
template <const auto& Names, class Number = double>
struct Named {
    std::array<Number, Names.size()> values{};

    Number operator[](std::size_t index) const { return values[index]; }
};

}  // namespace systole::validate
