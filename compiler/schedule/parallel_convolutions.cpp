#include "compiler/schedule/parallel_convolutions.h"

#include <algorithm>
#include <limits>
#include <map>

#include "compiler/schedule/array_weights.h"
#include "hw/base/arithmetic.h"

namespace systole::schedule {
namespace {

/// A convolution with the number of filters of itself and all convolutions joined to it.
struct Group {
    std::uint32_t first = 0;
    ir::Window window;
    ArrayWeights weights;
    std::uint64_t filters = 0;
};

bool saves_column_tiles(std::uint64_t filters, std::uint64_t more, const isa::Geometry& geometry) {
    if (filters + more > std::numeric_limits<std::uint32_t>::max()) return false;
    const auto column_tiles = [&](std::uint64_t count) {
        return divide_up(count, std::uint64_t{geometry.columns});
    };
    return column_tiles(filters + more) < column_tiles(filters) + column_tiles(more);
}

}  // namespace

std::vector<std::uint32_t> group_parallel_convolutions(const mapping::Network& network,
                                                       const Target& target) {
    std::vector<std::uint32_t> joined_to;
    std::map<mapping::TensorId, std::vector<Group>> groups_by_input;
    for (std::uint32_t l = 0; l < network.layers.size(); ++l) {
        const mapping::Layer& layer = network.layers[l];
        joined_to.push_back(l);
        const auto* const product = std::get_if<mapping::MatrixProduct>(&layer.work);
        if (!target.mapping.join_convolutions) continue;
        if (product == nullptr || !mapping::is_convolution(*product)) continue;
        if (block_of(target.mapping, l).pixels() > 1) continue;
        const std::uint64_t filters = network.tensors[layer.output].shape.channels;
        const ArrayWeights weights = array_weights(*product, target);
        std::vector<Group>& groups = groups_by_input[layer.inputs[0]];
        const auto joined = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
            return group.window == *product->window && group.weights == weights &&
                   saves_column_tiles(group.filters, filters, target.geometry);
        });
        if (joined == groups.end()) {
            groups.push_back(
                {.first = l, .window = *product->window, .weights = weights, .filters = filters});
        } else {
            joined_to.back() = joined->first;
            joined->filters += filters;
        }
    }
    return joined_to;
}

}  // namespace systole::schedule
