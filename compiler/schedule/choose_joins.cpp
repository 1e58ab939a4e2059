#include "compiler/schedule/choose_joins.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "compiler/mapping/cost.h"
#include "compiler/schedule/array_weights.h"
#include "compiler/schedule/choose_blocks.h"
#include "compiler/schedule/layer_plan.h"
#include "compiler/schedule/mapped_product.h"
#include "compiler/schedule/memory_plan.h"
#include "compiler/schedule/parallel_layers.h"
#include "compiler/schedule/row_allocation.h"
#include "compiler/schedule/tensor_parts.h"

namespace systole::schedule {
namespace {

/// The most layers of which all ways to group them are compared: 52 ways for five.
constexpr std::size_t most_compared = 5;

using Groups = std::vector<std::uint32_t>;

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
    SetCosts(const mapping::Network& network, const Target& target, const machine::MachineConfig& machine,
             const std::vector<TensorPart>& parts, const std::vector<std::uint32_t>& layers, bool spilled)
        : network_(network),
          target_(target),
          machine_(machine),
          parts_(parts),
          layers_(layers),
          spilled_(spilled) {}

    /// Of the first layers of the set, as many as have a group; absent if a group has too many columns.
    std::optional<JoinAlternative> cost(Groups groups, std::uint32_t images, JoinBlocks blocks) {
        JoinAlternative alternative{.groups = std::move(groups)};
        std::vector<const mapping::MappedProduct*> products;
        const auto count = *std::ranges::max_element(alternative.groups) + 1;
        for (std::uint32_t group = 0; group < count; ++group) {
            std::vector<std::uint32_t> members;
            std::uint64_t channels = 0;
            for (std::size_t i = 0; i < alternative.groups.size(); ++i) {
                if (alternative.groups[i] != group) continue;
                members.push_back(layers_[i]);
                channels += network_.tensors[network_.layers[layers_[i]].output].shape.channels;
            }
            if (channels > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
            const auto known = products_.find(members);
            const auto& of_group =
                known != products_.end()
                    ? known->second
                    : products_.emplace(members, fastest(members, images, blocks)).first->second;
            for (const mapping::MappedProduct& product : of_group) {
                alternative.tiles += product.tiling.tiles;
                products.push_back(&product);
            }
        }
        alternative.cycles = mapping::predicted_cycles(products, machine_);
        return alternative;
    }

private:
    /// The layers together, with the block of the fewest cycles.
    std::vector<mapping::MappedProduct> fastest(const std::vector<std::uint32_t>& members,
                                                std::uint32_t images, JoinBlocks blocks) const {
        const LayerView view{network_, network_.layers[members.front()], target_};
        BlockAlternative best;
        if (blocks == JoinBlocks::Best) {
            const auto alternatives =
                block_alternatives({network_, target_, machine_, images, parts_, spilled_}, members);
            best = alternatives[fastest_alternative(alternatives)];
        }
        LayerPlan plan = plan_group(network_, target_, members, best.block, best.rest);
        plan.spilled = spilled_;
        return mapped_products(view, plan, images, parts_);
    }

    const mapping::Network& network_;
    const Target& target_;
    const machine::MachineConfig& machine_;
    const std::vector<TensorPart>& parts_;
    const std::vector<std::uint32_t>& layers_;
    const bool spilled_;  ///< the weights of the set
    /// By the layers of a group.
    std::map<std::vector<std::uint32_t>, std::vector<mapping::MappedProduct>> products_;
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

/// Whether the rows that the groups add keep a batch out of the unified buffer that fits without them.
bool is_too_large(const mapping::Network& network, const Target& apart, const Target& joined,
                  std::uint32_t images) {
    const auto rows_of = [&](const Target& target) {
        return allocate_rows(tensor_lifetimes(network, target, false)).rows;
    };
    const std::uint64_t rows = rows_of(joined);
    if (rows <= rows_of(apart)) return false;
    std::vector<LayerPlan> plans = plan_layers(network, joined);
    return lay_out_constants(network, joined, plans) + rows * images > joined.unified_buffer_rows;
}

}  // namespace

std::vector<SiblingAlternatives> compare_joins(const mapping::Network& network, const Target& target,
                                               const machine::MachineConfig& machine, const Options& options,
                                               JoinBlocks blocks) {
    const auto images =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(options.batch, options.inferences));
    const std::vector<TensorPart> parts = place_parts(network, target.geometry.rows);
    const std::vector<LayerPlan> plans =
        target.spill_weights ? plan_layers(network, target) : std::vector<LayerPlan>();
    std::vector<SiblingAlternatives> sets;
    for (const std::vector<std::uint32_t>& layers : sibling_layers(network, target)) {
        const mapping::Layer& first = network.layers[layers.front()];
        const DataType activations = network.tensors[first.inputs[0]].type;
        const auto& product = std::get<mapping::MatrixProduct>(first.work);
        // The program of such layers is refused with its instruction.
        if (!machine.matrix_unit.passes(activations, array_weights(product, target).type)) continue;
        SiblingAlternatives compared{.layers = layers, .alternatives = {}, .chosen = 0};
        const bool spilled = !plans.empty() && plans[layers.front()].spilled;
        SetCosts costs(network, target, machine, parts, layers, spilled);
        const auto groupings = layers.size() <= most_compared
                                   ? all_groupings(layers.size())
                                   : greedy_groupings(costs, layers.size(), images, blocks);
        for (const Groups& grouping : groupings) {
            auto cost = costs.cost(grouping, images, blocks);
            if (cost) compared.alternatives.push_back(*std::move(cost));
        }
        const auto fewest = std::ranges::min_element(compared.alternatives, {}, &JoinAlternative::cycles);
        compared.chosen = static_cast<std::size_t>(fewest - compared.alternatives.begin());
        sets.push_back(std::move(compared));
    }
    if (sets.empty()) return sets;
    Target apart = target;
    apart.mapping.joins = chosen_joins({}, network.layers.size());
    Target joined = target;
    joined.mapping.joins = chosen_joins(sets, network.layers.size());
    if (is_too_large(network, apart, joined, images)) {
        for (SiblingAlternatives& set : sets) set.chosen = 0;
    }
    return sets;
}

std::vector<std::uint32_t> chosen_joins(const std::vector<SiblingAlternatives>& sets,
                                        std::size_t layer_count) {
    std::vector<std::uint32_t> joins;
    for (std::uint32_t l = 0; l < layer_count; ++l) joins.push_back(l);
    for (const SiblingAlternatives& set : sets) {
        const Groups& groups = set.alternatives[set.chosen].groups;
        for (std::size_t i = 0; i < groups.size(); ++i) {
            const auto first = std::ranges::find(groups, groups[i]) - groups.begin();
            joins[set.layers[i]] = set.layers[static_cast<std::size_t>(first)];
        }
    }
    return joins;
}

}  // namespace systole::schedule
