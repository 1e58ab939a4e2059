#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

/// Parts of reports as JSON. An absent value is null.
namespace systole::report {

template <typename Value>
nlohmann::ordered_json or_null(const std::optional<Value>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

}  // namespace systole::report
