// The cycles of a training follow from its first steps, and are held against a run of all steps.
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/user_error.h"
#include "sim/run/execute/process.h"
#include "sim/run/execute/run.h"
#include "sim/run/record/bytes.h"
#include "sim/study/train/train.h"
#include "tests/support/files.h"
#include "tests/support/source_dir.h"
#include "tests/unit/sim/study/train/made_training.h"

using namespace systole;

namespace {

struct Program {
    std::filesystem::path file;
    std::vector<run::StatePairs> state = {};
    std::string machine = "tpu_v2_1core";
    std::uint32_t replicas = 1;
};

/// The cycles of a run of so many steps, as `sim run` has them.
Cycle cycles_of_run(const Program& program, std::uint64_t steps) {
    run::RunSpec spec = tests::spec_of(program.file, program.machine);
    spec.state = program.state;
    spec.timing_only = true;
    spec.compiler.limit = steps * program.replicas;
    run::ChildProcess child;
    const run::ChildAnswer answer = child.run([&] { return run::to_bytes(run::run(spec)); });
    INFO(answer.bytes);
    REQUIRE(answer.is_result);
    return run::read_record(answer.bytes).cycles;
}

run::RunRecord timed(const Program& program, std::uint64_t steps_an_epoch, std::uint64_t epochs) {
    train::Order order;
    order.step = tests::spec_of(program.file, program.machine);
    order.file.state = program.state;
    run::Training training;
    training.batch = 3;
    training.steps_an_epoch = steps_an_epoch;
    training.epochs = epochs;
    return train::time_steps(order, program.replicas, training);
}

/// Links and memory move no whole bytes a cycle: each of the five steps behind the first four may take a
/// cycle more or less.
constexpr std::int64_t further_steps = 5;

/// `most` is how far the cycles of nine steps may be off.
void check_nine_steps(const Program& program, std::int64_t most) {
    INFO(program.file);
    const run::RunRecord record = timed(program, 3, 3);
    REQUIRE(record.training.has_value());
    CHECK(record.training->timed_steps == 4);
    CHECK(record.cycles == cycles_of_run(program, 4));
    CHECK(record.training->cycles_a_step > 0);
    const auto predicted = static_cast<std::int64_t>(record.training->cycles);
    const auto simulated = static_cast<std::int64_t>(cycles_of_run(program, 9));
    INFO(predicted << " predicted, " << simulated << " simulated");
    CHECK(std::abs(predicted - simulated) <= most);
}

}  // namespace

TEST_CASE("The cycles of nine steps on one core follow from the first four, to a cycle a step", "[train]") {
    check_nine_steps({.file = tests::donated()}, further_steps);
}

TEST_CASE(
    "The cycles of nine steps of a program with no other outputs than state follow from the first four, to a "
    "cycle a step",
    "[train]") {
    const tests::Folder folder;
    const std::string file =
        folder.file("sum.txt",
                    "graph \"sum\"\ninputs %0, %1\noutputs %2\n%0 float32 1x60x200 \"sum\" file float32\n"
                    "%1 float32 1x60x200 \"x\" file float32\n%2 float32 1x60x200 \"next\" file float32\n"
                    "%2 = word_chain(%0, %1) \"next\" {steps [\"add 0 1\"]}\n");
    check_nine_steps({.file = file, .state = {{.input = "sum", .output = "next", .count = 1}}},
                     further_steps);
}

TEST_CASE("The cycles of nine steps on eight cores follow from the first four", "[train]") {
    check_nine_steps(
        {.file = std::filesystem::path(tests::source_dir()) / "models/mnist_cnn/training/step_8x8.hlo",
         .state = {{.input = "0", .output = "0", .count = 41}},
         .machine = "tpu_v2_8",
         .replicas = 8},
        further_steps);
}

TEST_CASE("Up to four steps are all simulated", "[train]") {
    const Program program{.file = tests::donated()};
    for (std::uint64_t steps = 1; steps <= 4; ++steps) {
        const run::RunRecord record = timed(program, steps, 1);
        CHECK(record.training->timed_steps == steps);
        CHECK(record.training->cycles == record.cycles);
        CHECK(record.cycles == cycles_of_run(program, steps));
        if (steps == 1) CHECK(record.training->cycles_a_step == record.cycles);
    }
    CHECK(timed(program, 1, 1).cycles < timed(program, 2, 1).cycles);
}

TEST_CASE("The timed record keeps what was trained, and has no values", "[train]") {
    train::Order order;
    order.step = tests::spec_of(tests::donated());
    order.step.data.random_input = 1;
    run::Training training;
    training.steps_an_epoch = 5;
    training.epochs = 2;
    training.columns = {"loss"};
    training.steps = {{1.5}, {2.5}};
    training.by_epoch = {{.means = {2.0}, .evaluated = 0.5}};
    const run::RunRecord record = train::time_steps(order, 1, training);
    CHECK(record.spec.timing_only);
    CHECK(record.training->columns == training.columns);
    CHECK(record.training->steps == training.steps);
    CHECK(record.training->by_epoch == training.by_epoch);
    CHECK(record.answers.output_arrays.empty());
}
