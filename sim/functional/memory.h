#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

#include "base/zeroed_memory.h"

namespace systole::functional {

/// A memory of the chip, addressed by rows.
template <class Element>
class RowMemory {
public:
    RowMemory(std::uint64_t rows, std::uint64_t row_elements)
        : rows_(rows), row_elements_(row_elements), elements_(rows * row_elements) {}

    std::uint64_t rows() const { return rows_; }
    std::uint64_t row_elements() const { return row_elements_; }

    /// The elements of `count` rows. Throws std::logic_error if the memory ends before: instructions are
    /// held against the memories before they execute.
    std::span<Element> rows(std::uint64_t first, std::uint64_t count) {
        if (first > rows_ || count > rows_ - first) throw std::logic_error("a row outside its memory");
        return elements_.all().subspan(first * row_elements_, count * row_elements_);
    }
    /// The elements from a row on, likewise.
    std::span<Element> from_row(std::uint64_t first) { return rows(first, rows_ - std::min(first, rows_)); }

    std::span<const Element> all() const { return elements_.all(); }

private:
    std::uint64_t rows_;
    std::uint64_t row_elements_;
    ZeroedMemory<Element> elements_;
};

}  // namespace systole::functional
