#include <fmt/format.h>

#include <algorithm>

#include "hw/machine/config_error.h"
#include "sim/run/run_config.h"

namespace systole::run {

Setting parse_setting(std::string_view text) {
    const std::size_t equals = text.find('=');
    const std::string_view key = text.substr(0, equals);
    const bool broken =
        key.empty() || key.front() == '.' || key.back() == '.' || key.find("..") != std::string_view::npos;
    if (equals == std::string_view::npos || broken) {
        throw machine::ConfigError(
            fmt::format("--set {}: it must be KEY=VALUE, as in machine.clock_mhz=1050", text));
    }
    constexpr std::size_t longest_key = 256;
    if (key.size() > longest_key) {
        throw machine::ConfigError(
            fmt::format("--set: a key has {} characters; at most {}", key.size(), longest_key));
    }
    const std::string_view value = text.substr(equals + 1);
    // No key has a deeply nested value; a text like "[[[[" must not exhaust the parser's stack.
    constexpr auto deepest = 8;
    const bool nested = std::count(value.begin(), value.end(), '[') > deepest ||
                        std::count(value.begin(), value.end(), '{') > deepest;
    nlohmann::json parsed = nested ? nlohmann::json(nlohmann::json::value_t::discarded)
                                   : nlohmann::json::parse(value, nullptr, false);
    if (parsed.is_discarded()) parsed = std::string(value);
    return {std::string(key), std::move(parsed)};
}

void apply(const Setting& setting, nlohmann::json& object, const std::string& file) {
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

}  // namespace systole::run
