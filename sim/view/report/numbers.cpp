#include "sim/view/report/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/significant_digits.h"

namespace systole::report {

namespace {

/// "12.3 ms": a number and its unit, which may be empty.
std::string with_unit(double value, int decimals, std::string_view unit) {
    return fmt::format("{:.{}f}{}{}", value, decimals, unit.empty() ? "" : " ", unit);
}

/// Whether a part of the unit has a name of its own: 0.5 s are 500 ms, but half an inference is 0.5.
bool has_parts(std::string_view unit) {
    return unit == "s" || unit == "J" || unit == "W";
}

/// Decimals that show three significant digits of a number between 0 and 1.
int decimals_below_one(double size) {
    constexpr int most = 12;
    return std::min(most, 2 - static_cast<int>(std::floor(std::log10(size))));
}

constexpr int rough_digits = 2;

struct Prefix {
    double factor = 1.0;
    std::string_view letter;
};

/// The SI prefix that leaves one to three digits before the point.
Prefix prefix_of(double size) {
    constexpr std::array<Prefix, 9> prefixes{{{1e15, "P"},
                                              {1e12, "T"},
                                              {1e9, "G"},
                                              {1e6, "M"},
                                              {1e3, "k"},
                                              {1.0, ""},
                                              {1e-3, "m"},
                                              {1e-6, "u"},
                                              {1e-9, "n"}}};
    if (size == 0.0) return {};
    // A number that rounding would print as 1000 takes the next larger prefix.
    constexpr double rounding = 0.9995;
    const auto found = std::find_if(prefixes.begin(), prefixes.end(),
                                    [&](const Prefix& prefix) { return size >= prefix.factor * rounding; });
    return found == prefixes.end() ? prefixes.back() : *found;
}

}  // namespace

std::string grouped(std::uint64_t value) {
    std::string digits = fmt::format("{}", value);
    for (std::size_t place = digits.size(); place > 3;) {
        place -= 3;
        digits.insert(place, 1, ',');
    }
    return digits;
}

std::optional<double> share_of(std::uint64_t part, std::uint64_t whole) {
    if (whole == 0) return std::nullopt;
    return static_cast<double>(part) / static_cast<double>(whole);
}

std::string percent(std::optional<double> share) {
    if (!share) return "-";
    constexpr double least_shown = 0.0005;
    if (*share > 0.0 && *share < least_shown) return "<0.1 %";
    return fmt::format("{:.1f} %", 100.0 * *share);
}

std::string times(std::optional<double> factor) {
    if (!factor) return "-";
    return fmt::format("{:.{}f}x", *factor, *factor >= 99.95 ? 0 : *factor >= 9.995 ? 1 : 2);
}

std::string rough(std::optional<double> value, std::string_view unit) {
    if (!value) return "-";
    const Significant shown = significant(*value, rough_digits);
    const std::string number = shown.decimals > 0 ? fmt::format("{:.{}f}", shown.value, shown.decimals)
                                                  : grouped(static_cast<std::uint64_t>(shown.value));
    return unit.empty() ? number : fmt::format("{} {}", number, unit);
}

std::string rough_times(std::optional<double> factor) {
    return factor ? rough(factor, "") + "x" : "-";
}

std::string rough_si(std::optional<double> value, std::string_view unit) {
    if (!value) return "-";
    const double nearest = significant(*value, rough_digits).value;
    const double size = std::abs(nearest);
    if (size > 0.0 && size < 1.0 && !has_parts(unit)) return rough(value, unit);
    const Prefix prefix = prefix_of(size);
    const Significant scaled = significant(nearest / prefix.factor, rough_digits);
    return with_unit(scaled.value, scaled.decimals, std::string(prefix.letter) + std::string(unit));
}

std::string si(std::optional<double> value, std::string_view unit) {
    if (!value) return "-";
    const double size = std::abs(*value);
    if (size > 0.0 && size < 1.0 && !has_parts(unit)) {
        return with_unit(*value, decimals_below_one(size), unit);
    }
    const Prefix prefix = prefix_of(size);
    const double scaled = *value / prefix.factor;
    const int decimals = std::abs(scaled) >= 99.95 ? 0 : std::abs(scaled) >= 9.995 ? 1 : 2;
    return with_unit(scaled, decimals, std::string(prefix.letter) + std::string(unit));
}

std::string amount(std::optional<double> value, std::string_view unit) {
    constexpr double whole_from = 100.0;
    if (!value || *value < whole_from) return si(value, unit);
    const std::string whole = grouped(static_cast<std::uint64_t>(std::llround(*value)));
    return unit.empty() ? whole : fmt::format("{} {}", whole, unit);
}

std::string inference_rate(std::optional<double> rate) {
    return amount(rate, "inf/s");
}

std::optional<std::string> difference(std::optional<double> value, std::optional<double> reference) {
    if (!value || !reference) return std::nullopt;
    if (*value == *reference) return "same";
    if (*reference == 0.0) return std::nullopt;
    const double percentage = 100.0 * (*value / *reference - 1.0);
    if (std::abs(percentage) < 0.05) return "<0.1 %";
    return fmt::format("{:+.{}f} %", percentage, std::abs(percentage) >= 10.0 ? 0 : 1);
}

std::optional<std::string> difference_of_shares(std::optional<double> share,
                                                std::optional<double> reference) {
    if (!share || !reference) return std::nullopt;
    if (*share == *reference) return "same";
    const double points = 100.0 * (*share - *reference);
    if (std::abs(points) < 0.05) return "<0.1 points";
    return fmt::format("{:+.1f} points", points);
}

std::string bytes(std::uint64_t value) {
    constexpr std::array<std::string_view, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
    auto size = static_cast<double>(value);
    std::size_t unit = 0;
    while (size >= 1024.0 && unit + 1 < units.size()) {
        size /= 1024.0;
        ++unit;
    }
    return fmt::format("{:.{}f} {}", size, unit == 0 ? 0 : 1, units[unit]);
}

std::string bar(std::optional<double> share, std::size_t width) {
    if (!share) return "";
    const auto length =
        static_cast<std::size_t>(std::lround(std::clamp(*share, 0.0, 1.0) * static_cast<double>(width)));
    std::string filled(length, '#');
    return filled;
}

bool is_abbreviation(std::string_view title) {
    return std::ranges::none_of(title, [](char letter) { return letter >= 'a' && letter <= 'z'; });
}

}  // namespace systole::report
