#include "sim/study/explain/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "hw/machine/config_error.h"
#include "sim/run/path_finder.h"
#include "sim/run/run_config.h"

namespace systole::explain {
namespace {

constexpr std::string_view machine_prefix = "machine.";
constexpr std::string_view the_batch = "batch";  // the change that is not of the machine
constexpr std::uint32_t times_more = 4;

/// Absent if the run has fewer inferences than the batch; a run on files has as many as the files.
std::vector<WhatIf> larger_batch(const Situation& situation) {
    const run::RunConfig& config = situation.config;
    const std::uint64_t batch = std::uint64_t{std::max(config.batch, 1U)} * times_more;
    const bool makes_its_own = config.input.empty() && config.limit == 0;
    if (!makes_its_own && batch > situation.inferences) return {};
    return {{fmt::format("{}x the batch", times_more), {{"batch", batch}}}};
}

WhatIf of_machine(const machine::WhatIf& described) {
    WhatIf what_if{described.change, {}};
    for (const machine::NewValue& each : described.values) {
        what_if.settings.push_back({std::string(machine_prefix) + each.key, each.value});
    }
    return what_if;
}

/// All changes against the cause, including those that would not change this machine.
std::vector<WhatIf> candidates(Cause cause, const Situation& situation) {
    const bool compiles = situation.config.program.empty();  // a program is for one array and one batch
    std::vector<WhatIf> all;
    const auto add = [&](const auto& helps) {
        for (const machine::UnitDescription& unit : situation.units) {
            for (const machine::WhatIf& each : unit.what_ifs) {
                if (helps(each) && (compiles || !each.recompiles)) all.push_back(of_machine(each));
            }
        }
    };
    for (const std::string& name : cause->what_ifs) {
        if (name == the_batch && compiles) {
            for (WhatIf& each : larger_batch(situation)) all.push_back(std::move(each));
        }
        add([&name](const machine::WhatIf& each) { return each.name == name; });
    }
    add([cause](const machine::WhatIf& each) {
        return std::ranges::find(each.causes, cause->name) != each.causes.end();
    });
    return all;
}

/// Whether the machine has these values already. A machine that cannot be built counts as different.
bool changes_nothing(const WhatIf& what_if, const Situation& situation) {
    const run::RunConfig config = changed(situation.config, what_if);
    if (config.batch != situation.config.batch) return false;
    try {
        return to_json(run::read_machine(config, run::PathFinder(config.file))) == to_json(situation.machine);
    } catch (const machine::ConfigError&) {
        return false;
    }
}

}  // namespace

std::vector<WhatIf> what_ifs(Cause cause, const Situation& situation) {
    std::vector<WhatIf> all = candidates(cause, situation);
    std::erase_if(all, [&](const WhatIf& what_if) { return changes_nothing(what_if, situation); });
    return all;
}

run::RunConfig for_cycles(const run::RunConfig& config) {
    run::RunConfig timed;
    timed.file = config.file;
    timed.machine = config.machine;
    timed.machine_object = config.machine_object;
    timed.machine_settings = config.machine_settings;
    timed.settings_place = config.settings_place;
    const auto [engine, fast] = run::read_machine(config, run::PathFinder(config.file)).fast_engine();
    timed.machine_settings.push_back({std::string(engine), std::string(fast)});
    timed.model = config.model;
    timed.input_shape = config.input_shape;
    timed.tflite_runtime = config.tflite_runtime;
    timed.signature = config.signature;
    timed.state = config.state;
    timed.new_tokens = config.new_tokens;
    timed.cached_tokens = config.cached_tokens;
    timed.cache = config.cache;
    timed.size_multiplier = config.size_multiplier;
    timed.program = config.program;
    timed.input = config.input;  // determines the number of inferences
    timed.resize = config.resize;
    timed.crop = config.crop;
    timed.layout = config.layout;
    timed.random_input = config.random_input;
    timed.mapping = config.mapping;
    timed.overlap = config.overlap;
    timed.cut_images = config.cut_images;
    timed.batch = config.batch;
    timed.limit = config.limit;
    timed.host = config.host;  // its time in the middle of the network is the run's
    timed.timing_only = true;
    return timed;
}

run::RunConfig changed(run::RunConfig config, const WhatIf& what_if) {
    for (const run::Setting& setting : what_if.settings) {
        if (setting.key == "batch") {
            config.batch = setting.value.get<std::uint32_t>();
        } else {
            config.machine_settings.push_back({setting.key.substr(machine_prefix.size()), setting.value});
        }
    }
    return config;
}

std::string to_text(const run::Setting& setting) {
    return fmt::format("{}={}", setting.key, setting.value.dump());
}

}  // namespace systole::explain
