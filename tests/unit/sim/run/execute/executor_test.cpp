#include "sim/run/execute/executor.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/run/execute/run.h"
#include "sim/run/record/bytes.h"
#include "sim/run/run_config.h"
#include "tests/support/files.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/source_dir.h"
#include "tests/unit/compiler/frontend/onnx_model.h"
#include "tests/unit/sim/run/record/every_field.h"
#include "tests/unit/sim/run/record/machine_variants.h"

using namespace systole;
using run::RunSpec;

namespace {

const std::string network =
    R"({"schema": "sim.graph/1", "name": "net", "input": {"shape": [40]}, "weights": {"seed": 1}, "layers": [
        {"name": "a", "op": "dense", "inputs": ["input"], "units": 300, "activation": "relu"},
        {"name": "b", "op": "dense", "inputs": ["a"], "units": 10}], "output": "b"})";

/// A run of the network on made-up input, with everything that a run notes.
RunSpec full_spec(const std::string& file) {
    run::RunConfig config;
    config.machine = std::string(tests::source_dir()) + "/configs/machines/tpu_v1.json";
    config.model = file;
    config.random_input = 3;
    config.batch = 4;
    config.limit = 10;
    config.instructions = true;
    config.power_windows = 5;
    config.host = std::string(tests::source_dir()) + "/configs/baselines/haswell_e5_2699_v3.json";
    RunSpec spec = run::make_spec(config);
    spec.observed.occupancy = true;
    spec.observed.phases = true;
    return spec;
}

RunSpec timed(const std::string& file, std::uint32_t batch) {
    RunSpec spec = full_spec(file);
    spec.timing_only = true;
    spec.compiler.batch = batch;
    return spec;
}

std::string compared(const run::RunOutcome& outcome) {
    INFO(outcome.error);
    REQUIRE(outcome.record);
    return run::compared_bytes(*outcome.record);
}

}  // namespace

TEST_CASE("Equal specs give equal records: in workers, in any order, and in this process", "[run]") {
    const tests::Folder folder;
    const std::string file = folder.file("net.json", network);
    const std::vector<RunSpec> specs{full_spec(file), timed(file, 1), timed(file, 2), timed(file, 3)};
    const std::vector<RunSpec> backwards(specs.rbegin(), specs.rend());

    // Workers first: they are copies of this process, which must not have computed values before.
    std::vector<std::string> expected;
    run::Executor alone(1);
    for (const run::RunOutcome& outcome : alone.run(specs)) expected.push_back(compared(outcome));
    CHECK(std::set<std::string>(expected.begin(), expected.end()).size() == specs.size());
    run::Executor several(3);
    const std::vector<run::RunOutcome> outcomes = several.run(backwards);
    for (std::size_t i = 0; i < specs.size(); ++i) {
        CHECK(compared(outcomes[specs.size() - 1 - i]) == expected[i]);
    }
    for (std::size_t i = 0; i < specs.size(); ++i) {
        for (int times = 0; times < 2; ++times) {
            const tests::FreshSimulation simulation;
            CHECK(run::compared_bytes(run::run(specs[i])) == expected[i]);
        }
    }
}

TEST_CASE("Equal specs are run once, wherever their files lie", "[run]") {
    const tests::Folder folder;
    const std::string file = folder.file("net.json", network);
    run::Executor executor(1);
    const RunSpec spec = timed(file, 2);
    executor.run(std::vector<RunSpec>{spec, spec});
    CHECK(executor.runs() == 1);

    // The same contents elsewhere: only its labels differ, and the answer has its own.
    const RunSpec elsewhere = timed(folder.file("other/net.json", network), 2);
    const auto found = executor.run(std::vector<RunSpec>{elsewhere});
    CHECK(executor.runs() == 1);
    CHECK(found[0].record->spec.network->path.text == elsewhere.network->path.text);

    const RunSpec other_contents = timed(folder.file("net.json", network + " "), 2);
    executor.run(std::vector<RunSpec>{other_contents});
    CHECK(executor.runs() == 2);
}

TEST_CASE("A network's weights in another file are part of its content, also in workers", "[run]") {
    const tests::Folder folder;
    tests::OnnxModel model;
    model.input("x", {1, 2}).output("y");
    tests::place_outside(model.tensor("w", ::onnx::TensorProto::FLOAT, {2, 2}), "data/w.bin", 0, 16);
    model.node("MatMul", {"x", "w"}, {"y"});
    const std::string file = folder.file("m.onnx", model.bytes());
    const auto spec_with = [&](const std::vector<float>& weights) {
        folder.file("data/w.bin",
                    {reinterpret_cast<const char*>(weights.data()), weights.size() * sizeof(float)});
        RunSpec spec = full_spec(file);
        spec.observed.outputs = true;
        return spec;
    };
    run::Executor executor(1);
    const auto outputs_of = [&](const RunSpec& spec) {
        const auto outcomes = executor.run(std::vector<RunSpec>{spec});
        INFO(outcomes[0].error);
        REQUIRE(outcomes[0].record);
        return outcomes[0].record->answers.output_arrays.at(0).values;
    };
    const RunSpec first = spec_with({1, 2, 3, 4});
    const std::vector<float> before = outputs_of(first);
    CHECK(run::key_of(spec_with({1, 2, 3, 4})) == run::key_of(first));
    const RunSpec second = spec_with({1, 2, 3, -4});
    CHECK(second.network->hash != first.network->hash);
    CHECK(outputs_of(second) != before);
    CHECK(executor.runs() == 2);
}

