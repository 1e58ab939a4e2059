#include "compiler/target/tpu_v1/network/parallel_layers.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "compiler/target/tpu_v1/network/array_weights.h"

namespace systole::tpu_v1 {
namespace {

/// The product of a layer whose columns can lie beside those of others; null for other layers.
const MatrixProduct* joinable(const Layer& layer) {
    const auto* const product = std::get_if<MatrixProduct>(&layer.work);
    return product != nullptr && product->groups == 1 && !writes_weights(*product) ? product : nullptr;
}

/// Whether two layers with the same inputs read them alike.
bool read_alike(const MatrixProduct& a, const MatrixProduct& b, const Target& target) {
    return a.window == b.window && array_weights(a, target) == array_weights(b, target);
}

/// A convolution with the number of filters of itself and all convolutions joined to it.
struct Group {
    std::uint32_t first = 0;
    std::uint64_t filters = 0;
};

/// Groups whose last column tile has free columns, by the columns that it takes: only these save a column
/// tile with others.
class OpenGroups {
public:
    explicit OpenGroups(std::uint32_t columns) : columns_(columns) {}

    void add(std::size_t group, std::uint64_t filters) {
        if (filters % columns_ > 0) by_taken_[filters % columns_].insert(group);
    }
    void remove(std::size_t group, std::uint64_t filters) {
        const auto taken = by_taken_.find(filters % columns_);
        if (taken == by_taken_.end()) return;
        taken->second.erase(group);
        if (taken->second.empty()) by_taken_.erase(taken);
    }
    /// The first group whose free columns take the rest of so many filters; absent if there is none.
    std::optional<std::size_t> first(std::uint64_t filters) const {
        std::optional<std::size_t> first;
        const std::uint64_t rest = filters % columns_;
        if (rest == 0) return first;
        for (const auto& [taken, groups] : by_taken_) {
            if (taken + rest > columns_) break;
            first = std::min(first.value_or(*groups.begin()), *groups.begin());
        }
        return first;
    }

private:
    std::uint64_t columns_;
    std::map<std::uint64_t, std::set<std::size_t>> by_taken_;
};

/// Joins the convolutions of a set that take fewer column tiles together.
void join_convolutions(const Network& network, const Target& target,
                       const std::vector<std::uint32_t>& siblings, std::vector<std::uint32_t>& joined_to) {
    std::vector<Group> groups;
    OpenGroups open(target.geometry.columns);
    for (const std::uint32_t l : siblings) {
        if (block_of(target.choices, l).pixels() > 1) continue;
        const std::uint64_t filters = network.tensors[network.layers[l].output].shape.channels;
        const auto joined = open.first(filters);
        if (!joined || !saves_column_tiles(groups[*joined].filters, filters, target.geometry)) {
            open.add(groups.size(), filters);
            groups.push_back({.first = l, .filters = filters});
            continue;
        }
        Group& group = groups[*joined];
        open.remove(*joined, group.filters);
        joined_to[l] = group.first;
        group.filters += filters;
        open.add(*joined, group.filters);
    }
}

}  // namespace

bool saves_column_tiles(std::uint64_t filters, std::uint64_t more, const isa::Geometry& geometry) {
    if (filters + more > std::numeric_limits<std::uint32_t>::max()) return false;
    const auto column_tiles = [&](std::uint64_t count) {
        return divide_up(count, std::uint64_t{geometry.columns});
    };
    return column_tiles(filters + more) < column_tiles(filters) + column_tiles(more);
}

std::vector<std::vector<std::uint32_t>> sibling_layers(const Network& network, const Target& target) {
    std::vector<std::vector<std::uint32_t>> sets;
    std::map<std::vector<TensorId>, std::vector<std::size_t>> sets_by_inputs;
    for (std::uint32_t l = 0; l < network.layers.size(); ++l) {
        const Layer& layer = network.layers[l];
        const MatrixProduct* const product = joinable(layer);
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

std::vector<std::uint32_t> group_parallel_layers(const Network& network, const Target& target) {
    if (!target.choices.joins.empty()) return target.choices.joins;
    std::vector<std::uint32_t> joined_to;
    for (std::uint32_t l = 0; l < network.layers.size(); ++l) joined_to.push_back(l);
    if (!target.mapping.join_convolutions) return joined_to;
    for (const std::vector<std::uint32_t>& siblings : sibling_layers(network, target)) {
        if (!joinable(network.layers[siblings.front()])->window) continue;
        join_convolutions(network, target, siblings, joined_to);
    }
    return joined_to;
}

}  // namespace systole::tpu_v1
