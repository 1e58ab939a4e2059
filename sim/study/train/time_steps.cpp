#include <algorithm>
#include <utility>

#include "sim/run/execute/process.h"
#include "sim/run/execute/run.h"
#include "sim/run/record/bytes.h"
#include "sim/study/train/train.h"

namespace systole::train {
namespace {

/// Enough steps for the pipeline to be full between the first and the last.
constexpr std::uint64_t timed_steps = 4;

/// In a process of its own, as this one goes on to simulate steps.
run::RunRecord simulate(const run::RunSpec& spec) {
    run::ChildProcess child;
    const run::ChildAnswer answer = child.run([&] { return run::to_bytes(run::run(spec)); });
    if (!answer.is_result) throw UserError(answer.bytes);
    return run::read_record(answer.bytes);
}

}  // namespace

run::RunRecord time_steps(const Order& order, std::uint32_t replicas, run::Training training) {
    run::RunSpec spec = order.step;
    spec.state = order.file.state;
    spec.timing_only = true;
    spec.data = {};
    if (spec.feeding.example_us > 0.0 && spec.feeding.examples == 0) spec.feeding.examples = training.batch;
    const std::uint64_t steps = training.steps_an_epoch * training.epochs;
    training.timed_steps = std::min(steps, timed_steps);
    const auto timed = [&](std::uint64_t count) {
        spec.compiler.limit = count * replicas;
        return simulate(spec);
    };
    run::RunRecord record = timed(training.timed_steps);
    training.cycles = record.cycles;
    training.cycles_a_step = record.cycles;
    if (training.timed_steps > 1) {
        training.cycles_a_step = record.cycles - timed(training.timed_steps - 1).cycles;
        training.cycles += (steps - training.timed_steps) * training.cycles_a_step;
    }
    record.training = std::move(training);
    return record;
}

}  // namespace systole::train
