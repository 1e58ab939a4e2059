#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/run/execute/run.h"
#include "sim/run/run_config.h"
#include "sim/study/explain/explain.h"
#include "sim/study/explain/facts.h"
#include "sim/view/report/report.h"
#include "tests/support/files.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/source_dir.h"
#include "tests/unit/compiler/frontend/onnx_model.h"
#include "tests/unit/sim/view/figures/facts.h"

/// Runs whose machines and networks differ in everything: no two figures of theirs are equal by chance.
namespace systole::figures {

/// A run to be made from files.
struct Case {
    std::string name;
    Json machine;
    Json network = nullptr;  ///< a graph file; or
    std::string onnx = {};   ///< an ONNX file; or
    std::string program = {};
    Json run = Json::object();
    std::vector<run::Setting> settings = {};  ///< of the machine, over its file
    std::vector<Json> baselines = {};
    std::optional<Json> host = {};
    std::uint32_t images = 0;  ///< pictures of the network's size, with labels and names of classes
    std::array<std::uint32_t, 2> picture = {12, 10};  ///< height and width, one channel
    std::string scaled_input = {};  ///< whose pixels a layer of the network scales; empty: none
    std::string scaling_layer = {};
    bool explained = false;
};

inline Json file_of(const std::string& name) {
    return Json::parse(tests::text_in(std::filesystem::path(tests::source_dir()) / "configs" / name));
}

/// TPU v1 with other keys; null removes one. No source is given for a key.
inline Json machine_with(const Json& keys) {
    Json machine = file_of("machines/tpu_v1.json");
    machine.erase("sources");
    machine.merge_patch(keys);
    return machine;
}

/// 36 x 128 cells, an odd clock, everything that the machine file may say.
inline Json wide_machine() {
    return machine_with({{"name", "wide"},
                         {"clock_mhz", 733.3},
                         {"matrix_unit", {{"rows", 36}, {"columns", 128}}},
                         {"systolic_data_setup", {{"fetches_per_cycle", 2}}},
                         {"weight_fifo", {{"depth_tiles", 3}}},
                         {"weight_memory", {{"bandwidth_gb_per_s", 20.5}, {"bytes", 1 << 24}}},
                         {"unified_buffer", {{"rows", 5000}}},
                         {"accumulators", {{"rows", 640}}},
                         {"host_interface", {{"read_gb_per_s", 7.3}, {"write_gb_per_s", 5.1}}},
                         {"activation_unit", {{"latency_ns", 40}}},
                         {"energy", {{"unused_mac_fraction", 0.13}, {"process_nm", 20}}},
                         {"server", {{"dies", 3}}}});
}

/// 48 x 16 cells, weights in a DRAM of four channels, no section `energy`, no host's share of the time.
inline Json dram_machine() {
    Json machine = machine_with({{"name", "dram"},
                                 {"clock_mhz", 350.5},
                                 {"matrix_unit", {{"rows", 48}, {"columns", 16}}},
                                 {"unified_buffer", {{"rows", 3000}}},
                                 {"accumulators", {{"rows", 256}}},
                                 {"host_interface", {{"read_gb_per_s", 1.7}, {"write_gb_per_s", 3.1}}},
                                 {"energy", nullptr},
                                 {"server", {{"host_percent", nullptr}}}});
    machine["weight_memory"] = file_of("machines/tpu_v1_dram.json")["weight_memory"];
    machine["weight_memory"]["dram"]["channels"] = 4;
    return machine;
}

/// 64 x 24 cells, room for three weight tiles; energies of its own, and watts of no named chip.
inline Json spilling_machine() {
    return machine_with(
        {{"name", "spilling"},
         {"clock_mhz", 501},
         {"matrix_unit", {{"rows", 64}, {"columns", 24}}},
         {"weight_memory", {{"bytes", 3 * 64 * 24}, {"spill", true}, {"bandwidth_gb_per_s", 3.9}}},
         {"unified_buffer", {{"rows", 4096}}},
         {"accumulators", {{"rows", 512}}},
         {"power", {{"clock_mhz", nullptr}, {"die_mm2", nullptr}, {"idle_watts", 3.5}, {"busy_watts", 9}}},
         {"energy",
          {{"process_nm", 11},
           {"die_dynamic_factor", 1.3},
           {"mac_pj", 0.4},
           {"int32_add_pj", 0.05},
           {"int32_multiply_pj", 2.5},
           {"unified_buffer_pj_per_byte", 6.0},
           {"accumulators_pj_per_byte", 1.7},
           {"weight_fifo_pj_per_byte", 0.9},
           {"instruction_buffer_pj_per_byte", 1.1},
           {"weight_memory_pj_per_byte", 150.0}}},
         {"server", {{"host_tdp_watts", nullptr}}}});
}

/// 32 x 16 cells that are simulated one by one.
inline Json cells_machine() {
    return machine_with({{"name", "cells"},
                         {"clock_mhz", 400},
                         {"matrix_unit", {{"rows", 32}, {"columns", 16}, {"engine", "pe"}}},
                         {"unified_buffer", {{"rows", 2048}}},
                         {"accumulators", {{"rows", 128}}},
                         {"power", {{"array_rows", nullptr}, {"array_columns", nullptr}}}});
}

/// 24 x 40 cells with a small unified buffer.
inline Json small_machine(int buffer_rows, double clock_mhz) {
    return machine_with({{"name", "small"},
                         {"clock_mhz", clock_mhz},
                         {"matrix_unit", {{"rows", 24}, {"columns", 40}}},
                         {"weight_memory", {{"bandwidth_gb_per_s", 70.0}}},
                         {"unified_buffer", {{"rows", buffer_rows}}},
                         {"accumulators", {{"rows", 256}}},
                         {"sequencer", {{"instruction_buffer_bytes", 65536}}}});
}

/// 32 x 16 cells with quick memories: the data setup, which collects lines of windows, is the slowest. FIFO
/// and accumulators are so deep that the SRAM of each of their slices is above 8 KiB, up to which energies
/// are equal.
inline Json quick_machine() {
    return machine_with({{"name", "quick"},
                         {"matrix_unit", {{"rows", 32}, {"columns", 16}}},
                         {"weight_memory", {{"bandwidth_gb_per_s", 400.0}}},
                         {"weight_fifo", {{"depth_tiles", 64}}},
                         {"accumulators", {{"rows", 2048}}},
                         {"unified_buffer", {{"rows", 20048}}},
                         {"host_interface", {{"read_gb_per_s", 200.0}}}});
}

/// A baseline of which little is known: no watts, no efficiency, integers twice as fast.
inline Json bare_baseline() {
    return {{"schema", "sim.baseline/1"}, {"name", "bare"},        {"cores", 2},
            {"peak_fp32_gflops", 310},    {"peak_int8_gops", 620}, {"memory_gb_per_s", 0.9},
            {"sources", Json::object()}};
}

/// A baseline on which the products of a network were measured.
inline Json measured_baseline(const std::string& model, std::uint32_t batch) {
    return {{"schema", "sim.baseline/1"},
            {"name", "measured"},
            {"cores", 4},
            {"peak_fp32_gflops", 100},
            {"peak_int8_gops", 350},
            {"memory_gb_per_s", 30},
            {"server", {{"dies", 2}, {"tdp_watts", 300}}},
            {"measured",
             {{"model", model},
              {"batch", batch},
              {"fp32_inferences_per_second", 24680},
              {"int8_inferences_per_second", 13579}}},
            {"sources", Json::object()}};
}

/// A baseline whose software computes in bytes, and whose latency and largest batch are not known.
inline Json integer_baseline() {
    return {
        {"schema", "sim.baseline/1"},
        {"name", "integers"},
        {"cores", 1},
        {"peak_fp32_gflops", 90},
        {"peak_int8_gops", 210},
        {"memory_gb_per_s", 2.5},
        {"on_chip_mib", 0.001},
        {"power", {{"busy_watts", 33}}},
        {"efficiency",
         {{"precision", "int8"}, {"peak_share", 0.37}, {"memory_share", 0.6}, {"layer_microseconds", 1.5}}},
        {"sources", Json::object()}};
}

inline Json network_of(const std::string& name, const Json& input, const Json& layers,
                       const std::string& output) {
    return {{"schema", "sim.graph/1"},  {"name", name},     {"input", input},
            {"weights", {{"seed", 3}}}, {"layers", layers}, {"output", output}};
}

/// Convolutions, pooling, element-wise work, dense layers, and probabilities.
inline Json small_cnn() {
    return network_of(
        "small_cnn", {{"shape", {12, 10, 1}}},
        {{{"name", "c1"},
          {"op", "convolution"},
          {"inputs", {"input"}},
          {"filters", 20},
          {"kernel", {3, 2}},
          {"padding", "same"},
          {"activation", "relu"}},
         {{"name", "c2"},
          {"op", "convolution"},
          {"inputs", {"c1"}},
          {"filters", 40},
          {"kernel", 3},
          {"stride", 2},
          {"activation", "relu"}},
         {{"name", "p"}, {"op", "max_pool"}, {"inputs", {"c2"}}, {"kernel", 2}},
         {{"name", "sum"}, {"op", "add"}, {"inputs", {"p", "p"}}},
         {{"name", "h"}, {"op", "dense"}, {"inputs", {"sum"}}, {"units", 150}, {"activation", "tanh"}},
         {{"name", "scores"}, {"op", "dense"}, {"inputs", {"h"}}, {"units", 10}},
         {{"name", "probabilities"}, {"op", "softmax"}, {"inputs", {"scores"}}}},
        "probabilities");
}

inline Json dense_layers(const std::string& name, int inputs, const std::vector<int>& units) {
    Json layers = Json::array();
    std::string before = "input";
    for (std::size_t i = 0; i < units.size(); ++i) {
        const std::string layer = "d" + std::to_string(i + 1);
        layers.push_back({{"name", layer},
                          {"op", "dense"},
                          {"inputs", {before}},
                          {"units", units[i]},
                          {"activation", i + 1 == units.size() ? "linear" : "relu"}});
        before = layer;
    }
    return network_of(name, {{"shape", {inputs}}}, layers, before);
}

inline Json with_16_bits(Json network) {
    network["activation_bits"] = 16;
    return network;
}

/// Two layers of the host in the middle: the softmax of a layer weights its own input, twice.
inline Json attention() {
    return network_of("attention", {{"shape", {24}}},
                      {{{"name", "features"},
                        {"op", "dense"},
                        {"inputs", {"input"}},
                        {"units", 40},
                        {"activation", "relu"}},
                       {{"name", "scores"}, {"op", "dense"}, {"inputs", {"features"}}, {"units", 40}},
                       {{"name", "shares"}, {"op", "softmax"}, {"inputs", {"scores"}}},
                       {{"name", "weighted"}, {"op", "multiply"}, {"inputs", {"features", "shares"}}},
                       {{"name", "again"}, {"op", "dense"}, {"inputs", {"weighted"}}, {"units", 12}},
                       {{"name", "more"}, {"op", "softmax"}, {"inputs", {"again"}}},
                       {{"name", "classes"}, {"op", "dense"}, {"inputs", {"more"}}, {"units", 5}},
                       {{"name", "probabilities"}, {"op", "softmax"}, {"inputs", {"classes"}}}},
                      "probabilities");
}

/// Images that shrink: the first layers need much of the unified buffer, the others little.
inline Json shrinking(int side, int channels) {
    return network_of(
        "shrinking", {{"shape", {side, side, 2}}},
        {{{"name", "a"},
          {"op", "convolution"},
          {"inputs", {"input"}},
          {"filters", channels},
          {"kernel", 3},
          {"padding", "same"},
          {"activation", "relu"}},
         {{"name", "b"}, {"op", "max_pool"}, {"inputs", {"a"}}, {"kernel", 2}},
         {{"name", "c"},
          {"op", "convolution"},
          {"inputs", {"b"}},
          {"filters", 9},
          {"kernel", 3},
          {"activation", "relu"}},
         {{"name", "d"}, {"op", "dense"}, {"inputs", {"c"}}, {"units", 30}, {"activation", "relu"}},
         {{"name", "e"}, {"op", "dense"}, {"inputs", {"d"}}, {"units", 4}}},
        "e");
}

/// Windows that overlap, which the data setup reads line by line.
inline Json windows() {
    return network_of("windows", {{"shape", {16, 16, 8}}},
                      {{{"name", "w"},
                        {"op", "convolution"},
                        {"inputs", {"input"}},
                        {"filters", 8},
                        {"kernel", 5},
                        {"stride", 3},
                        {"padding", "same"}},
                       {{"name", "e"}, {"op", "dense"}, {"inputs", {"w"}}, {"units", 4}}},
                      "e");
}

/// A convolution with transposed kernels, which the host computes, alone or behind two of the chip. Between
/// these, the host has work without multiply-accumulates. Two outputs.
inline std::string transposed(bool alone) {
    tests::OnnxModel model;
    const auto weights = [&](const std::string& name, const tests::Extents& shape) {
        std::size_t elements = 1;
        for (const std::int64_t extent : shape) elements *= static_cast<std::size_t>(extent);
        std::vector<float> values(elements);
        for (std::size_t i = 0; i < elements; ++i) values[i] = 0.01F * static_cast<float>(i % 7) - 0.02F;
        model.floats(name, shape, values);
    };
    model.input("x", {1, 7, 5, 4});
    if (!alone) {
        weights("v", {3, 7, 1, 1});
        weights("u", {3, 3, 1, 1});
        model.node("Conv", {"x", "v"}, {"c"});
        tests::with_attribute(model.node("Softmax", {"c"}, {"s"}), "axis", std::int64_t{1});
        model.node("Conv", {"s", "u"}, {"d"});
        model.output("c");
    }
    weights("w", {alone ? 7 : 3, 6, 2, 3});
    tests::with_attribute(model.node("ConvTranspose", {alone ? "x" : "d", "w"}, {"y"}), "strides", {2, 2});
    model.output("y");
    return model.bytes();
}

/// A network that scales its pixels itself; its output is ten numbers, no probabilities.
inline std::string scaling_network() {
    tests::OnnxModel model;
    model.input("x", {1, 1, 6, 5}).output("y");
    model.floats("most", {}, {255.0F}).floats("mean", {}, {0.5F});
    std::vector<float> weights(30 * 10);
    for (std::size_t i = 0; i < weights.size(); ++i)
        weights[i] = 0.1F * static_cast<float>(i * i % 17) - 0.8F;
    model.floats("w", {30, 10}, weights);
    model.node("Div", {"x", "most"}, {"a"});
    model.node("Sub", {"a", "mean"}, {"b"});
    model.node("Flatten", {"b"}, {"c"});
    model.node("MatMul", {"c", "w"}, {"y"});
    return model.bytes();
}

/// The keys of a host that makes the input, all of them, as reports repeat them.
inline Json fed_by(double example_us, double step_ms, std::uint64_t examples, std::uint64_t loop_steps,
                   double gap_ms) {
    return {{"example_us", example_us},
            {"step_ms", step_ms},
            {"examples", examples},
            {"loop_steps", loop_steps},
            {"gap_ms", gap_ms}};
}

inline std::vector<Case> all_cases() {
    const Json haswell = file_of("baselines/haswell_e5_2699_v3.json");
    const Json k80 = file_of("baselines/k80.json");
    const Json random = {{"random_input", 7}};
    const auto with = [](Json run, const Json& more) {
        run.update(more);
        return run;
    };
    std::vector<Case> cases;
    cases.push_back({.name = "wide",
                     .machine = wide_machine(),
                     .network = small_cnn(),
                     .run = {{"batch", 8},
                             {"float_reference", true},
                             {"accuracy_by_layer", true},
                             {"power_windows", 7},
                             {"arrivals", 9000.0},
                             {"latency_limit_ms", 0.03},
                             {"arrival_seed", 5},
                             {"feeding", fed_by(2.5, 0.001, 0, 2, 0.0625)}},
                     .baselines = {haswell, k80, integer_baseline()},
                     .images = 20,
                     .explained = true});
    cases.push_back({.name = "dram",
                     .machine = dram_machine(),
                     .network = dense_layers("layers", 100, {90, 70, 3}),
                     .run = {{"batch", 5},
                             {"limit", 13},
                             {"timing_only", true},
                             {"arrivals", 9e8},
                             {"feeding", fed_by(1e-6, 0.0, 40, 0, 0.0)},
                             {"latency_limit_ms", 1e4}},
                     .baselines = {bare_baseline(), measured_baseline("layers", 5)}});
    cases.push_back({.name = "spilling",
                     .machine = spilling_machine(),
                     .network = with_16_bits(dense_layers("wide_numbers", 130, {60, 50, 6})),
                     .run = with(random, {{"batch", 3},
                                          {"limit", 7},
                                          {"power_windows", 4},
                                          {"instructions", true},
                                          {"latency_limit_ms", 0.001}}),
                     .settings = {{"machine.matrix_unit.columns", 20}, {"machine.clock_mhz", 520.25}},
                     .baselines = {k80}});
    cases.push_back({.name = "cells",
                     .machine = cells_machine(),
                     .network = attention(),
                     .run = with(random, {{"batch", 4},
                                          {"limit", 10},
                                          {"host_time", false},
                                          {"registers", "107-109"},
                                          {"power_windows", 3}}),
                     .baselines = {bare_baseline(), measured_baseline("attention", 4)},
                     .host = bare_baseline()});
    cases.push_back({.name = "slices",
                     .machine = small_machine(700, 660),
                     .network = shrinking(12, 10),
                     .run = with(random, {{"batch", 30}, {"limit", 40}, {"mapping", "as_published"}}),
                     .baselines = {haswell}});
    Json without_power = small_machine(1500, 700);
    // Events need static watts; of no chip are more published.
    without_power["power"] = {{"idle_watts", 7.5}, {"busy_watts", 7.5}};
    cases.push_back({.name = "groups",
                     .machine = without_power,
                     .network = shrinking(12, 10),
                     .run = with(random, {{"batch", 30}, {"limit", 41}, {"latency_limit_ms", 0.4}}),
                     .baselines = {k80}});
    cases.push_back({.name = "windows",
                     .machine = quick_machine(),
                     .network = windows(),
                     .run = {{"batch", 4}, {"limit", 10}, {"timing_only", true}, {"mapping", "plain"}}});
    cases.push_back(
        {.name = "strips",
         .machine = small_machine(90, 900),  // beyond the clock that the highest voltage reaches
         .network = shrinking(24, 16),
         .run = with(random, {{"batch", 5}, {"limit", 2}, {"arrivals", 900.0}, {"latency_limit_ms", 5.0}}),
         .baselines = {haswell}});
    cases.push_back({.name = "two outputs",
                     .machine = small_machine(2000, 300),  // below the clock of the lowest voltage
                     .onnx = transposed(false),
                     .run = with(random, {{"batch", 2}, {"limit", 6}}),
                     .baselines = {k80}});
    cases.push_back({.name = "scores",
                     .machine = dram_machine(),
                     .onnx = scaling_network(),
                     .run = {{"batch", 3}},
                     .images = 11,
                     .picture = {6, 5},
                     .scaled_input = "x",
                     .scaling_layer = "n_a"});
    cases.push_back({.name = "host alone",
                     .machine = cells_machine(),
                     .onnx = transposed(true),
                     .run = {{"batch", 2},
                             {"limit", 4},
                             {"timing_only", true},
                             {"arrivals", 10.0},
                             {"feeding", fed_by(0.0, 3.0, 0, 0, 0.0)}},
                     .baselines = {k80}});
    Json without_watts = dram_machine();
    without_watts.erase("power");
    cases.push_back(
        {.name = "assembly",
         .machine = without_watts,
         .program = ".array 48 16\n.buffer pixels input 0 96\n.buffer result output 4096 16\n"
                    ".tile 48 16 fill 1; .tile 40 9 fill 1\n"
                    "read_host pixels ub=60 block=48\n"
                    "tag 1\nread_weights tile=0\nread_weights tile=0\nmatmul ub=0 acc=0 rows=30 repeat=1\n"
                    "tag 4\nread_weights tile=1\nmatmul ub=0 acc=40 rows=9\n"
                    "tag 0\nread_weights tile=0\nmatmul ub=0 acc=80 rows=2\n"
                    "write_host result ub=100 block=16\nhalt\n",
         .run = {{"instructions", true}, {"print", {"result:int8x4"}}}});
    return cases;
}

/// A record, and what it is from.
struct Finished {
    run::RunRecord record;
    Json report;
    Facts::Files files;

