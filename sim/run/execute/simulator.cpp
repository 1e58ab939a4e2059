#include "sim/run/execute/simulator.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/arithmetic.h"
#include "hw/common/fresh_simulation.h"
#include "hw/isa/operands.h"
#include "hw/system/system.h"
#include "sim/run/baselines/baseline.h"
#include "sim/run/execute/batch_recorder.h"
#include "sim/run/execute/segment_host.h"

namespace systole::run {
namespace {

/// Cycles in which a batch follows the one before it, of batches in the middle: the first ones fill the chip,
/// and none follows the last.
struct Interval {
    Cycle cycles = 0;
    std::uint64_t batches = 0;  ///< that take these cycles
};

std::optional<Interval> interval_of(const std::vector<BatchTimes>& batches) {
    if (batches.size() < 2) return std::nullopt;
    const std::size_t last = std::max<std::size_t>(batches.size() - 2, 1);
    const std::size_t first = last / 2;
    if (batches[last].end < batches[first].end) return std::nullopt;
    return Interval{batches[last].end - batches[first].end, last - first};
}

/// The cycles of `wanted` inferences, of which `given` take `cycles`.
Cycle share(Cycle cycles, std::uint64_t wanted, std::uint64_t given) {
    return to_64_bits(multiply_divide_up(cycles, wanted, given),
                      "inferences take more than 64 bits of cycles");
}

}  // namespace

compiler::Simulate simulator_of(const RunSpec& spec) {
    machine::MachineConfig machine = spec.machine;
    machine.use_fast_engine();
    std::optional<baselines::Baseline> host_model;
    if (spec.host) host_model = baselines::read_baseline(nlohmann::json(*spec.host), "host");
    return [machine, host_model](const isa::Program& program, std::uint64_t inferences) {
        const hw::FreshSimulation simulation;
        std::optional<SegmentHost> host;
        if (host_model && isa::uses_host(program)) {
            host.emplace(program, *host_model, static_cast<double>(machine.clock_hz()), false);
        }
        const std::uint64_t others = inferences - program.inferences;
        BatchRecorder recorder;
        hw::System system("compared", machine, program,
                          {.values = hw::Values::TimingOnly,
                           .host_trace = others > 0 ? &recorder : nullptr,
                           .host = host ? &*host : nullptr,
                           .test_delta_delay = {},
                           .value_threads = 0});
        system.run();
        if (others == 0) return system.cycles();
        const std::optional<Interval> interval = interval_of(recorder.batches(program, system.cycles()));
        if (!interval) return share(system.cycles(), inferences, program.inferences);
        return system.cycles() + share(interval->cycles, others, interval->batches * program.batch);
    };
}

}  // namespace systole::run
