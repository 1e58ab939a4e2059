#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

/// Parts of reports as JSON. An absent value is null.
namespace systole::report {

template <typename Value>
nlohmann::ordered_json or_null(const std::optional<Value>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

/// Bytes as text (RFC 4648, section 4), padded with "=".
std::string to_base64(std::span<const std::uint8_t> bytes);

}  // namespace systole::report
