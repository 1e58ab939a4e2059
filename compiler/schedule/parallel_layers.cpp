#include "compiler/schedule/parallel_layers.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "compiler/schedule/array_weights.h"
#include "hw/base/arithmetic.h"

namespace systole::schedule {
namespace {

/// The product of a layer whose columns can lie beside those of others; null for other layers.
const mapping::MatrixProduct* joinable(const mapping::Layer& layer) {
    const auto* const product = std::get_if<mapping::MatrixProduct>(&layer.work);
    return product != nullptr && product->groups == 1 ? product : nullptr;
}

/// Whether two layers with the same inputs read them alike.
bool read_alike(const mapping::MatrixProduct& a, const mapping::MatrixProduct& b, const Target& target) {
    return a.window == b.window && array_weights(a, target) == array_weights(b, target);
}

bool saves_column_tiles(std::uint64_t filters, std::uint64_t more, const isa::Geometry& geometry) {
    if (filters + more > std::numeric_limits<std::uint32_t>::max()) return false;
    const auto column_tiles = [&](std::uint64_t count) {
        return divide_up(count, std::uint64_t{geometry.columns});
    };
    return column_tiles(filters + more) < column_tiles(filters) + column_tiles(more);
}

/// A convolution with the number of filters of itself and all convolutions joined to it.
struct Group {
    std::uint32_t first = 0;
    std::uint64_t filters = 0;
};

/// Joins the convolutions of a set that take fewer column tiles together.
void join_convolutions(const mapping::Network& network, const Target& target,
                       const std::vector<std::uint32_t>& siblings, std::vector<std::uint32_t>& joined_to) {
    std::vector<Group> groups;
    for (const std::uint32_t l : siblings) {
        if (block_of(target.mapping, l).pixels() > 1) continue;
        const std::uint64_t filters = network.tensors[network.layers[l].output].shape.channels;
        const auto joined = std::ranges::find_if(groups, [&](const Group& group) {
            return saves_column_tiles(group.filters, filters, target.geometry);
        });
        if (joined == groups.end()) {
            groups.push_back({.first = l, .filters = filters});
        } else {
            joined_to[l] = joined->first;
            joined->filters += filters;
        }
    }
}

}  // namespace

std::vector<std::vector<std::uint32_t>> sibling_layers(const mapping::Network& network,
                                                       const Target& target) {
    std::vector<std::vector<std::uint32_t>> sets;
    std::map<std::vector<mapping::TensorId>, std::vector<std::size_t>> sets_by_inputs;
    for (std::uint32_t l = 0; l < network.layers.size(); ++l) {
        const mapping::Layer& layer = network.layers[l];
        const mapping::MatrixProduct* const product = joinable(layer);
        if (product == nullptr) continue;
        std::vector<std::size_t>& candidates = sets_by_inputs[layer.inputs];
        const auto found = std::ranges::find_if(candidates, [&](std::size_t set) {
            return read_alike(*joinable(network.layers[sets[set].front()]), *product, target);
        });
        if (found == candidates.end()) {
            candidates.push_back(sets.size());
            sets.push_back({l});
        } else {
            sets[*found].push_back(l);
        }
    }
    std::erase_if(sets, [](const std::vector<std::uint32_t>& set) { return set.size() < 2; });
    return sets;
}

std::vector<std::uint32_t> group_parallel_layers(const mapping::Network& network, const Target& target) {
    if (!target.mapping.joins.empty()) return target.mapping.joins;
    std::vector<std::uint32_t> joined_to;
    for (std::uint32_t l = 0; l < network.layers.size(); ++l) joined_to.push_back(l);
    if (!target.mapping.join_convolutions) return joined_to;
    for (const std::vector<std::uint32_t>& siblings : sibling_layers(network, target)) {
        if (!joinable(network.layers[siblings.front()])->window) continue;
        join_convolutions(network, target, siblings, joined_to);
    }
    return joined_to;
}

std::vector<std::vector<std::uint32_t>> members_of_groups(const std::vector<std::uint32_t>& joined_to) {
    std::vector<std::vector<std::uint32_t>> members(joined_to.size());
    for (std::uint32_t l = 0; l < joined_to.size(); ++l) members[joined_to[l]].push_back(l);
    return members;
}

}  // namespace systole::schedule
