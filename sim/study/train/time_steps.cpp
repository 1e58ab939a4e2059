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
        const Cycle of_one_less = timed(training.timed_steps - 1).cycles;
        training.cycles_a_step = record.cycles - of_one_less;
        if (const std::uint64_t further = steps - training.timed_steps; further > 0) {
            // State has two places, which steps take in turn: a step takes the cycles of the second one
            // before it.
            const Cycle of_two_less = timed(training.timed_steps - 2).cycles;
            const Cycle of_both = record.cycles - of_two_less;
            training.cycles_a_step = of_both / 2;
            training.cycles += further / 2 * of_both + further % 2 * (of_one_less - of_two_less);
        }
    }
    record.training = std::move(training);
    return record;
}

}  // namespace systole::train
