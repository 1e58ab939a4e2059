#include "compiler/target/tpu_v1/choose/choose_joins.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "compiler/schedule/row_allocation.h"
#include "compiler/target/tpu_v1/choose/choose_blocks.h"
#include "compiler/target/tpu_v1/cost/cost.h"
#include "compiler/target/tpu_v1/cost/layer_costs.h"
#include "compiler/target/tpu_v1/network/array_weights.h"
#include "compiler/target/tpu_v1/network/parallel_layers.h"
#include "compiler/target/tpu_v1/network/tensor_parts.h"
#include "compiler/target/tpu_v1/schedule/layer_plan.h"
#include "compiler/target/tpu_v1/schedule/memory_plan.h"

namespace systole::tpu_v1 {
namespace {

/// The most layers of which all ways to group them are compared: 52 ways for five.
constexpr std::size_t most_compared = 5;
/// The most layers of which each may join every group before it.
constexpr std::size_t most_in_any_group = 16;
/// Of more layers, each may join one of so many groups, the last that were begun, and no longer one with so
/// many layers: the comparison of a layer then takes no longer in a larger set.
constexpr std::size_t most_open_groups = 8;
constexpr std::size_t most_members = 256;

using Groups = std::vector<std::uint32_t>;
/// Positions of layers in their set.
using Members = std::vector<std::size_t>;

/// The layers of each group, in order.
std::vector<Members> members_of(const Groups& groups) {
    std::vector<Members> members;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (groups[i] >= members.size()) members.resize(groups[i] + std::size_t{1});
        members[groups[i]].push_back(i);
    }
    return members;
}

/// All ways to group `count` layers; each by itself first.
std::vector<Groups> all_groupings(std::size_t count) {
    std::vector<Groups> groupings{{}};
    for (std::size_t l = 0; l < count; ++l) {
        std::vector<Groups> longer;
        for (const Groups& grouping : groupings) {
            const auto groups = grouping.empty() ? 0 : *std::ranges::max_element(grouping) + 1;
            for (std::uint32_t group = groups + 1; group-- > 0;) {
                longer.push_back(grouping);
                longer.back().push_back(group);
            }
        }
        groupings = std::move(longer);
    }
    return groupings;
}

/// The costs of groups of the layers of one set.
class SetCosts {
public:
    SetCosts(const LayerCosts& costs, const std::vector<std::uint32_t>& layers, bool spilled)
        : costs_(costs), network_(costs.network()), layers_(layers), spilled_(spilled) {}

    /// Of the first layers of the set, as many as have a group; absent if a group has too many columns.
    std::optional<JoinAlternative> cost(Groups groups, std::uint32_t images, JoinBlocks blocks) {
        JoinAlternative alternative{.groups = std::move(groups)};
        const auto cost = cost_of(members_of(alternative.groups), images, blocks);
        if (!cost) return std::nullopt;
        alternative.tiles = cost->tiles;
        alternative.cycles = cost->cycles;
        return alternative;
    }

