#include "sim/run/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"

namespace systole::run {
namespace {

using machine::ConfigError;

constexpr const char* settings_place = "settings";

[[noreturn]] void fail(std::string_view key, const nlohmann::json& value, std::string_view rule) {
    // Names from other programs may be no UTF-8.
    std::string shown = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    constexpr std::size_t most = 60;
    if (shown.size() > most) shown = shown.substr(0, most) + "...";
    throw ConfigError(fmt::format("request: {} is {}; {}", key, shown, rule));
}

void check_request_keys(const nlohmann::json& request) {
    constexpr std::array<std::string_view, 5> known{"file", "run", "machine", "settings", "arrays"};
    for (const auto& [key, value] : request.items()) {
        if (std::ranges::find(known, key) == known.end()) {
            fail(key, value, fmt::format("it is not a known key; there are {}", fmt::join(known, ", ")));
        }
    }
}

std::vector<Setting> settings_of(const nlohmann::json& request) {
    std::vector<Setting> settings;
    const auto list = request.find("settings");
    if (list == request.end()) return settings;
    if (!list->is_array()) fail("settings", *list, "a list of [KEY, VALUE] is needed");
    for (const nlohmann::json& pair : *list) {
        if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string()) {
            fail("settings", pair, "each must be [KEY, VALUE]");
        }
        const auto& key = pair[0].get_ref<const std::string&>();
        if (!is_setting_key(key)) fail("settings", pair, "the key must be as in machine.clock_mhz");
        settings.push_back({key, pair[1]});
    }
    return settings;
}

/// The machine of a request without a run.
machine::MachineConfig read_machine_alone(const nlohmann::json& machine, std::span<const Setting> settings) {
    RunConfig config;
    config.settings_place = settings_place;
    if (machine.is_string()) {
        config.machine = machine.get<std::string>();
    } else if (machine.is_object()) {
        config.machine_object = machine;
    } else {
        fail("machine", machine, "a request needs a run, or a machine: a name, a file or an object");
    }
    for (const Setting& setting : settings) {
        if (!setting.key.starts_with(machine_prefix)) {
            fail("settings", setting.key, "without a run, keys begin with \"machine.\"");
        }
        config.machine_settings.push_back({setting.key.substr(machine_prefix.size()), setting.value});
    }
    return read_machine(config, PathFinder({}));
}

}  // namespace

std::variant<RunConfig, machine::MachineConfig> read_request(std::string_view text) {
    const nlohmann::json request = machine::parse_json_object(text, "request");
    check_request_keys(request);
    const std::vector<Setting> settings = settings_of(request);
    const nlohmann::json machine = request.value("machine", nlohmann::json());
    if (!request.contains("file") && !request.contains("run")) return read_machine_alone(machine, settings);

    nlohmann::json keys = request.value("run", nlohmann::json::object());
    if (!keys.is_object()) fail("run", keys, "an object with keys of a run file is needed");
    std::filesystem::path file;
    if (const auto named = request.find("file"); named != request.end()) {
        if (!named->is_string()) fail("file", *named, "a run file, or its name in configs/runs, is needed");
        file = PathFinder({}).find(named->get<std::string>(), "runs");
    }
    if (!machine.is_null()) {
        if (!machine.is_object()) fail("machine", machine, "an object is needed; run.machine names a file");
        if (keys.contains("machine")) {
            fail("run.machine", keys["machine"], "the request has a machine of its own");
        }
        const auto name = machine.find("name");
        const bool is_named = name != machine.end() && name->is_string();
        keys["machine"] = is_named ? *name : nlohmann::json(machine::MachineConfig().name);
    }
    const std::string place = file.empty() ? "run" : file.string() + " and run";
    RunConfig config = read_run(file, keys, settings, place);
    config.settings_place = settings_place;
    config.machine_object = machine;
    if (!machine.is_null() && config.machine != keys["machine"]) {
        fail("settings", config.machine, "the request has a machine of its own");
    }
    if (!config.out.empty()) {
        fail("out", config.out, "the answer is the report, and `outputs` may name a folder for arrays");
    }
    if (const auto arrays = request.find("arrays"); arrays != request.end()) {
        if (!arrays->is_string()) fail("arrays", *arrays, "a folder is needed");
        if (!config.timing_only && config.outputs.empty()) config.outputs = arrays->get<std::string>();
    }
    return config;
}

}  // namespace systole::run
