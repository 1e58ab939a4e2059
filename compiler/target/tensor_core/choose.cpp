#include "compiler/target/tensor_core/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/arithmetic.h"
#include "compiler/ir/model_error.h"
#include "compiler/target/tensor_core/emit.h"
#include "compiler/target/tensor_core/memory.h"
#include "compiler/target/tensor_core/predict.h"
#include "hw/timing/tensor.h"

namespace systole::tensor_core {
namespace {

/// Fewer instructions for two groups of images are predicted again, for more groups.
constexpr std::size_t short_program = 5000;
constexpr std::uint64_t most_groups = 16;

/// Mappings with segments that are predicted.
constexpr std::size_t most_segmented = 2;
/// Mappings that are predicted with other shares of vector memory.
constexpr std::size_t most_with_shares = 2;

/// Steps of one layer that follow each other, by their first one. Segments consist of whole runs.
std::vector<std::uint32_t> layer_runs(const Network& network) {
    std::vector<std::uint32_t> runs;
    for (std::uint32_t i = 0; i < network.steps.size(); ++i) {
        if (i == 0 || network.steps[i].layer != network.steps[i - 1].layer) runs.push_back(i);
    }
    return runs;
}

struct Segmented {
    std::vector<Segment> segments;
    Cycle cycles = 0;  ///< about
};

/// Before each run, what it takes at most to write all tensors that live there to high-bandwidth memory and
/// to read them, for so many images.
std::vector<Cycle> cycles_at_borders(const Network& network, const machine::MachineConfig& machine,
                                     std::uint64_t images) {
    std::vector<Cycle> cycles;
    for (const std::uint32_t run : layer_runs(network)) {
        std::uint64_t rows = 0;
        for (const Tensor& tensor : network.tensors) {
            if (tensor.is_shared || tensor.is_moved || tensor.first >= run || tensor.last < run) continue;
            rows += tensor.memory_rows(tensor.rows) *
                    divide_up(tensor.columns, std::uint64_t{machine.vector_unit.lanes});
        }
        cycles.push_back(timing::hbm_cycles(2 * rows * images * machine.vector_row_bytes(), machine));
    }
    return cycles;
}

MemoryPlan place(Network& network, const machine::MachineConfig& machine, const Mapping& mapping,
                 const mapping::Batches& batches, bool with_constants) {
    network.images = mapping.images;
    network.segments = mapping.segments;
    network.least_tiles = mapping.least_tiles;
    network.room_by_step = mapping.room_by_step;
    return place_tensors(network, machine,
                         {.kept_share = mapping.kept_share,
                          .alternates = mapping.images < batches.inferences,
                          .constants = with_constants});
}

/// Batches of a core as those of all cores, which have equal parts.
mapping::Batches of_all_cores(const mapping::Batches& of_core, const machine::MachineConfig& machine) {
    return {.batch = of_core.batch * machine.cores(), .inferences = of_core.inferences * machine.cores()};
}

/// The part of a core.
mapping::Batches of_core(const mapping::Batches& all, const machine::MachineConfig& machine) {
    const std::uint64_t cores = machine.cores();
    const std::uint64_t last = all.inferences % all.batch;
    const std::uint64_t batch = divide_up(std::uint64_t{all.batch}, cores);
    return {.batch = static_cast<std::uint32_t>(batch),
            .inferences = all.inferences / all.batch * batch + divide_up(last, cores)};
}

/// Predicts mappings of a core's part of the batches, and looks for faster ones near the fastest.
class MappingSearch {
public:
    MappingSearch(Network& network, const machine::MachineConfig& machine, const mapping::Batches& batches)
        : network_(network), machine_(machine), batches_(batches) {}

