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
#include "hw/core/core.h"
#include "hw/isa/operands.h"
#include "hw/isa/program_error.h"
#include "hw/isa/registers.h"
#include "hw/timing/matrix_unit.h"
#include "sim/run/baselines/baseline.h"
#include "sim/run/execute/batch_recorder.h"
#include "sim/run/execute/segment_host.h"

namespace systole::run {
namespace {

/// The part that is simulated first has an eighth of the steps (decision 044).
constexpr std::uint64_t part_share = 8;
/// A mapping that takes an eighth more cycles for that part is ruled out.
constexpr Cycle clear_share = 8;

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

/// The inferences of a run that are simulated: all, some batches, or a part of one batch.
struct Sample {
    schedule::Options options;
    bool has_all = true;
};

/// The part of a run of so many steps that takes at most `most`.
Sample sample_of(schedule::Options options, std::uint64_t steps, std::uint64_t most) {
    if (steps <= most) return {.options = options};
    options.batch = static_cast<std::uint32_t>(std::min<std::uint64_t>(options.batch, options.inferences));
    const std::uint64_t batches = divide_up(options.inferences, std::uint64_t{options.batch});
    // Of two batches or more, the last ones show the interval of the others.
    if (const std::uint64_t some = most * batches / steps; some >= 2) {
        options.inferences = some * options.batch;
        return {.options = options, .has_all = false};
    }
    const std::uint64_t images =
        std::clamp<std::uint64_t>(options.inferences * most / steps, 1, options.batch);
    const bool has_all = images == options.inferences;
    return {.options = {.batch = static_cast<std::uint32_t>(images), .inferences = images},
            .has_all = has_all};
}

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

/// The program of a mapping for a sample of the run, without the values of weights.
isa::Program program_of(const ScheduledNetwork& scheduled, const Sample& sample) {
    const mapping::Network network = without_weights(scheduled.network);
    if (scheduled.schedule.options == sample.options) return emit::emit_program(network, scheduled.schedule);
    return emit::compile(network, scheduled.schedule.target, sample.options);
}

/// Simulates programs of a network on a run's machine.
class Simulator {
public:
    Simulator(const RunSpec& spec, std::uint64_t inferences)
        : machine_(spec.machine), inferences_(inferences) {
        machine_.matrix_unit.engine = machine::Engine::Wavefront;  // the engines have the same cycles
        if (spec.host) host_ = baselines::read_baseline(nlohmann::json(*spec.host), "host");
    }

    /// The cycles of all inferences by a program of a sample of them. Where the array passes alone take
    /// `limit` cycles or more, these are all that is found out. Throws ProgramError if the machine cannot run
    /// the program.
    MappingAlternative compare(std::string_view name, const isa::Program& program, Cycle limit) const {
        timing::check_formats(program, machine_);
        const Cycle passes = share(array_cycles(program, machine_), inferences_, program.inferences);
        if (passes >= limit) return {.name = name, .cycles = passes, .simulated = 0};
        return {.name = name, .cycles = cycles(program), .simulated = program.inferences};
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
        const std::uint64_t others = inferences_ - program.inferences;
        BatchRecorder recorder;
        hw::Core core("compared", machine_, program,
                      {.values = hw::Values::TimingOnly,
                       .host_trace = others > 0 ? &recorder : nullptr,
                       .host = host ? &*host : nullptr,
                       .test_delta_delay = {},
                       .value_threads = 0});
        core.run();
        if (others == 0) return core.cycles();
        const std::optional<Interval> interval = interval_of(recorder.batches(program, core.cycles()));
        if (!interval) return share(core.cycles(), inferences_, program.inferences);
        return core.cycles() + share(interval->cycles, others, interval->batches * program.batch);
    }

    machine::MachineConfig machine_;
    const std::uint64_t inferences_;
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

/// Compares whole mappings of a network for a run.
class Comparison {
public:
    /// `compiled` has the schedule and the program of the run's own mapping. All must outlive the comparison.
    Comparison(const mapping::Network& network, const RunSpec& spec, const schedule::Options& options,
               const ComparisonSteps& steps, CompiledNetwork& compiled)
        : network_(network),
          spec_(spec),
          options_(options),
          compiled_(compiled),
          simulator_(spec, options.inferences) {
        const std::uint64_t all = steps_of(compiled.scheduled.schedule);
        const std::uint64_t part = std::max(steps.part, std::min(all, steps.most) / part_share);
        part_ = sample_of(options, all, part);
        most_ = sample_of(options, all, steps.most);
    }

