#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace systole::hw {

/// A first-in, first-out queue in a ring of memory, which grows to the greatest length and is reused, so
/// pushing does not allocate in the steady state. `Element` must be default-constructible.
template <class Element>
class RingQueue {
public:
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }

    /// Must not be empty.
    Element& front() { return places_[first_]; }
    const Element& front() const { return places_[first_]; }
    /// The element at a place, counted from the front; `place` is below size().
    const Element& operator[](std::size_t place) const { return places_[wrapped(first_ + place)]; }
    const Element& back() const { return places_[wrapped(first_ + size_ - 1)]; }

    void push_back(Element&& element) {
        if (size_ == places_.size()) grow();
        places_[wrapped(first_ + size_)] = std::move(element);
        ++size_;
    }
    void push_back(const Element& element) { push_back(Element(element)); }
    /// Must not be empty.
    void pop_front() {
        // Releases what the element holds now, not when its place is reused.
        if constexpr (!std::is_trivially_destructible_v<Element>) places_[first_] = Element();
        drop_front();
    }
    /// The first element, which leaves the queue. Must not be empty. What a moved element still holds stays
    /// in its place.
    Element take_front() {
        Element element = std::move(front());
        drop_front();
        return element;
    }

private:
    void drop_front() {
        first_ = wrapped(first_ + 1);
        --size_;
    }

    /// The number of places is a power of two.
    std::size_t wrapped(std::size_t place) const { return place & (places_.size() - 1); }

    void grow() {
        constexpr std::size_t fewest = 8;
        std::vector<Element> more(places_.empty() ? fewest : 2 * places_.size());
        for (std::size_t i = 0; i < size_; ++i) more[i] = std::move(places_[wrapped(first_ + i)]);
        places_.swap(more);
        first_ = 0;
    }

    std::vector<Element> places_;
    std::size_t first_ = 0;
    std::size_t size_ = 0;
};

}  // namespace systole::hw
