#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/json_text.h"
#include "hw/machine/config_error.h"
#include "sim/run/run_config.h"

namespace systole::run {

namespace {

constexpr std::size_t longest_key = 256;

bool has_empty_part(std::string_view key) {
    return key.empty() || key.front() == '.' || key.back() == '.' || key.find("..") != std::string_view::npos;
}

}  // namespace

bool is_setting_key(std::string_view key) {
    return !has_empty_part(key) && key.size() <= longest_key;
}

Setting parse_setting(std::string_view text) {
    const std::size_t equals = text.find('=');
    const std::string_view key = text.substr(0, equals);
    if (equals == std::string_view::npos || has_empty_part(key)) {
        throw machine::ConfigError(
            fmt::format("--set {}: it must be KEY=VALUE, as in machine.clock_mhz=1050", text));
    }
    if (key.size() > longest_key) {
        throw machine::ConfigError(
            fmt::format("--set: a key has {} characters; at most {}", key.size(), longest_key));
    }
    const std::string_view value = text.substr(equals + 1);
    if (!nlohmann::json::accept(value)) return {std::string(key), std::string(value)};
    constexpr std::size_t deepest = 8;  // no key has a more deeply nested value
    try {
        return {std::string(key), parse_json<nlohmann::json>(value, deepest)};
    } catch (const JsonError& error) {
        throw machine::ConfigError(fmt::format("--set {}: the value {}", key, error.what()));
    }
}

namespace {

/// Removes the value of a dotted key, if there is one.
void remove(std::string_view key, nlohmann::json& object) {
    nlohmann::json* place = &object;
    for (std::size_t dot = key.find('.'); dot != std::string_view::npos; dot = key.find('.')) {
        const auto next = place->find(std::string(key.substr(0, dot)));
        if (next == place->end() || !next->is_object()) return;
        place = &*next;
        key.remove_prefix(dot + 1);
    }
    if (place->is_object()) place->erase(std::string(key));
}

bool has(std::string_view key, const nlohmann::json& object) {
    const nlohmann::json* place = &object;
    for (;;) {
        const std::size_t dot = key.find('.');
        const auto next = place->find(std::string(key.substr(0, dot)));
        if (next == place->end() || dot == std::string_view::npos) return next != place->end();
        place = &*next;
        key.remove_prefix(dot + 1);
    }
}

/// Removes the sources of the key, and of those in it, that the machine no longer has.
void drop_sources(const std::string& key, nlohmann::json& machine) {
    const auto sources = machine.find("sources");
    if (sources == machine.end() || !sources->is_object()) return;
    std::vector<std::string> dropped;
    for (const auto& [name, text] : sources->items()) {
        if ((name == key || name.starts_with(key + ".")) && !has(name, machine)) dropped.push_back(name);
    }
    for (const std::string& name : dropped) sources->erase(name);
}

/// The key that belongs to the other timing model of the weight memory than the one that the setting chooses.
std::optional<std::string> key_of_other_model(const Setting& setting) {
    if (setting.key != "weight_memory.model") return std::nullopt;
    if (setting.value == "dram") return "weight_memory.bandwidth_gb_per_s";
    if (setting.value == "bandwidth") return "weight_memory.dram";
    return std::nullopt;
}

}  // namespace

void apply(const Setting& setting, nlohmann::json& object, const std::string& file) {
    if (setting.value.is_null()) return remove(setting.key, object);
    nlohmann::json* place = &object;
    std::string_view rest = setting.key;
    for (std::size_t dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
        nlohmann::json& next = (*place)[std::string(rest.substr(0, dot))];
        if (next.is_null()) next = nlohmann::json::object();
        if (!next.is_object()) {
            throw machine::ConfigError(fmt::format("{}: {} cannot be set; {} is not an object", file,
                                                   setting.key, rest.substr(0, dot)));
        }
        place = &next;
        rest.remove_prefix(dot + 1);
    }
    (*place)[std::string(rest)] = setting.value;
}

void apply_to_machine(std::span<const Setting> settings, nlohmann::json& machine, const std::string& file) {
    for (const Setting& setting : settings) {
        if (const auto other = key_of_other_model(setting)) {
            remove(*other, machine);
            drop_sources(*other, machine);
        }
    }
    const std::vector<machine::KeyDescription> known = machine::machine_keys();
    for (const Setting& setting : settings) {
        if (setting.value.is_null()) machine::check_known(setting.key, known, file);
        apply(setting, machine, file);
        drop_sources(setting.key, machine);
    }
}

}  // namespace systole::run
