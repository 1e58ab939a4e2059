#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace systole {

/// Whether memory that this computer cannot give is refused at once. Unchecked is for memories of which a
/// program touches a small part: a machine's may be larger than this computer's.
enum class Backing : std::uint8_t { Checked, Unchecked };

/// Memory that is zero at first. Throws std::bad_alloc.
///
/// Much memory comes from the system itself. `calloc` would clear, and so touch, all pages of what was freed
/// before: of a core that was simulated, for the next one.
void* allocate_zeroed(std::size_t bytes, Backing backing = Backing::Checked);
void free_zeroed(void* memory, std::size_t bytes) noexcept;

/// An array that is zero at first and takes physical memory only for pages that are touched: for buffers of
/// many megabytes of which a program uses a small part.
template <class Element>
class ZeroedMemory {
    static_assert(std::is_trivial_v<Element>);

public:
    /// Throws std::bad_alloc.
    explicit ZeroedMemory(std::size_t size, Backing backing = Backing::Checked)
        : elements_(static_cast<Element*>(allocate_zeroed(bytes_of(size), backing)), Free{bytes_of(size)}),
          size_(size) {}

    std::span<Element> all() { return {elements_.get(), size_}; }
    std::span<const Element> all() const { return {elements_.get(), size_}; }

    Element* data() { return elements_.get(); }
    const Element* data() const { return elements_.get(); }

private:
    struct Free {
        std::size_t bytes = 0;

        void operator()(Element* elements) const { free_zeroed(elements, bytes); }
    };

    static std::size_t bytes_of(std::size_t size) {
        if (size > std::numeric_limits<std::size_t>::max() / sizeof(Element)) throw std::bad_alloc();
        return size * sizeof(Element);
    }

    std::unique_ptr<Element[], Free> elements_;
    std::size_t size_;
};

}  // namespace systole
