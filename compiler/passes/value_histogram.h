#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "compiler/ir/value.h"

namespace systole::passes {

/// How often numbers of each size occur. A bin has the numbers with one sign, one exponent and the same first
/// six bits of the mantissa: its width is at most 1/64 of its numbers, whatever other numbers there are. So
/// histograms add up in any order, and one huge number does not hide the others.
class ValueHistogram {
public:
    void add(std::span<const float> values);
    void add(const ValueHistogram& other);

    /// The range without the largest numbers of each sign, for each sign at most this share of all numbers.
    /// A sign that has fewer numbers, as in a tensor of mostly zeros, keeps its smallest, but at most as much
    /// as the other sign has: a few numbers cannot take the steps of all others. `all` is the range of all
    /// numbers.
    ir::Range without_outliers(const ir::Range& all, double share) const;
    /// The range in which numbers stored in so many equal steps have the least mean squared error: those
    /// inside are rounded, the others become an end of the range. `all` is the range of all numbers. With a
    /// function, its results have the least error, where they are finite.
    ir::Range with_least_error(const ir::Range& all, std::uint32_t steps,
                               const std::function<float(float)>& function = {}) const;

private:
    /// The bins of one sign, by magnitude.
    struct Counts {
        std::vector<std::uint64_t> numbers;  ///< from bin `first` on
        std::size_t first = 0;

        void add(std::size_t bin, std::uint64_t count);
    };

    std::uint64_t total_ = 0;
    std::array<Counts, 2> counts_;  ///< of positive and of negative numbers
};

}  // namespace systole::passes
