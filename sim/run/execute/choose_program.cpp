#include "sim/run/execute/choose_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "compiler/emit/compile.h"
#include "compiler/ir/model_error.h"
#include "compiler/schedule/operation.h"
#include "compiler/schedule/schedule.h"
#include "hw/base/arithmetic.h"
#include "hw/common/fresh_simulation.h"
#include "hw/common/own_stack.h"
#include "hw/core/core.h"
#include "hw/isa/operands.h"
#include "hw/isa/program_error.h"
#include "hw/isa/registers.h"
#include "hw/timing/matrix_unit.h"
#include "sim/run/baselines/baseline.h"
#include "sim/run/execute/segment_host.h"

namespace systole::run {
namespace {

/// What is simulated of a mapping: so many tiles that are streamed against, and other work. A tenth of a
/// second.
constexpr std::uint64_t most_steps = 200'000;

/// The network without the values of weights, on which no cycle depends.
mapping::Network without_weights(mapping::Network network) {
    network.has_weights = false;
    for (mapping::Layer& layer : network.layers) {
        if (auto* const product = std::get_if<mapping::MatrixProduct>(&layer.work)) product->weights = {};
    }
    return network;
}

/// The cycles in which the array takes the program's rows, or the data setup collects them. No run of the
/// program takes fewer.
Cycle array_cycles(const isa::Program& program, const machine::MachineConfig& machine) {
    Cycle cycles = 0;
    isa::Registers registers;
    for (const isa::Instruction& instruction : program.instructions) {
        if (const auto* const set = std::get_if<isa::SetConfig>(&instruction)) {
            registers.set(set->reg, set->value);
        } else if (const auto* const multiply = std::get_if<isa::MatrixMultiply>(&instruction)) {
            const Cycle span = timing::stream_cost(instruction, registers, 0, machine).shape.span();
            cycles += (multiply->repeat + Cycle{1}) * span;
        } else if (const auto* const convolve = std::get_if<isa::Convolve>(&instruction)) {
            for (std::uint32_t r = 0; r <= convolve->repeat; ++r) {
                cycles += timing::stream_cost(instruction, registers, r, machine).shape.span();
            }
        }
    }
    return cycles;
}

/// Steps of a simulation, to which its time is about proportional.
std::uint64_t steps_of(const schedule::Schedule& schedule) {
    std::uint64_t steps = schedule.operations.size();
    for (const schedule::Operation& operation : schedule.operations) {
        std::visit(
            [&]<typename Work>(const Work& work) {
                if constexpr (std::is_base_of_v<schedule::MatrixWork, Work>) steps += work.tiles;
            },
            operation);
    }
    return steps;
}

/// The inferences of a run that are simulated for comparison: all, some batches, or a part of one batch.
struct Sample {
    schedule::Options options;
    std::uint64_t batches = 1;  ///< in which they go
    bool has_all = true;
};

Sample sample_of(schedule::Options options, std::uint64_t steps) {
    options.batch = static_cast<std::uint32_t>(std::min<std::uint64_t>(options.batch, options.inferences));
    const std::uint64_t batches = divide_up(options.inferences, std::uint64_t{options.batch});
    if (steps <= most_steps) return {.options = options, .batches = batches};
    // Of two batches or more, the last ones show the interval of the others.
    if (const std::uint64_t some = most_steps * batches / steps; some >= 2) {
        options.inferences = some * options.batch;
        return {.options = options, .batches = some, .has_all = false};
    }
    const std::uint64_t images =
        std::clamp<std::uint64_t>(options.inferences * most_steps / steps, 1, options.batch);
    return {.options = {.batch = static_cast<std::uint32_t>(images), .inferences = images}, .has_all = false};
}

/// Simulates mappings of a network on a run's machine.
class Simulator {
public:
    Simulator(const RunSpec& spec, std::uint64_t inferences, const Sample& sample)
        : machine_(spec.machine), inferences_(inferences), sample_(sample) {
        machine_.matrix_unit.engine = machine::Engine::Wavefront;  // the engines have the same cycles
        if (spec.host) host_ = baselines::read_baseline(nlohmann::json(*spec.host), "host");
    }

