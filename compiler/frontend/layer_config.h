#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace systole::frontend {

/// "layer "conv1"": the place of a layer in messages.
std::string layer_place(std::string_view name);

/// The rule for a word that is none of the known ones, for messages: the most similar one, else all.
std::string one_of(std::string_view word, const std::vector<std::string>& known);

/// Typed access to the configuration of one layer, or to another object of a network file. Every method
/// throws ModelError with place, key, value and rule; a key that is null counts as absent.
class LayerConfig {
public:
    /// `config` must outlive this object. Messages begin with `place`, which may be empty.
    LayerConfig(const nlohmann::json& config, std::string place)
        : config_(config), place_(std::move(place)) {}

    /// The value, or null if it is absent.
    const nlohmann::json* find(const char* key) const;
    /// The value of the first of these keys that is present; versions of Keras use different names.
    const nlohmann::json& any_of(std::initializer_list<const char*> keys) const;

    std::uint32_t positive(const char* key, std::optional<std::uint32_t> absent = std::nullopt) const;
    /// [a, b], or a for both; each at least 1.
    std::array<std::uint32_t, 2> positive_pair(
        const char* key, std::optional<std::array<std::uint32_t, 2>> absent = std::nullopt) const;
    bool boolean(const char* key, bool absent) const;
    float number(const char* key, float absent) const;
    std::string text(const char* key, std::string_view absent) const;

    /// Throws unless the key has the only supported value: a number (or a list of this number) or a text.
    void require_number(const char* key, int only) const;
    void require_text(const char* key, std::string_view only) const;
    /// Throws unless the axis is the last one of an input with one dimension (`flat`) or three.
    void require_last_axis(const char* key, bool flat) const;

    /// For the project's own formats: throws if a key was never asked for.
    void reject_unknown_keys() const;

    [[noreturn]] void fail(const char* key, std::string_view rule) const;
    [[noreturn]] void fail(std::string_view rule) const;

private:
    const nlohmann::json& config_;
    std::string place_;
    mutable std::vector<std::string> asked_;  ///< the keys that were looked up
};

}  // namespace systole::frontend
