#include "compiler/target/tpu_v1/choose/compare_mappings.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/arithmetic.h"
#include "compiler/ir/model_error.h"
#include "compiler/target/tpu_v1/emit/emit_program.h"
#include "compiler/target/tpu_v1/schedule/operation.h"
#include "compiler/target/tpu_v1/schedule/schedule.h"
#include "hw/isa/operands.h"
#include "hw/isa/program_error.h"
#include "hw/isa/registers.h"
#include "hw/timing/matrix_unit.h"

namespace systole::tpu_v1 {
namespace {

/// The part that is simulated first has an eighth of the steps (decision 044).
constexpr std::uint64_t part_share = 8;
/// A mapping that takes an eighth more cycles for that part is ruled out.
constexpr Cycle clear_share = 8;

/// The network without the values of weights and the graphs of the host, on which no cycle depends.
Network without_weights(Network network) {
    network.has_weights = false;
    for (Layer& layer : network.layers) {
        if (auto* const product = std::get_if<MatrixProduct>(&layer.work)) product->weights = {};
        if (auto* const segment = std::get_if<HostSegment>(&layer.work)) segment->graph = nullptr;
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
std::uint64_t steps_of(const Schedule& schedule) {
    std::uint64_t steps = schedule.operations.size();
    for (const Operation& operation : schedule.operations) {
        std::visit(
            [&]<typename Work>(const Work& work) {
                if constexpr (std::is_base_of_v<MatrixWork, Work>) steps += work.tiles;
            },
            operation);
    }
    return steps;
}

/// The inferences of a run that are simulated: all, some batches, or a part of one batch.
struct Sample {
    mapping::Batches batches;
    bool has_all = true;
};

/// The part of a run of so many steps that takes at most `most`.
Sample sample_of(mapping::Batches batches, std::uint64_t steps, std::uint64_t most) {
    if (steps <= most) return {.batches = batches};
    batches.batch = static_cast<std::uint32_t>(std::min<std::uint64_t>(batches.batch, batches.inferences));
    const std::uint64_t count = divide_up(batches.inferences, std::uint64_t{batches.batch});
    // Of two batches or more, the last ones show the interval of the others.
    if (const std::uint64_t some = most * count / steps; some >= 2) {
        batches.inferences = some * batches.batch;
        return {.batches = batches, .has_all = false};
    }
    const std::uint64_t images =
        std::clamp<std::uint64_t>(batches.inferences * most / steps, 1, batches.batch);
    const bool has_all = images == batches.inferences;
    return {.batches = {.batch = static_cast<std::uint32_t>(images), .inferences = images},
            .has_all = has_all};
}

/// The program of a scheduled network for a sample of the run, without the values of weights.
isa::Program program_of(const ScheduledNetwork& scheduled, const Sample& sample) {
    const Network network = without_weights(scheduled.mapped.analysed.network());
    if (scheduled.schedule.batches == sample.batches) {
        return emit_program(network, scheduled.schedule);
    }
    return compile(network, scheduled.mapped.target, sample.batches);
}

/// The names of a mapping's alternatives, and their choices: those that are not of the mapping's name stay.
std::vector<std::pair<std::string_view, machine::Mapping>> simpler_mappings(const machine::Mapping& mapping) {
    using machine::MappingName;
    std::vector<std::pair<std::string_view, machine::Mapping>> simpler;
    for (const MappingName name : {MappingName::AsPublished, MappingName::Plain}) {
        machine::Mapping other = mapping_named(name, mapping.overlap_transfers);
        other.order = mapping.order;
        simpler.emplace_back(names_of(name).at(static_cast<std::size_t>(name)), other);
    }
    return simpler;
}

/// Compares whole mappings of a network for a run.
class MappingComparison {
public:
    /// All must outlive the comparison.
    MappingComparison(const Network& network, const Target& target, const mapping::Options& options,
                      const ScheduledNetwork& own, const isa::Program& program)
        : network_(network), target_(target), options_(options), own_(own), program_(program) {
        const std::uint64_t all = steps_of(own.schedule);
        const mapping::ComparisonSteps& steps = options.comparison;
        const std::uint64_t part = std::max(steps.part, std::min(all, steps.most) / part_share);
        part_ = sample_of(options.batches, all, part);
        most_ = sample_of(options.batches, all, steps.most);
    }

    /// Takes a simpler mapping if it takes fewer cycles.
    ComparedMappings take_fewest_cycles() && {
        mapping::WholeMapping own;
        try {
            own = compare_own(part_);
        } catch (const isa::ProgramError&) {
            return {};  // the machine cannot run it, as the run itself will say
        }
        compared_.alternatives = {own};
        in_part_ = own.cycles;
        for (const auto& [name, mapping] : simpler_mappings(target_.mapping)) {
            try {
                compare_with(name, mapping);
            } catch (const ModelError&) {
                // An image does not fit without what the others save.
            } catch (const isa::ProgramError&) {
                // The machine cannot run it.
            }
        }
        return std::move(compared_);
    }

private:
    static constexpr Cycle unlimited = ~Cycle{0};

    /// The cycles of all inferences by a program of a sample of them. Where the array passes alone take
    /// `limit` cycles or more, these are all that is found out. Throws ProgramError if the machine cannot run
    /// the program.
    mapping::WholeMapping compare(std::string_view name, const isa::Program& program, Cycle limit) const {
        const machine::MachineConfig& machine = target_.costs->machine;
        timing::check_formats(program, machine);
        const std::uint64_t all = options_.batches.inferences;
        const Cycle passes =
            to_64_bits(multiply_divide_up(array_cycles(program, machine), all, program.inferences),
                       "inferences take more than 64 bits of cycles");
        if (passes >= limit) return {.name = std::string(name), .cycles = passes, .simulated = 0};
        return {.name = std::string(name),
                .cycles = options_.simulate(program, all),
                .simulated = program.inferences};
    }

    mapping::WholeMapping compare_own(const Sample& sample) const {
        return compare("best", sample.has_all ? program_ : program_of(own_, sample), unlimited);
    }

    void compare_with(std::string_view name, const machine::Mapping& mapping) {
        Target target = target_;
        target.mapping = mapping;
        ScheduledNetwork scheduled = schedule_network(network_, target, part_.batches);
        if (!part_.has_all) {
            const Cycle limit = saturating_sum(in_part_, in_part_ / clear_share);
            const mapping::WholeMapping in_part = compare(name, program_of(scheduled, part_), limit);
            if (in_part.cycles >= limit) {
                compared_.alternatives.push_back(in_part);
                return;
            }
        }
        const Cycle limit = fewest();
        const mapping::WholeMapping alternative = compare(name, program_of(scheduled, most_), limit);
        compared_.alternatives.push_back(alternative);
        if (alternative.cycles >= limit) return;
        fewest_ = alternative.cycles;
        compared_.chosen = compared_.alternatives.size() - 1;
        if (!part_.has_all) scheduled = schedule_network(network_, target, options_.batches);
        compared_.better = std::move(scheduled);
    }

    /// The cycles of the best mapping so far.
    Cycle fewest() {
        if (!fewest_) {  // so the run's own mapping is still the best
            if (!part_.has_all) compared_.alternatives.front() = compare_own(most_);
            fewest_ = compared_.alternatives.front().cycles;
        }
        return *fewest_;
    }

    const Network& network_;
    const Target& target_;
    const mapping::Options& options_;
    const ScheduledNetwork& own_;
    const isa::Program& program_;
    Sample part_;
    Sample most_;
    Cycle in_part_ = 0;  ///< of the run's own mapping, by the part
    std::optional<Cycle> fewest_;
    ComparedMappings compared_;
};

}  // namespace

ComparedMappings compare_mappings(const Network& network, const Target& target,
                                  const mapping::Options& options, const ScheduledNetwork& own,
                                  const isa::Program& program) {
    return MappingComparison(network, target, options, own, program).take_fewest_cycles();
}

}  // namespace systole::tpu_v1
