#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace systole {

/// An array that is zero at first and takes physical memory only for pages that are touched: for buffers of
/// many megabytes of which a program uses a small part.
template <class Element>
class ZeroedMemory {
    static_assert(std::is_trivial_v<Element>);

public:
    /// Throws std::bad_alloc.
    explicit ZeroedMemory(std::size_t size)
        : elements_(static_cast<Element*>(std::calloc(size, sizeof(Element)))), size_(size) {
        if (elements_ == nullptr && size != 0) throw std::bad_alloc();
    }

    std::span<Element> all() { return {elements_.get(), size_}; }
    std::span<const Element> all() const { return {elements_.get(), size_}; }

    Element* data() { return elements_.get(); }
    const Element* data() const { return elements_.get(); }

private:
    struct Free {
        void operator()(Element* elements) const { std::free(elements); }
    };
    std::unique_ptr<Element[], Free> elements_;
    std::size_t size_;
};

}  // namespace systole