namespace {

/// The spec changed in one field, one for each: of its machine, and of the spec itself.
std::vector<std::pair<std::string, RunSpec>> variants_of(const RunSpec& spec) {
    std::vector<std::pair<std::string, RunSpec>> variants;
    const auto add_machines = [&](const machine::MachineConfig& machine, std::string_view places) {
        for (const tests::MachineVariant& variant : tests::machine_variants(machine)) {
            if (!variant.place.starts_with(places)) continue;
            variants.emplace_back(variant.place, spec).second.machine = variant.machine;
        }
    };
    add_machines(spec.machine, "/");
    add_machines(tests::machine_of_one_format("dram"), "/weight_memory/");
    for (std::size_t which = 0;; ++which) {
        RunSpec changed = spec;
        tests::Changer changer(which);
        visit_fields(changer, changed);
        if (changer.changed.empty()) return variants;
        if (changer.is_compared) variants.emplace_back(changer.changed, changed);
    }
}

/// A record's bytes, or why there is none; without the spec, in which the variants differ anyway.
std::string result_of(run::RunOutcome outcome) {
    if (!outcome.record) return outcome.error;
    outcome.record->spec = {};
    return run::compared_bytes(*outcome.record);
}

}  // namespace

TEST_CASE("A spec that differs in any one field is run, unaffected by earlier runs", "[run]") {
    const tests::Folder folder;
    RunSpec spec = timed(folder.file("net.json", network), 2);
    spec.machine = tests::machine_of_one_format("bandwidth");
    const auto variants = variants_of(spec);
    CHECK(variants.size() > 60);

    // One worker for all, which keeps what it has compiled; and for each variant a worker of its own.
    run::Executor shared(1);
    const std::string base = result_of(shared.run(std::span(&spec, 1)).front());
    std::size_t others = 0;
    for (std::size_t i = 0; i < variants.size(); ++i) {
        const auto& [place, variant] = variants[i];
        INFO(place);
        const bool is_other_file = variant.network && variant.network->hash != spec.network->hash;
        if (is_other_file) {
            CHECK_THROWS_WITH(shared.run(std::span(&variant, 1)),
                              Catch::Contains("net.json: it has changed"));
            continue;
        }
        const std::size_t before = shared.runs();
        const std::string result = result_of(shared.run(std::span(&variant, 1)).front());
        CHECK(shared.runs() == before + 1);
        run::Executor alone(1);
        CHECK(result == result_of(alone.run(std::span(&variant, 1)).front()));
        if (result != base) ++others;
    }
    CHECK(others > 30);  // the comparison compares something
}

TEST_CASE("If a worker dies, only its own spec is lost", "[run]") {
    const tests::Folder folder;
    const std::string file = folder.file("net.json", network);
    std::vector<RunSpec> specs;
    for (std::uint32_t batch = 1; batch <= 5; ++batch) specs.push_back(timed(file, batch));
    run::Executor executor(2, [](pid_t worker, const RunSpec& spec) {
        if (spec.compiler.batch == 3) ::kill(worker, SIGKILL);
    });
    const std::vector<run::RunOutcome> outcomes = executor.run(specs);
    for (std::size_t i = 0; i < specs.size(); ++i) {
        INFO(i << ": " << outcomes[i].error);
        CHECK(outcomes[i].record.has_value() == (i != 2));
    }
    CHECK(outcomes[2].error == "its process was ended by signal 9 (Killed)");
}

TEST_CASE("A spec that cannot be run has an error, which names files as given", "[run]") {
    const tests::Folder folder;
    const std::string file = folder.file("net.json", network);
    const std::string broken = folder.file("broken.json", R"({"schema": "sim.graph/1", "layers": 3})");
    const std::string missing = folder.file("missing.json", network);
    std::vector<RunSpec> specs{timed(file, 1), timed(broken, 1), timed(missing, 1), timed(file, 2)};
    std::filesystem::remove(missing);
    specs[3].machine.unified_buffer.rows = 2;
    run::Executor executor(2);
    for (int times = 0; times < 2; ++times) {  // errors are not kept
        const std::vector<run::RunOutcome> outcomes = executor.run(specs);
        CHECK(outcomes[0].record);
        CHECK(outcomes[1].error.find(broken + ": ") == 0);
        CHECK(outcomes[2].error.find(missing + ": ") == 0);
        CHECK_FALSE(outcomes[3].record);
        CHECK_FALSE(outcomes[3].error.empty());
    }
    CHECK(executor.runs() == 1 + 2 * 3);
}

TEST_CASE("The oldest records are dropped first", "[run]") {
    run::RecordCache cache(10);
    cache.keep("a", "12345");
    cache.keep("b", "12345");
    CHECK(*cache.find("a") == "12345");
    cache.keep("c", "1");
    CHECK(cache.find("a") == nullptr);
    CHECK(cache.find("b") != nullptr);
    cache.keep("d", std::string(100, 'x'));
    CHECK(cache.find("d") != nullptr);  // the newest is always there
}
