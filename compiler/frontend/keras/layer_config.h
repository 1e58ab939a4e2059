#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/frontend/keras/model_config.h"

namespace systole::frontend {

/// Typed access to the configuration of one layer. Every method throws ModelError with layer, key, value
/// and rule; a key that is null counts as absent.
class LayerConfig {
public:
    /// The layer must live as long as this.
    explicit LayerConfig(const KerasLayer& layer) : layer_(layer) {}

    /// The value, or null where it is absent.
    const nlohmann::json* find(const char* key) const;
    /// The value of the first of these keys that is there: versions of Keras differ in their names.
    const nlohmann::json& any_of(std::initializer_list<const char*> keys) const;

    std::uint32_t positive(const char* key, std::optional<std::uint32_t> absent = std::nullopt) const;
    /// [a, b], or a for both; each at least 1.
    std::array<std::uint32_t, 2> positive_pair(
        const char* key, std::optional<std::array<std::uint32_t, 2>> absent = std::nullopt) const;
    bool boolean(const char* key, bool absent) const;
    float number(const char* key, float absent) const;
    std::string text(const char* key, std::string_view absent) const;

    /// Only this value is supported: a number (or a list of nothing else) or a text.
    void require_number(const char* key, int only) const;
    void require_text(const char* key, std::string_view only) const;
    /// The axis must be the last one, of an input of one dimension (`flat`) or of three.
    void require_last_axis(const char* key, bool flat) const;

    [[noreturn]] void fail(const char* key, std::string_view rule) const;
    [[noreturn]] void fail(std::string_view rule) const;

private:
    const KerasLayer& layer_;
};

/// An integer within the limits of std::uint32_t, or nothing.
std::optional<std::uint32_t> as_unsigned(const nlohmann::json& value);

}  // namespace systole::frontend
