#include "compiler/passes/value_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace systole::passes {
namespace {

constexpr std::uint32_t mantissa_bits = 23;
constexpr std::uint32_t kept_bits = 6;
constexpr std::uint32_t dropped_bits = mantissa_bits - kept_bits;
constexpr std::size_t bins_of_exponent = std::size_t{1} << kept_bits;
constexpr std::size_t bins_of_sign = bins_of_exponent << 8U;
constexpr std::size_t positive = 0;
constexpr std::size_t negative = 1;

/// The smallest magnitude of a bin.
double begin_of(std::size_t bin) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bin) << dropped_bits);
}

/// An end of the range, as a magnitude, and the error of the numbers beyond.
struct End {
    double magnitude = 0.0;
    double squared_error = 0.0;
};

/// Possible ends of one sign: the largest magnitude, and those of bins down to 1/64 of it.
std::vector<End> possible_ends(std::span<const std::uint64_t> numbers, std::size_t first, double largest) {
    std::vector<End> ends{{.magnitude = largest}};
    constexpr std::size_t most = 6 * bins_of_exponent;
    double count = 0.0;
    double sum = 0.0;
    double squares = 0.0;
    for (std::size_t i = numbers.size(); i-- > 0 && ends.size() <= most;) {
        const double begin = begin_of(first + i);
        const double middle = std::min((begin + begin_of(first + i + 1)) / 2, largest);
        const auto here = static_cast<double>(numbers[i]);
        count += here;
        sum += here * middle;
        squares += here * middle * middle;
        const double error = squares - 2.0 * begin * sum + count * begin * begin;
        ends.push_back({.magnitude = begin, .squared_error = std::max(error, 0.0)});
    }
    return ends;
}

}  // namespace

void ValueHistogram::Counts::add(std::size_t bin, std::uint64_t count) {
    if (numbers.empty()) first = bin;
    if (bin < first) {
        numbers.insert(numbers.begin(), first - bin, 0);
        first = bin;
    }
    if (bin - first >= numbers.size()) numbers.resize(bin - first + 1, 0);
    numbers[bin - first] += count;
}

void ValueHistogram::add(std::span<const float> values) {
    std::vector<std::uint32_t> counts(2 * bins_of_sign, 0);
    for (const float value : values) ++counts[std::bit_cast<std::uint32_t>(value) >> dropped_bits];
    total_ += values.size();
    for (const std::size_t sign : {positive, negative}) {
        // Numbers of the least exponent are 0, or next to it: no range ends among them.
        for (std::size_t bin = bins_of_exponent; bin < bins_of_sign; ++bin) {
            const std::uint32_t count = counts[sign * bins_of_sign + bin];
            if (count > 0) counts_[sign].add(bin, count);
        }
    }
}

void ValueHistogram::add(const ValueHistogram& other) {
    total_ += other.total_;
    for (const std::size_t sign : {positive, negative}) {
        const Counts& others = other.counts_[sign];
        for (std::size_t i = 0; i < others.numbers.size(); ++i) {
            if (others.numbers[i] > 0) counts_[sign].add(others.first + i, others.numbers[i]);
        }
    }
}

ir::Range ValueHistogram::without_outliers(const ir::Range& all, double share) const {
    const double most = share * static_cast<double>(total_);
    const auto end_of = [&](const Counts& counts, float largest) {
        double beyond = 0.0;
        for (std::size_t i = counts.numbers.size(); i-- > 0;) {
            beyond += static_cast<double>(counts.numbers[i]);
            if (beyond > most) return std::min(largest, static_cast<float>(begin_of(counts.first + i + 1)));
        }
        return 0.0F;
    };
    return {-end_of(counts_[negative], -all.minimum), end_of(counts_[positive], all.maximum)};
}

ir::Range ValueHistogram::with_least_error(const ir::Range& all, std::uint32_t steps) const {
    const auto ends_of = [](const Counts& counts, float largest) {
        return possible_ends(counts.numbers, counts.first, largest);
    };
    std::uint64_t rounded = 0;  // 0 is stored exactly
    for (const Counts& counts : counts_) {
        for (const std::uint64_t number : counts.numbers) rounded += number;
    }
    constexpr double variance_of_rounding = 1.0 / 12.0;  // of numbers anywhere within a step of width 1
    const double of_width = variance_of_rounding * static_cast<double>(rounded) / (double{1} * steps * steps);
    double least = std::numeric_limits<double>::infinity();
    ir::Range best = all;
    const std::vector<End> lower_ends = ends_of(counts_[negative], -all.minimum);
    for (const End& upper : ends_of(counts_[positive], all.maximum)) {
        for (const End& lower : lower_ends) {
            const double width = upper.magnitude + lower.magnitude;
            const double error = upper.squared_error + lower.squared_error + of_width * width * width;
            if (error >= least) continue;
            least = error;
            best = {static_cast<float>(-lower.magnitude), static_cast<float>(upper.magnitude)};
        }
    }
    return best;
}

}  // namespace systole::passes