    const MappedProgram& find() {
        predict_uniform();
        if (!best_) throw ModelError(*failed_);
        predict_segmented();
        for (const Mapping& mapping : fastest(most_with_shares)) predict_shares(mapping);
        predict_tiles();
        return *best_;
    }
    /// What the fastest one takes for a batch.
    Cycle cycles() const { return of_batch(*best_); }
    std::vector<ChosenMapping::Alternative> alternatives() const {
        std::vector<ChosenMapping::Alternative> all;
        for (const MappedProgram& each : made_) all.push_back({each.mapping, of_batch(each)});
        return all;
    }

private:
    /// What the images of a batch take, of which a program may have fewer. With state, the first batch takes
    /// longer than the others.
    Cycle of_batch(const MappedProgram& made) const {
        if (has_state()) return made.of_next_group;
        const std::uint64_t emitted = divide_up(made.batches.inferences, made.mapping.images);
        return made.cycles + (groups_of(made) - emitted) * made.of_next_group;
    }
    /// Cycles of a batch, and a hundredth of those in which memory is busy: what moves costs energy also
    /// where the array hides it.
    double cost(const MappedProgram& made) const {
        constexpr double part = 0.01;
        const double busy = static_cast<double>(made.memory_cycles) / static_cast<double>(made.cycles);
        return static_cast<double>(of_batch(made)) * (1 + part * busy);
    }
    bool has_state() const { return !network_.state.empty(); }
    bool has_caches() const { return !network_.caches.empty(); }
    /// So many images go through all steps together. Caches are there for all images of a batch from the
    /// beginning to the end.
    std::optional<Mapping> uniform(std::uint64_t images) const {
        if (!has_caches() || images == batches_.batch) return Mapping{.images = images};
        if (batches_.batch % images != 0) return std::nullopt;
        const auto end = static_cast<std::uint32_t>(network_.steps.size());
        return Mapping{.images = batches_.batch, .segments = {{.first = 0, .end = end, .images = images}}};
    }
    std::uint64_t groups_of(const MappedProgram& made) const {
        return divide_up(std::uint64_t{batches_.batch}, made.mapping.images);
    }

    /// It is the best one if it takes fewer cycles than the best one before, by `gain` at least.
    bool predict_mapping(const Mapping& mapping, Cycle gain = 0) {
        const auto same = [&](const MappedProgram& each) { return each.mapping == mapping; };
        if (std::ranges::any_of(made_, same)) return false;
        const auto map_groups = [&](std::uint64_t groups) {
            if (has_state()) {
                // Also of a single step, at the cost of room for a second one's inputs: so all runs of a
                // program have one mapping, however many steps they have.
                return map_program(
                    network_, machine_, mapping,
                    of_all_cores({.batch = batches_.batch, .inferences = groups * batches_.batch}, machine_));
            }
            const auto images =
                static_cast<std::uint32_t>(std::min<std::uint64_t>(batches_.batch, groups * mapping.images));
            return map_program(network_, machine_, mapping,
                               of_all_cores({.batch = images, .inferences = images}, machine_));
        };
        try {
            // Two groups of images, of which one comes in while the other is worked on; more of short ones.
            MappedProgram made = map_groups(2);
            if (made.batches.batch < batches_.batch && made.program.instructions.size() < short_program)
                made = map_groups(most_groups);
            // Only the best one's program is needed again.
            made_.push_back({.mapping = mapping,
                             .program = {},
                             .batches = made.batches,
                             .cycles = made.cycles,
                             .of_next_group = made.of_next_group,
                             .memory_cycles = made.memory_cycles,
                             .by_run = made.by_run});
            if (!best_ || cost(made) + static_cast<double>(gain) < cost(*best_)) best_ = std::move(made);
            return true;
        } catch (const ModelError& error) {
            if (!failed_) failed_ = error;
            return false;
        }
    }

    /// From few images to many, until two numbers in a row are clearly slower than the best one.
    void predict_uniform() {
        std::set<std::uint64_t> numbers;
        for (std::uint64_t parts = 1; parts <= batches_.batch; parts *= 2)
            numbers.insert(divide_up(std::uint64_t{batches_.batch}, parts));
        int slower = 0;
        for (const std::uint64_t images : numbers) {
            const std::optional<Mapping> mapping = uniform(images);
            if (!mapping) continue;
            // With other rows for tiles, or all of them, there may be room.
            Mapping by_step = *mapping;
            by_step.room_by_step = true;
            Mapping moving = *mapping;
            moving.kept_share = 0;
            if (!predict_mapping(*mapping) && !predict_mapping(by_step) && !predict_mapping(moving)) continue;
            const bool is_slower = of_batch(made_.back()) > of_batch(*best_) + of_batch(*best_) / 4;
            slower = is_slower ? slower + 1 : 0;
            if (slower == 2) break;
        }
    }

