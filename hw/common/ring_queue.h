#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace systole::hw {

/// First in, first out, in memory that grows to the longest the queue has been and is used again and again:
/// an element costs no allocation. `Element` can be made without arguments.
template <class Element>
class RingQueue {
public:
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }

    /// There must be one.
    Element& front() { return places_[first_]; }
    const Element& front() const { return places_[first_]; }
    const Element& back() const { return places_[(first_ + size_ - 1) % places_.size()]; }

    void push_back(Element element) {
        if (size_ == places_.size()) grow();
        places_[(first_ + size_) % places_.size()] = std::move(element);
        ++size_;
    }
    /// There must be one.
    void pop_front() {
        // What it holds is let go now.
        if constexpr (!std::is_trivially_destructible_v<Element>) places_[first_] = Element();
        first_ = (first_ + 1) % places_.size();
        --size_;
    }

private:
    void grow() {
        constexpr std::size_t fewest = 8;
        std::vector<Element> more(places_.empty() ? fewest : 2 * places_.size());
        for (std::size_t i = 0; i < size_; ++i) more[i] = std::move(places_[(first_ + i) % places_.size()]);
        places_.swap(more);
        first_ = 0;
    }

    std::vector<Element> places_;
    std::size_t first_ = 0;
    std::size_t size_ = 0;
};

}  // namespace systole::hw
