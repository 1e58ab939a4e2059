#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <type_traits>

namespace systole::functional {

/// An array that begins all zero and takes real memory only where it is touched.
template <class Element>
class ZeroedArray {
    static_assert(std::is_trivial_v<Element>);

public:
    /// Throws std::bad_alloc if so much cannot be had.
    explicit ZeroedArray(std::size_t size)
        : elements_(static_cast<Element*>(std::calloc(size, sizeof(Element)))), size_(size) {
        if (elements_ == nullptr && size != 0) throw std::bad_alloc();
    }

    std::span<Element> all() { return {elements_.get(), size_}; }
    std::span<const Element> all() const { return {elements_.get(), size_}; }

private:
    struct Free {
        void operator()(Element* elements) const { std::free(elements); }
    };
    std::unique_ptr<Element[], Free> elements_;
    std::size_t size_;
};

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
    ZeroedArray<Element> elements_;
};

}  // namespace systole::functional