    /// Takes a simpler mapping if it takes fewer cycles.
    void take_fewest_cycles() {
        MappingAlternative own;
        try {
            own = compare_own(part_);
        } catch (const isa::ProgramError&) {
            return;  // the machine cannot run it, as the run itself will say
        }
        compiled_.alternatives = {own};
        in_part_ = own.cycles;
        for (const auto& [name, mapping] : simpler_mappings(spec_.compiler.mapping)) {
            RunSpec other = spec_;
            other.compiler.mapping = mapping;
            try {
                compare_with(name, other);
            } catch (const ModelError&) {
                // An image does not fit without what the others save.
            } catch (const isa::ProgramError&) {
                // The machine cannot run it.
            }
        }
    }

private:
    static constexpr Cycle unlimited = ~Cycle{0};

    MappingAlternative compare_own(const Sample& sample) const {
        if (sample.has_all) return simulator_.compare("best", compiled_.program, unlimited);
        return compare("best", compiled_.scheduled, sample, unlimited);
    }

    MappingAlternative compare(std::string_view name, const ScheduledNetwork& scheduled, const Sample& sample,
                               Cycle limit) const {
        return simulator_.compare(name, program_of(scheduled, sample), limit);
    }

    void compare_with(std::string_view name, const RunSpec& other) {
        ScheduledNetwork scheduled = schedule_of(network_, other, part_.options);
        if (!part_.has_all) {
            const Cycle limit = saturating_sum(in_part_, in_part_ / clear_share);
            const MappingAlternative in_part = compare(name, scheduled, part_, limit);
            if (in_part.cycles >= limit) {
                compiled_.alternatives.push_back(in_part);
                return;
            }
        }
        const MappingAlternative alternative = compare(name, scheduled, most_, fewest());
        compiled_.alternatives.push_back(alternative);
        if (alternative.cycles >= fewest()) return;
        fewest_ = alternative.cycles;
        compiled_.chosen = compiled_.alternatives.size() - 1;
        if (!part_.has_all) scheduled = schedule_of(network_, other, options_);
        compiled_.scheduled = std::move(scheduled);
    }

    /// The cycles of the best mapping so far.
    Cycle fewest() {
        if (!fewest_) {  // so the run's own mapping is still the best
            if (!part_.has_all) {
                compiled_.alternatives.front() = compare_own(most_);
            }
            fewest_ = compiled_.alternatives.front().cycles;
        }
        return *fewest_;
    }

    const mapping::Network& network_;
    const RunSpec& spec_;
    const schedule::Options& options_;
    CompiledNetwork& compiled_;
    const Simulator simulator_;
    Sample part_;
    Sample most_;
    Cycle in_part_ = 0;  ///< of the run's own mapping, by the part
    std::optional<Cycle> fewest_;
};

}  // namespace

CompiledNetwork compile(mapping::Network network, const RunSpec& spec, const schedule::Options& options,
                        const ComparisonSteps& steps) {
    CompiledNetwork compiled;
    const mapping::Network whole = network;  // shares the weights
    compiled.scheduled = schedule_of(std::move(network), spec, options);
    const auto emit = [&] {
        return emit::emit_program(compiled.scheduled.network, compiled.scheduled.schedule);
    };
    compiled.program = emit();
    if (spec.compiler.mapping.compare) {
        Comparison(whole, spec, options, steps, compiled).take_fewest_cycles();
        if (compiled.chosen > 0) compiled.program = emit();
    }
    return compiled;
}

std::string to_text(const CompiledNetwork& compiled) {
    if (compiled.alternatives.size() < 2) return {};
    std::string text = "all inferences, by the mapping of the whole network\n";
    const std::uint64_t all = compiled.scheduled.schedule.options.inferences;
    for (const MappingAlternative& alternative : compiled.alternatives) {
        const bool chosen = &alternative == &compiled.alternatives[compiled.chosen];
        const std::string what = alternative.simulated == 0 ? ", in the array alone"
                                 : alternative.simulated == all
                                     ? ""
                                     : fmt::format(", from {} inferences", alternative.simulated);
        text += fmt::format("  {:>22} cycles  {}{}{}\n", alternative.cycles, alternative.name, what,
                            chosen ? "  chosen" : "");
    }
    return text;
}

}  // namespace systole::run
