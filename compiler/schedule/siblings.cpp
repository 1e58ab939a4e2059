#include "compiler/schedule/siblings.h"

#include <algorithm>
#include <limits>
#include <map>

#include "hw/base/arithmetic.h"

namespace systole::schedule {
namespace {

using quantized::Convolution;

/// A leader, and the filters of all that it leads.
struct Group {
    std::uint32_t leader = 0;
    ir::Window window;
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

std::vector<std::uint32_t> find_leaders(const quantized::Network& network, const isa::Geometry& geometry) {
    std::vector<std::uint32_t> leaders;
    std::map<quantized::TensorId, std::vector<Group>> groups_by_input;
    for (std::uint32_t l = 0; l < network.layers.size(); ++l) {
        const quantized::Layer& layer = network.layers[l];
        leaders.push_back(l);
        const auto* const convolution = std::get_if<Convolution>(&layer.operation);
        if (convolution == nullptr) continue;
        const std::uint64_t filters = network.tensors[layer.output].shape.channels;
        std::vector<Group>& groups = groups_by_input[layer.inputs[0]];
        const auto joined = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
            return group.window == convolution->window &&
                   saves_column_tiles(group.filters, filters, geometry);
        });
        if (joined == groups.end()) {
            groups.push_back({.leader = l, .window = convolution->window, .filters = filters});
        } else {
            leaders.back() = joined->leader;
            joined->filters += filters;
        }
    }
    return leaders;
}

}  // namespace systole::schedule
