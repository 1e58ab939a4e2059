#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "sim/run/baselines/comparison.h"

/// Parts of reports as JSON. An absent value is null.
namespace systole::report {

inline constexpr double milliseconds = 1e3;  ///< of a second

/// The ends of a figure's band; null if the figure or its band is absent.
inline nlohmann::ordered_json band_json(const std::optional<double>& value,
                                        const std::optional<baselines::Band>& band) {
    if (!value || !band) return nullptr;
    return {{"least", *value * band->least}, {"most", *value * band->most}};
}

template <typename Value>
nlohmann::ordered_json or_null(const std::optional<Value>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

/// A list with an element for each of `values`, which `convert` makes.
template <typename Values, typename Convert>
nlohmann::ordered_json list_of(const Values& values, Convert convert) {
    auto list = nlohmann::ordered_json::array();
    for (const auto& value : values) list.push_back(convert(value));
    return list;
}

inline nlohmann::ordered_json to_json(const baselines::PerformancePerWatt& per_watt) {
    return {{"total", or_null(per_watt.total)}, {"incremental", or_null(per_watt.incremental)}};
}

inline nlohmann::ordered_json band_json(const baselines::PerformancePerWatt& per_watt,
                                        const std::optional<baselines::Band>& band) {
    return {{"total", band_json(per_watt.total, band)},
            {"incremental", band_json(per_watt.incremental, band)}};
}

/// Bytes as text (RFC 4648, section 4), padded with "=".
std::string to_base64(std::span<const std::uint8_t> bytes);

}  // namespace systole::report