    /// Most layers like few images, whose tensors stay, or many, for which weights come in once.
    void predict_segmented() {
        if (network_.steps.empty() || has_caches()) return;
        std::vector<std::pair<Cycle, Mapping>> segmented;
        const std::vector<Cycle> borders = cycles_at_borders(network_, machine_, batches_.batch);
        for (const MappedProgram& each : made_) {
            Segmented cheapest = cheapest_segments(each.mapping.images, borders);
            if (cheapest.segments.size() < 2) continue;
            segmented.emplace_back(cheapest.cycles, Mapping{.images = each.mapping.images,
                                                            .segments = std::move(cheapest.segments)});
        }
        std::ranges::sort(segmented, {}, &std::pair<Cycle, Mapping>::first);
        if (segmented.size() > most_segmented) segmented.resize(most_segmented);
        for (const auto& [cycles, mapping] : segmented) predict_mapping(mapping);
    }

    /// The mappings with the fewest predicted cycles.
    std::vector<Mapping> fastest(std::size_t count) const {
        std::vector<std::pair<Cycle, const Mapping*>> all;
        all.reserve(made_.size());
        for (const MappedProgram& each : made_) all.emplace_back(of_batch(each), &each.mapping);
        std::ranges::stable_sort(all, {}, &std::pair<Cycle, const Mapping*>::first);
        if (all.size() > count) all.resize(count);
        std::vector<Mapping> mappings;
        mappings.reserve(all.size());
        for (const auto& [cycles, mapping] : all) mappings.push_back(*mapping);
        return mappings;
    }

    /// More for tensors that stay, or more for tiles, as long as that is faster.
    void predict_shares(Mapping mapping) {
        if (std::ranges::none_of(network_.tensors, &Tensor::may_stay)) return;
        for (const auto& shares : {std::array{0.85, 0.95}, std::array{0.55, 0.35}}) {
            for (const double share : shares) {
                mapping.kept_share = share;
                if (!predict_mapping(mapping) || best_->mapping != mapping) break;
            }
        }
    }

    /// Tiles of other sizes, where that is faster by more than predictions are off.
    void predict_tiles() {
        constexpr Cycle parts = 50;
        Mapping mapping = best_->mapping;
        for (const bool by_step : {mapping.room_by_step, !mapping.room_by_step}) {
            mapping.room_by_step = by_step;
            Cycle least = std::numeric_limits<Cycle>::max();
            for (const std::uint64_t tiles : {1U, 2U, 4U, 8U}) {
                mapping.least_tiles = tiles;
                predict_mapping(mapping, of_batch(*best_) / parts);
                const auto found = std::ranges::find(made_, mapping, &MappedProgram::mapping);
                if (found == made_.end() || of_batch(*found) >= least) break;
                least = of_batch(*found);
            }
        }
    }