    /// Compares a mapping, scheduled for the sample. Where its array passes alone take `limit` cycles or
    /// more, these are all that is known of it.
    MappingAlternative compare(std::string_view name, const ScheduledNetwork& scheduled, Cycle limit) const {
        const mapping::Network network = without_weights(scheduled.network);
        const isa::Program program = emit::emit_program(network, scheduled.schedule);
        const std::uint64_t simulated = sample_.options.inferences;
        const std::uint64_t others = inferences_ - simulated;
        const Cycle passes = array_cycles(program, machine_);
        const Cycle all_passes = passes + share(passes, others, simulated);
        if (all_passes >= limit) return {.name = name, .cycles = all_passes, .simulated = false};
        const Cycle cycles = this->cycles(program);
        if (others == 0) return {.name = name, .cycles = cycles};
        schedule::Options first = sample_.options;
        first.inferences = sample_.batches / 2 * first.batch;
        Cycle behind = cycles;  // what the other inferences take
        if (first.inferences > 0) {
            const Cycle of_first = this->cycles(emit::compile(network, scheduled.schedule.target, first));
            behind -= std::min(of_first, cycles);
        }
        return {.name = name, .cycles = cycles + share(behind, others, simulated - first.inferences)};
    }

private:
    /// The cycles of `wanted` inferences, of which `given` take `cycles`.
    static Cycle share(Cycle cycles, std::uint64_t wanted, std::uint64_t given) {
        return to_64_bits(multiply_divide_up(cycles, wanted, given),
                          "inferences take more than 64 bits of cycles");
    }

    Cycle cycles(const isa::Program& program) const {
        const hw::FreshSimulation simulation;
        std::optional<SegmentHost> host;
        if (host_ && isa::uses_host(program)) {
            host.emplace(program, *host_, static_cast<double>(machine_.clock_hz()), false);
        }
        hw::Core core(
            "compared", machine_, program,
            {.values = hw::Values::TimingOnly, .host = host ? &*host : nullptr, .test_delta_delay = {}});
        core.run();
        hw::return_to_own_stack();
        return core.cycles();
    }

    machine::MachineConfig machine_;
    const std::uint64_t inferences_;
    const Sample sample_;
    std::optional<baselines::Baseline> host_;
};

/// The names of a mapping's alternatives, and their choices: those that are not of the mapping's name stay.
std::vector<std::pair<std::string_view, Mapping>> simpler_mappings(const Mapping& mapping) {
    std::vector<std::pair<std::string_view, Mapping>> simpler;
    for (const MappingName name : {MappingName::AsPublished, MappingName::Plain}) {
        Mapping other = mapping_named(name, mapping.overlap_transfers);
        other.order = mapping.order;
        simpler.emplace_back(names_of(name).at(static_cast<std::size_t>(name)), other);
    }
    return simpler;
}

/// Takes a simpler mapping if it takes fewer cycles.
void take_fewest_cycles(CompiledNetwork& compiled, const mapping::Network& network, const RunSpec& spec,
                        const schedule::Options& options) {
    const Sample sample = sample_of(options, steps_of(compiled.scheduled.schedule));
    const Simulator simulator(spec, options.inferences, sample);
    const auto compare = [&](std::string_view name, const ScheduledNetwork& scheduled, Cycle limit) {
        compiled.alternatives.push_back(simulator.compare(name, scheduled, limit));
        return compiled.alternatives.back().cycles;
    };
    constexpr Cycle unlimited = ~Cycle{0};
    Cycle fewest = unlimited;
    try {
        fewest = sample.has_all ? compare("best", compiled.scheduled, unlimited)
                                : compare("best", schedule_of(network, spec, sample.options), unlimited);
    } catch (const isa::ProgramError&) {
        return;  // the machine cannot run it, as the run itself will say
    }
    RunSpec other = spec;
    for (const auto& [name, mapping] : simpler_mappings(spec.compiler.mapping)) {
        other.compiler.mapping = mapping;
        try {
            ScheduledNetwork scheduled = schedule_of(network, other, sample.options);
            const Cycle cycles = compare(name, scheduled, fewest);
            if (cycles >= fewest) continue;
            if (!sample.has_all) scheduled = schedule_of(network, other, options);
            compiled.scheduled = std::move(scheduled);
            compiled.chosen = compiled.alternatives.size() - 1;
            fewest = cycles;
        } catch (const ModelError&) {
            // An image does not fit without what the others save.
        }
    }
}

}  // namespace

CompiledNetwork compile(mapping::Network network, const RunSpec& spec, const schedule::Options& options) {
    CompiledNetwork compiled;
    const mapping::Network whole = network;  // shares the weights
    compiled.scheduled = schedule_of(std::move(network), spec, options);
    if (spec.compiler.mapping.compare) take_fewest_cycles(compiled, whole, spec, options);
    compiled.program = emit::emit_program(compiled.scheduled.network, compiled.scheduled.schedule);
    return compiled;
}

std::string to_text(const CompiledNetwork& compiled) {
    if (compiled.alternatives.size() < 2) return {};
    std::string text = "all inferences, by the mapping of the whole network\n";
    for (const MappingAlternative& alternative : compiled.alternatives) {
        const bool chosen = &alternative == &compiled.alternatives[compiled.chosen];
        text += fmt::format("  {:>22} cycles  {}{}{}\n", alternative.cycles, alternative.name,
                            alternative.simulated ? "" : ", in the array alone", chosen ? "  chosen" : "");
    }
    return text;
}

}  // namespace systole::run