    Facts facts() const { return {record, files, report}; }
};

inline run::RunRecord record_of(const run::RunSpec& spec) {
    const tests::FreshSimulation simulation;
    return run::run(spec);
}

/// An IDX file: its type and extents, then bytes.
inline std::string idx(const std::vector<std::uint32_t>& extents, const std::vector<std::uint8_t>& values) {
    std::string file{'\0', '\0', '\x08', static_cast<char>(extents.size())};
    for (const std::uint32_t extent : extents) {
        for (const unsigned shift : {24U, 16U, 8U, 0U}) file += static_cast<char>((extent >> shift) & 0xffU);
    }
    return file + std::string(values.begin(), values.end());
}

/// Runs the case in this process.
inline Finished finish(const Case& given) {
    const tests::Folder folder;
    Json keys = given.run;
    keys["machine"] = folder.file("machine.json", given.machine.dump());
    if (!given.network.is_null()) keys["model"] = folder.file("net.json", given.network.dump());
    if (!given.onnx.empty()) keys["model"] = folder.file("net.onnx", given.onnx);
    if (!given.program.empty()) keys["program"] = folder.file("program.asm", given.program);
    for (const Json& baseline : given.baselines) {
        const std::string name = baseline["name"].get<std::string>() + ".json";
        keys["baselines"].push_back(folder.file(name, baseline.dump()));
    }
    if (given.host) keys["host"] = folder.file("host.json", given.host->dump());
    Finished finished;
    if (given.images > 0) {
        const auto shape = given.picture;
        finished.files.picture = shape;
        std::vector<std::uint8_t> pixels(std::size_t{given.images} * shape[0] * shape[1]);
        for (std::size_t i = 0; i < pixels.size(); ++i)
            pixels[i] = static_cast<std::uint8_t>(i * i * 7 / 13 + i);
        std::vector<std::uint8_t> labels(given.images);
        for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::uint8_t>(i * i % 10);
        finished.files.labels.assign(labels.begin(), labels.end());
        std::string names;
        for (int i = 0; i < 10; ++i) names += "class " + std::string(1, static_cast<char>('a' + i)) + "\n";
        keys["input"] = {folder.file("images.idx", idx({given.images, shape[0], shape[1]}, pixels))};
        keys["labels"] = folder.file("labels.idx", idx({given.images}, labels));
        keys["label_names"] = folder.file("names.txt", names);
    }
    const run::RunConfig config = run::read_run({}, nlohmann::json(keys), given.settings, "the test");
    run::RunSpec spec = run::make_spec(config);
    spec.observed.occupancy = true;
    spec.observed.pictures = true;
    spec.observed.outputs = true;
    spec.observed.float_outputs = spec.float_reference;
    finished.record = record_of(spec);
    std::optional<report::Explanations> explanations;
    if (given.explained) {
        explanations = explain::explain(config, [&](std::span<const run::RunConfig> runs) {
            std::vector<explain::Answer> answers;
            for (const run::RunConfig& run : runs) {
                std::vector<std::string> settings;
                // The run itself has those of the case, and the quicker engine.
                for (std::size_t i = config.machine_settings.size() + 1; i < run.machine_settings.size();
                     ++i) {
                    const run::Setting& setting = run.machine_settings[i];
                    settings.push_back("machine." + setting.key + "=" + setting.value.dump());
                }
                if (run.batch != config.batch) settings.push_back("batch=" + std::to_string(run.batch));
                run::RunRecord record = record_of(run::make_spec(run));
                answers.push_back({.simulation = explain::facts_of(record), .error = {}});
                finished.files.changes.push_back({settings, std::move(record)});
            }
            return answers;
        });
    }
    finished.report =
        report::make_report(finished.record, {.explanations = explanations ? &*explanations : nullptr});
    // Settings change the file; the report then has the changed key.
    finished.files.machine = given.machine;
    for (const run::Setting& setting : given.settings) {
        const std::string key = setting.key.substr(std::string_view("machine.").size());
        const std::size_t dot = key.find('.');
        Json& place = dot == std::string::npos
                          ? finished.files.machine[key]
                          : finished.files.machine[key.substr(0, dot)][key.substr(dot + 1)];
        place = Json(setting.value);
    }
    finished.files.baselines = given.baselines;
    const Json* const own_host = Facts::find(given.machine, "host.processor");
    const std::string host = own_host == nullptr ? "haswell_e5_2699_v3" : own_host->get<std::string>();
    finished.files.host = given.host.value_or(file_of("baselines/" + host + ".json"));
    finished.files.run = keys;
    finished.files.scaled_input = given.scaled_input;
    finished.files.scaling_layer = given.scaling_layer;
    finished.files.network = given.network;
    return finished;
}

/// All cases, run once in this process.
inline const std::vector<std::pair<Case, Finished>>& finished_cases() {
    static const std::vector<std::pair<Case, Finished>> all = [] {
        std::vector<std::pair<Case, Finished>> made;
        for (Case& each : all_cases()) {
            INFO(each.name);
            try {
                Finished finished = finish(each);
                made.emplace_back(std::move(each), std::move(finished));
            } catch (const std::exception& error) {
                FAIL_CHECK(error.what());
            }
        }
        return made;
    }();
    return all;
}

}  // namespace systole::figures
