// What a further step of a program costs, beside a run that says which input takes the examples.
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

#include "hw/machine/config_error.h"
#include "sim/run/execute/process.h"
#include "sim/run/execute/run.h"
#include "sim/run/record/bytes.h"
#include "sim/run/run_config.h"
#include "tests/support/files.h"
#include "tests/support/source_dir.h"

using namespace systole;

namespace {

const std::string training = std::string(tests::source_dir()) + "/models/mnist_cnn/training/";

run::RunSpec spec_of(const std::string& state, std::uint64_t steps) {
    return run::make_spec(run::read_run(
        {}, std::vector<run::Setting>{
                {"machine", std::string(tests::source_dir()) + "/configs/machines/tpu_v2_1core.json"},
                {"model", training + "step_8.hlo"},
                {"state", state},
                {"limit", steps},
                {"timing_only", true}}));
}

run::RunRecord record_of(const run::RunSpec& spec) {
    run::ChildProcess child;
    const run::ChildAnswer answer = child.run([&] { return run::to_bytes(run::run(spec)); });
    INFO(answer.bytes);
    REQUIRE(answer.is_result);
    return run::read_record(answer.bytes);
}

std::string refusal(const std::string& state) {
    try {
        run::prepare(spec_of(state, 1));
    } catch (const machine::ConfigError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("A further step is half of what two steps more cost, however many steps the run has",
          "[run][step]") {
    const run::RunSpec spec = spec_of(training + "state.json", 2);
    CHECK(spec.examples == "images");
    CHECK(spec.state.size() == 1);
    const run::RunRecord record = record_of(spec);
    CHECK(record.program.inferences == 2);
    CHECK(record.program.examples == 8);
    CHECK(record.program.examples_of_core == 8);
    REQUIRE(record.step);
    run::RunSpec plain = spec;
    plain.examples.clear();
    CHECK_FALSE(record_of(plain).step);
    const auto steps = [&](std::uint64_t count) {
        plain.compiler.limit = count;
        return record_of(plain);
    };
    const run::RunRecord two = steps(2);
    const run::RunRecord four = steps(4);
    CHECK(record.step->cycles == (four.cycles - two.cycles) / 2);
    REQUIRE(record.step->bounds.size() == four.bounds.size());
    for (std::size_t i = 0; i < four.bounds.size(); ++i) {
        CAPTURE(four.bounds[i].name);
        CHECK(record.step->bounds[i].name == four.bounds[i].name);
        CHECK(record.step->bounds[i].run == (four.bounds[i].run - two.bounds[i].run) / 2);
        // State goes in before the first step and out after the last: no step has it.
        CHECK(record.step->bounds[i].run <= record.step->cycles);
    }
    CHECK(record_of(spec_of(training + "state.json", 3)).step == record.step);
}

TEST_CASE("A network without state has no steps whose examples a file could name", "[run][step]") {
    const tests::Folder folder;
    const std::string project = tests::source_dir();
    const run::RunSpec spec = run::make_spec(run::read_run(
        {}, std::vector<run::Setting>{
                {"machine", project + "/configs/machines/tpu_v2_1core.json"},
                {"model", project + "/models/mnist_cnn/mnist_cnn.h5"},
                {"state", folder.file("state.json", R"({"schema": "sim.training/1", "images": "0"})")},
                {"timing_only", true}}));
    CHECK_THROWS_WITH(run::prepare(spec),
                      Catch::Contains("state.json: it describes the steps of a program; ") &&
                          Catch::EndsWith("is a network, which takes any batch"));
}

TEST_CASE("The input of examples must be there and take them", "[run][step]") {
    const tests::Folder folder;
    const auto file = [&](const std::string& images) {
        return folder.file("state.json", R"({"schema": "sim.training/1", "images": ")" + images +
                                             R"(", "state": [{"input": "0", "output": "0", "count": 41}]})");
    };
    CHECK(refusal(file("images")).empty());
    CHECK(refusal(file("41")).empty());  // by its position
    CHECK(refusal(file("pictures")) == file("pictures") + ": images is \"pictures\"; " + training +
                                           "step_8.hlo has no input of that name or position");
    CHECK_THAT(refusal(file("0")),
               Catch::Contains("which is state of") && Catch::EndsWith("must take examples"));
}
