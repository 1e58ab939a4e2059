#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace systole::hw {

/// A delay line of rows that can be read at any tap: holds the rows of the last `depth` points in time.
template <class Element>
class Ring {
public:
    Ring(std::size_t depth, std::size_t width) : depth_(depth), width_(width), elements_(depth * width) {}

    std::size_t depth() const { return depth_; }
    /// The slot for the row of a point in time; the row of `depth` later overwrites it.
    std::size_t slot(std::uint64_t time) const { return time % depth_; }
    /// The slot of the row `earlier` points in time before `slot`; `earlier` is at most `depth` - 1.
    std::size_t before(std::size_t slot, std::size_t earlier) const {
        return slot >= earlier ? slot - earlier : slot + depth_ - earlier;
    }
    Element* row(std::size_t slot) { return elements_.data() + slot * width_; }
    const Element* row(std::size_t slot) const { return elements_.data() + slot * width_; }
    void clear(std::size_t slot) { std::fill_n(row(slot), width_, Element{}); }

private:
    std::size_t depth_;
    std::size_t width_;
    std::vector<Element> elements_;
};

}  // namespace systole::hw