    /// For each run, the cheapest number of images, of those that divide `images`; runs with the same number
    /// are one segment. A change of the number costs `border_cycles` before each run.
    Segmented cheapest_segments(std::uint64_t images, const std::vector<Cycle>& border_cycles) const {
        const std::vector<std::uint32_t> runs = layer_runs(network_);
        std::vector<const MappedProgram*> usable;
        for (const MappedProgram& each : made_) {
            if (images % each.mapping.images == 0) usable.push_back(&each);
        }
        constexpr Cycle never = std::numeric_limits<Cycle>::max() / 2;
        std::vector<std::vector<Cycle>> costs(runs.size(), std::vector<Cycle>(usable.size(), never));
        std::vector<std::vector<std::size_t>> before(runs.size(), std::vector<std::size_t>(usable.size()));
        for (std::size_t run = 0; run < runs.size(); ++run) {
            for (std::size_t here = 0; here < usable.size(); ++here) {
                const Cycle own = usable[here]->by_run[run] * groups_of(*usable[here]);
                if (run == 0) {
                    costs[run][here] = own;
                    continue;
                }
                for (std::size_t from = 0; from < usable.size(); ++from) {
                    const Cycle change = from == here ? 0 : border_cycles[run];
                    const Cycle all = costs[run - 1][from] + change + own;
                    if (all >= costs[run][here]) continue;
                    costs[run][here] = all;
                    before[run][here] = from;
                }
            }
        }
        std::vector<std::size_t> chosen(runs.size());
        chosen.back() =
            static_cast<std::size_t>(std::ranges::min_element(costs.back()) - costs.back().begin());
        for (std::size_t run = runs.size() - 1; run > 0; --run) chosen[run - 1] = before[run][chosen[run]];
        Segmented made{.segments = {}, .cycles = std::ranges::min(costs.back())};
        std::vector<Segment>& segments = made.segments;
        for (std::size_t run = 0; run < runs.size(); ++run) {
            const std::uint64_t count = usable[chosen[run]]->mapping.images;
            const std::uint32_t end =
                run + 1 < runs.size() ? runs[run + 1] : static_cast<std::uint32_t>(network_.steps.size());
            if (!segments.empty() && segments.back().images == count) {
                segments.back().end = end;
            } else {
                segments.push_back({.first = runs[run], .end = end, .images = count});
            }
        }
        return made;
    }

    Network& network_;
    const machine::MachineConfig& machine_;
    const mapping::Batches batches_;
    std::vector<MappedProgram> made_;  ///< without programs
    std::optional<MappedProgram> best_;
    std::optional<ModelError> failed_;
};

}  // namespace

std::string to_text(const Mapping& mapping, const Network& network) {
    std::string text;
    if (mapping.segments.size() > 1) {
        for (const Segment& segment : mapping.segments) {
            text += fmt::format("{} from {}, ", segment.images,
                                network.layers[network.steps[segment.first].layer].name);
        }
    }
    text += fmt::format("{:.0f} % kept{}", mapping.kept_share * 100, mapping.room_by_step ? " by step" : "");
    return mapping.least_tiles == 1 ? text : text + fmt::format(", {} tiles", mapping.least_tiles);
}

MappedProgram map_program(Network& network, const machine::MachineConfig& machine, const Mapping& mapping,
                          const mapping::Batches& batches, bool with_constants) {
    MappedProgram made{.mapping = mapping, .program = {}, .batches = of_core(batches, machine)};
    MemoryPlan plan = place(network, machine, mapping, made.batches, with_constants);
    made.program = emit_program(network, std::move(plan), machine, batches);
    const Prediction predicted = predict(made.program, machine);
    made.cycles = predicted.cycles;
    made.memory_cycles = predicted.memory_cycles;
    const std::size_t runs = layer_runs(network).size();
    made.by_run.resize(runs);
    std::size_t run = 0;
    Cycle ended = 0;
    std::vector<Cycle> group_ends;
    for (const TaggedCycles& part : predicted.parts) {
        ended += part.cycles;
        if (part.tag == 0) continue;
        made.by_run[run++ % runs] = part.cycles;
        if (run % runs == 0) group_ends.push_back(ended);
    }
    const std::size_t between = group_ends.empty() ? 0 : group_ends.size() - 1;
    made.of_next_group = between == 0 ? made.cycles : (group_ends.back() - group_ends.front()) / between;
    return made;
}

ChosenMapping choose_mapping(Network& network, const machine::MachineConfig& machine,
                             const mapping::Batches& batches) {
    const mapping::Batches own = of_core(batches, machine);
    MappingSearch search(network, machine, own);
    const MappedProgram& best = search.find();
    ChosenMapping chosen{.program = {},
                         .mapping = best.mapping,
                         .cycles = search.cycles(),
                         .alternatives = search.alternatives()};
    MemoryPlan plan = place(network, machine, best.mapping, own, true);
    if (of_all_cores(best.batches, machine) == batches) {
        chosen.program = best.program;
        chosen.program.initial[isa::MemoryId::Hbm] = std::move(plan.constants);
    } else {
        chosen.program = emit_program(network, std::move(plan), machine, batches);
    }
    return chosen;
}

}  // namespace systole::tensor_core
