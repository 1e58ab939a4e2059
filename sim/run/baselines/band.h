#pragma once

#include <optional>

namespace systole::baselines {

/// The least and the most that a figure may be, as factors of the figure.
struct Band {
    double least = 1.0;
    double most = 1.0;
};

/// The band of a quotient: from the least over the most to the most over the least. A figure without a band
/// counts as exact; absent if both are.
inline std::optional<Band> quotient(const std::optional<Band>& over, const std::optional<Band>& under) {
    if (!over && !under) return std::nullopt;
    const Band numerator = over.value_or(Band());
    const Band denominator = under.value_or(Band());
    return Band{.least = numerator.least / denominator.most, .most = numerator.most / denominator.least};
}

}  // namespace systole::baselines
