#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sim/run/run_config.h"
#include "tests/support/source_dir.h"

/// A value other than its own for every key of a run, for tests of what keeps and what drops them.
namespace systole::tests {

/// What a simulation of a run's cycles alone needs a key for.
enum class KeyUse : std::uint8_t {
    Cycles,  ///< the cycles of the run depend on it
    Input,   ///< the number of inferences, or whether the input fits the network, depends on it
    Values   ///< answers, comparisons, or what is reported and written
};

struct RunKey {
    std::string key;
    KeyUse use = KeyUse::Values;
    /// The key with its value, and those that it does not go without.
    std::vector<run::Setting> settings;
};

/// A run that sets as little as possible.
inline std::vector<run::Setting> plain_run() {
    const std::string project = source_dir();
    return {{"machine", project + "/configs/machines/tpu_v1.json"},
            {"model", project + "/models/isca17/mlp0.json"}};
}

/// The file of a baseline that is not the run's own host.
inline std::string a_baseline() {
    return std::string(source_dir()) + "/configs/baselines/k80.json";
}

/// A row for each key but "schema", which has one value.
inline std::vector<RunKey> run_key_values() {
    const std::string project = source_dir();
    const nlohmann::json file = project + "/README.md";  // of any contents
    const run::Setting input{"input", file};
    using enum KeyUse;
    return {
        {"machine", Cycles, {{"machine", project + "/configs/machines/tpu_v1_dram.json"}}},
        {"model", Cycles, {{"model", project + "/models/isca17/mlp1.json"}}},
        {"program", Cycles, {{"program", file}}},
        {"input_shape", Cycles, {{"input_shape", {"2,3"}}}},
        {"tflite_runtime", Cycles, {{"tflite_runtime", "2.19"}}},
        {"signature", Cycles, {{"signature", "serve"}}},
        {"state", Cycles, {{"state", project + "/models/mnist_cnn/training/state.json"}}},
        {"new_tokens", Cycles, {{"new_tokens", 3}}},
        {"cached_tokens", Cycles, {{"new_tokens", 3}, {"cached_tokens", 5}}},
        {"cache", Cycles, {{"cache", {"past=present"}}}},
        {"size_multiplier", Cycles, {{"timing_only", true}, {"size_multiplier", 2}}},
        {"input", Input, {input}},
        {"random_input", Input, {{"random_input", 7}}},
        {"labels", Values, {input, {"labels", file}}},
        {"label_names", Values, {{"label_names", file}}},
        {"resize", Input, {input, {"resize", "256"}}},
        {"crop", Input, {input, {"crop", "224x192"}}},
        {"layout", Input, {{"layout", "chw"}}},
        {"preset", Values, {{"preset", "raw"}}},
        {"input_scale", Values, {{"input_scale", 0.5}}},
        {"mean", Values, {{"mean", {1.0, 2.0}}}},
        {"std", Values, {{"std", {3.0}}}},
        {"channels", Values, {{"channels", "bgr"}}},
        {"calibration", Values, {{"calibration", {file}}}},
        {"calibration_method", Values, {{"calibration_method", "percentile"}}},
        {"mapping", Cycles, {{"mapping", "plain"}}},
        {"overlap", Cycles, {{"overlap", false}}},
        {"cut_images", Cycles, {{"cut_images", false}}},
        {"batch", Cycles, {{"batch", 3}}},
        {"limit", Cycles, {{"limit", 9}}},
        {"host", Cycles, {{"host", a_baseline()}}},
        {"baselines", Values, {{"baselines", {a_baseline()}}}},
        {"arrivals", Values, {{"arrivals", 12.5}}},
        {"latency_limit_ms", Values, {{"latency_limit_ms", 7.0}}},
        {"arrival_seed", Values, {{"arrival_seed", 5}}},
        {"feeding",
         Values,
         {{"feeding",
           {{"example_us", 2.5}, {"step_ms", 1.5}, {"examples", 7}, {"loop_steps", 3}, {"gap_ms", 4.0}}}}},
        {"host_time", Values, {{"host_time", false}}},
        {"out", Values, {{"out", "folder"}}},
        {"outputs", Values, {{"outputs", "folder"}}},
        {"float_outputs", Values, {{"float_outputs", "folder"}}},
        {"timing_only", Values, {{"timing_only", true}}},
        {"float_reference", Values, {{"float_reference", true}}},
        {"accuracy_by_layer", Values, {{"accuracy_by_layer", true}}},
        {"instructions", Values, {{"instructions", true}}},
        {"power_windows", Values, {{"power_windows", 4}}},
        {"registers", Values, {{"registers", "all"}}},
        {"print", Values, {{"print", {"output"}}}},
        {"explain", Values, {{"explain", false}}},
        {"trace", Values, {{"out", "folder"}, {"trace", {{"kinds", {"csv"}}}}}}};
}

/// The plain run with these settings.
inline run::RunConfig run_with(const std::vector<run::Setting>& settings) {
    std::vector<run::Setting> all = plain_run();
    all.insert(all.end(), settings.begin(), settings.end());
    return run::read_run({}, all);
}

}  // namespace systole::tests
