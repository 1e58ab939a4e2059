#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "sim/run/execute/process.h"
#include "sim/run/execute/run.h"
#include "sim/run/record/bytes.h"
#include "sim/study/train/train.h"

namespace systole::train {
namespace {

/// Enough steps for the pipeline to be full between the first and the last.
constexpr std::uint64_t timed_steps = 4;

/// A run of some steps, simulated beside others in a process of its own.
class StepsBeside {
public:
    StepsBeside(run::RunSpec spec, std::uint64_t inferences) {
        spec.compiler.limit = inferences;
        child_.start([&] { return run::to_bytes(run::run(spec)); });
    }

    run::RunRecord record() {
        const run::ChildAnswer answer = child_.answer();
        if (!answer.is_result) throw UserError(answer.bytes);
        return run::read_record(answer.bytes);
    }

private:
    run::ChildProcess child_;
};

}  // namespace

run::RunRecord time_steps(const Order& order, std::uint32_t replicas, run::Training training) {
    run::RunSpec spec = order.step;
    spec.state = order.file.state;
    spec.timing_only = true;
    spec.data = {};
    if (spec.feeding.example_us > 0.0 && spec.feeding.examples == 0) spec.feeding.examples = training.batch;
    const std::uint64_t steps = training.steps_an_epoch * training.epochs;
    training.timed_steps = std::min(steps, timed_steps);
    const std::uint64_t further = steps - training.timed_steps;
    StepsBeside all(spec, training.timed_steps * replicas);
    std::optional<StepsBeside> one_less;
    std::optional<StepsBeside> two_less;
    if (training.timed_steps > 1) one_less.emplace(spec, (training.timed_steps - 1) * replicas);
    if (further > 0) two_less.emplace(spec, (training.timed_steps - 2) * replicas);
    run::RunRecord record = all.record();
    training.cycles = record.cycles;
    training.cycles_a_step = record.cycles;
    if (one_less) {
        const Cycle of_one_less = one_less->record().cycles;
        training.cycles_a_step = record.cycles - of_one_less;
        if (two_less) {
            // State has two places, which steps take in turn: a step takes the cycles of the second one
            // before it.
            const Cycle of_two_less = two_less->record().cycles;
            const Cycle of_both = record.cycles - of_two_less;
            training.cycles_a_step = of_both / 2;
            training.cycles += further / 2 * of_both + further % 2 * (of_one_less - of_two_less);
        }
    }
    record.training = std::move(training);
    return record;
}

}  // namespace systole::train
