#include "compiler/passes/value_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
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

/// The numbers of a bin as a function maps them.
struct Mapped {
    double count = 0.0;
    double begin = 0.0;  ///< of the smallest magnitude
    double middle = 0.0;
    double slope = 1.0;  ///< between both ends of the bin
};

/// An end of the range, as a magnitude, and the numbers beyond.
struct End {
    double magnitude = 0.0;
    double squared_error = 0.0;  ///< of the function's results, which become that of the end
};

/// Bins of one sign, of magnitudes up to the largest, from the first.
std::vector<Mapped> mapped(std::span<const std::uint64_t> numbers, std::size_t first, double largest,
                           const std::function<double(double)>& function) {
    std::vector<Mapped> bins;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const double begin = begin_of(first + i);
        const double end = begin_of(first + i + 1);
        const double from = function(begin);
        bins.push_back({.count = static_cast<double>(numbers[i]),
                        .begin = from,
                        .middle = function(std::min((begin + end) / 2, largest)),
                        .slope = (function(end) - from) / (end - begin)});
    }
    return bins;
}

/// Possible ends of one sign: the largest magnitude, and those of bins down to 1/64 of it.
std::vector<End> possible_ends(std::span<const Mapped> bins, std::size_t first, double largest) {
    std::vector<End> ends{{.magnitude = largest}};
    constexpr std::size_t most = 6 * bins_of_exponent;
    double count = 0.0;
    double sum = 0.0;
    double squares = 0.0;
    for (std::size_t i = bins.size(); i-- > 0 && ends.size() <= most;) {
        const Mapped& bin = bins[i];
        count += bin.count;
        sum += bin.count * bin.middle;
        squares += bin.count * bin.middle * bin.middle;
        const double error = squares - 2.0 * bin.begin * sum + count * bin.begin * bin.begin;
        ends.push_back({.magnitude = begin_of(first + i), .squared_error = std::max(error, 0.0)});
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
    // To go through all bins takes longer than to find those of a few numbers.
    constexpr std::size_t few = bins_of_sign / 8;
    if (values.size() < few) {
        total_ += values.size();
        for (const float value : values) {
            const std::size_t bin = std::bit_cast<std::uint32_t>(value) >> dropped_bits;
            if (bin % bins_of_sign >= bins_of_exponent)
                counts_.at(bin / bins_of_sign).add(bin % bins_of_sign, 1);
        }
        return;
    }
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
    const auto end_of_bin = [](const Counts& counts, std::size_t bin, float largest) {
        return std::min(largest, static_cast<float>(begin_of(counts.first + bin + 1)));
    };
    const auto end_of = [&](const Counts& counts, float largest) {
        double beyond = 0.0;
        for (std::size_t i = counts.numbers.size(); i-- > 0;) {
            beyond += static_cast<double>(counts.numbers[i]);
            if (beyond > most) return end_of_bin(counts, i, largest);
        }
        return 0.0F;
    };
    // Of a sign that has no more numbers than may be cut.
    const auto kept_end = [&](const Counts& counts, float largest, float other) {
        const float smallest = counts.numbers.empty() ? 0.0F : end_of_bin(counts, 0, largest);
        return other > 0.0F ? std::min(smallest, other) : smallest;
    };
    const float lower = end_of(counts_[negative], -all.minimum);
    const float upper = end_of(counts_[positive], all.maximum);
    return {-(lower > 0.0F ? lower : kept_end(counts_[negative], -all.minimum, upper)),
            upper > 0.0F ? upper : kept_end(counts_[positive], all.maximum, lower)};
}

ir::Range ValueHistogram::with_least_error(const ir::Range& all, std::uint32_t steps,
                                           const std::function<float(float)>& function) const {
    const std::array<double, 2> largest{all.maximum, -double{all.minimum}};
    std::array<std::vector<Mapped>, 2> bins;
    double rounded = 0.0;  // numbers, by the square of the function's slope; 0 is stored exactly
    for (const std::size_t sign : {positive, negative}) {
        const double direction = sign == positive ? 1.0 : -1.0;
        bins[sign] = mapped(counts_[sign].numbers, counts_[sign].first, largest[sign], [&](double magnitude) {
            if (!function) return direction * magnitude;
            return double{function(static_cast<float>(direction * magnitude))};
        });
        for (const Mapped& bin : bins[sign]) rounded += bin.count * bin.slope * bin.slope;
    }
    const auto is_finite = [](const Mapped& bin) {
        return std::isfinite(bin.middle) && std::isfinite(bin.begin);
    };
    const bool is_useful = rounded > 0.0 && std::isfinite(rounded) &&
                           std::ranges::all_of(bins[positive], is_finite) &&
                           std::ranges::all_of(bins[negative], is_finite);
    if (function && !is_useful) return with_least_error(all, steps);
    constexpr double variance_of_rounding = 1.0 / 12.0;  // of numbers anywhere within a step of width 1
    const double of_width = variance_of_rounding * rounded / (double{1} * steps * steps);
    double least = std::numeric_limits<double>::infinity();
    ir::Range best = all;
    const std::vector<End> lower_ends =
        possible_ends(bins[negative], counts_[negative].first, largest[negative]);
    for (const End& upper : possible_ends(bins[positive], counts_[positive].first, largest[positive])) {
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