    struct Cost {
        std::uint64_t tiles = 0;
        Cycle cycles = 0;
    };
    /// Of these groups, one after the other; absent if one has too many columns.
    std::optional<Cost> cost_of(const std::vector<Members>& groups, std::uint32_t images, JoinBlocks blocks) {
        Cost cost;
        std::vector<const MappedProduct*> products;
        for (const Members& group : groups) {
            if (channels_of(group) > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
            std::vector<std::uint32_t> members;
            for (const std::size_t i : group) members.push_back(layers_[i]);
            const auto known = products_.find(members);
            const auto& of_group =
                known != products_.end()
                    ? known->second
                    : products_.emplace(members, fastest(members, images, blocks)).first->second;
            for (const MappedProduct& product : of_group) {
                cost.tiles += product.tiling.tiles;
                products.push_back(&product);
            }
        }
        cost.cycles = predicted_cycles(products, costs_.machine());
        return cost;
    }

    std::uint64_t channels_of(const Members& group) const {
        std::uint64_t channels = 0;
        for (const std::size_t i : group) {
            channels += network_.tensors[network_.layers[layers_[i]].output].shape.channels;
        }
        return channels;
    }
    const isa::Geometry& geometry() const { return costs_.target().geometry; }

    /// Keeps the products of a limited number of groups: few are asked for again.
    void forget() {
        constexpr std::size_t most_kept = 64;
        if (products_.size() > most_kept) products_.clear();
    }

private:
    /// The layers together, with the block of the fewest cycles.
    std::vector<MappedProduct> fastest(const std::vector<std::uint32_t>& members, std::uint32_t images,
                                       JoinBlocks blocks) const {
        BlockAlternative best;
        if (blocks == JoinBlocks::Best) {
            const auto alternatives = block_alternatives({costs_, images, spilled_}, members);
            best = alternatives[fastest_alternative(alternatives)];
        }
        LayerPlan plan = plan_group(network_, costs_.target(), members, best.block, best.rest);
        plan.spilled = spilled_;
        return costs_.products(members.front(), plan, images);
    }

    const LayerCosts& costs_;
    const Network& network_;
    const std::vector<std::uint32_t>& layers_;
    const bool spilled_;  ///< the weights of the set
    /// By the layers of a group.
    std::map<std::vector<std::uint32_t>, std::vector<MappedProduct>> products_;
};

/// Each layer by itself, and groups built layer by layer.
std::vector<Groups> greedy_groupings(SetCosts& costs, std::size_t layers, std::uint32_t images,
                                     JoinBlocks blocks) {
    Groups apart{0};
    Groups built{0};
    for (std::uint32_t l = 1; l < layers; ++l) {
        apart.push_back(l);
        const auto count = *std::ranges::max_element(built) + 1;
        std::optional<JoinAlternative> best;
        for (std::uint32_t group = count + 1; group-- > 0;) {
            Groups longer = built;
            longer.push_back(group);
            auto cost = costs.cost(std::move(longer), images, blocks);
            if (cost && (!best || cost->cycles < best->cycles)) best = std::move(cost);
        }
        built = std::move(best).value().groups;
    }
    return {apart, built};
}

/// Groups of many layers, built layer by layer as greedy_groupings does, of the last groups.
Groups windowed_grouping(SetCosts& costs, std::size_t layers, std::uint32_t images, JoinBlocks blocks) {
    Groups built{0};
    std::uint32_t first_open = 0;
    std::vector<Members> open{{0}};
    for (std::size_t l = 1; l < layers; ++l) {
        std::vector<Members> with = open;
        with.push_back({l});
        std::size_t best = open.size();
        std::optional<Cycle> fewest;  // predicted only where there is a choice
        for (std::size_t group = open.size(); group-- > 0;) {
            const bool saves =
                saves_column_tiles(costs.channels_of(open[group]), costs.channels_of({l}), costs.geometry());
            if (open[group].size() >= most_members || !saves) continue;
            if (!fewest) fewest = costs.cost_of(with, images, blocks).value().cycles;
            std::vector<Members> joined = open;
            joined[group].push_back(l);
            const auto cost = costs.cost_of(joined, images, blocks);
            if (!cost || cost->cycles >= *fewest) continue;
            fewest = cost->cycles;
            best = group;
        }
        costs.forget();
        built.push_back(first_open + static_cast<std::uint32_t>(best));
        if (best < open.size()) {
            open[best].push_back(l);
            continue;
        }
        open = std::move(with);
        if (open.size() <= most_open_groups) continue;
        open.erase(open.begin());
        ++first_open;
    }
    return built;
}

/// The groupings that are compared.
std::vector<Groups> tried_groupings(SetCosts& costs, std::size_t layers, std::uint32_t images,
                                    JoinBlocks blocks) {
    if (layers <= most_compared) return all_groupings(layers);
    if (layers <= most_in_any_group) return greedy_groupings(costs, layers, images, blocks);
    Groups apart(layers);
    std::iota(apart.begin(), apart.end(), 0U);
    return {std::move(apart), windowed_grouping(costs, layers, images, blocks)};
}

/// The alternatives of a set of which each layer repeats one of an earlier set: only the chosen one, behind
/// each layer by itself.
SiblingAlternatives repeated_alternatives(const std::vector<std::uint32_t>& layers,
                                          const SiblingAlternatives& earlier) {
    SiblingAlternatives repeated{
        .layers = layers, .alternatives = {earlier.alternatives.front()}, .chosen = 0, .is_repeated = true};
    if (earlier.chosen == 0) return repeated;
    repeated.alternatives.push_back(earlier.alternatives[earlier.chosen]);
    repeated.chosen = 1;
    return repeated;
}

/// The layers that those of a set repeat; empty if one repeats none.
std::vector<std::uint32_t> repeated_layers(const Network& network, const std::vector<std::uint32_t>& layers) {
    std::vector<std::uint32_t> repeated;
    for (const std::uint32_t layer : layers) {
        const auto first = network.layers[layer].repeats;
        if (!first) return {};
        repeated.push_back(*first);
    }
    return repeated;
}

/// Whether the rows that the groups add keep a batch out of the unified buffer that fits without them.
bool is_too_large(const AnalysedNetwork& apart, const AnalysedNetwork& joined, const Target& target,
                  std::uint32_t images) {
    const auto rows_of = [&](const AnalysedNetwork& analysed) {
        return schedule::allocate_rows(tensor_lifetimes(analysed, target, false)).rows;
    };
    const std::uint64_t rows = rows_of(joined);
    if (rows <= rows_of(apart)) return false;
    std::vector<LayerPlan> plans = plan_layers(joined, target);
    return lay_out_constants(joined.network(), target, plans) + rows * images > target.unified_buffer_rows;
}

}  // namespace

std::vector<SiblingAlternatives> compare_joins(const AnalysedNetwork& apart, const Target& target,
                                               const machine::MachineConfig& machine,
                                               const mapping::Batches& batches, JoinBlocks blocks) {
    const auto images =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(batches.batch, batches.inferences));
    const Network& network = apart.network();
    const std::vector<LayerPlan> plans =
        target.spill_weights ? plan_layers(analyse(network, target), target) : std::vector<LayerPlan>();
    const LayerCosts layer_costs(apart, target, machine);
    std::vector<SiblingAlternatives> sets;
    std::map<std::vector<std::uint32_t>, std::size_t> compared_before;  // places in `sets`, by layers
    for (const std::vector<std::uint32_t>& layers : sibling_layers(network, target)) {
        const auto earlier = compared_before.find(repeated_layers(network, layers));
        if (earlier != compared_before.end()) {
            sets.push_back(repeated_alternatives(layers, sets[earlier->second]));
            continue;
        }
        // The program of layers that the machine cannot compute is refused with its instruction.
        if (!layer_costs.supports(layers.front())) continue;
        SiblingAlternatives compared{.layers = layers, .alternatives = {}, .chosen = 0};
        const bool spilled = !plans.empty() && plans[layers.front()].spilled;
        SetCosts costs(layer_costs, layers, spilled);
        for (const Groups& grouping : tried_groupings(costs, layers.size(), images, blocks)) {
            auto cost = costs.cost(grouping, images, blocks);
            if (cost) compared.alternatives.push_back(*std::move(cost));
        }
        const auto fewest = std::ranges::min_element(compared.alternatives, {}, &JoinAlternative::cycles);
        compared.chosen = static_cast<std::size_t>(fewest - compared.alternatives.begin());
        compared_before.emplace(layers, sets.size());
        sets.push_back(std::move(compared));
    }
    if (sets.empty()) return sets;
    AnalysedNetwork joined = apart;
    joined.join(chosen_joins(sets, network.layers.size()));
    if (is_too_large(apart, joined, target, images)) {
        for (SiblingAlternatives& set : sets) set.chosen = 0;
    }
    return sets;
}

std::vector<std::uint32_t> chosen_joins(const std::vector<SiblingAlternatives>& sets,
                                        std::size_t layer_count) {
    std::vector<std::uint32_t> joins;
    for (std::uint32_t l = 0; l < layer_count; ++l) joins.push_back(l);
    for (const SiblingAlternatives& set : sets) {
        for (const Members& group : members_of(set.alternatives[set.chosen].groups)) {
            for (const std::size_t i : group) joins[set.layers[i]] = set.layers[group.front()];
        }
    }
    return joins;
}

}  // namespace systole::tpu_v1
