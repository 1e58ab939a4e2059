#include "compiler/target/edge_tpu/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/arithmetic.h"
#include "base/message_text.h"
#include "compiler/ir/model_error.h"
#include "hw/isa/tile_layout.h"
#include "hw/timing/tiles.h"

namespace systole::edge_tpu {
namespace {

/// Words of narrow memory begin at multiples of this.
constexpr std::uint64_t narrow_alignment = isa::tile_word;

/// The layer in whose step so much memory is needed.
std::string layer_at(const Network& network, std::uint32_t step) {
    if (network.steps.empty()) return "none";
    const std::size_t at = std::min<std::size_t>(step, network.steps.size() - 1);
    return in_quotes(network.layers[network.steps[at].layer].name);
}

}  // namespace

std::uint64_t narrow_bytes(const Tensor& tensor, const isa::TileGrid& grid) {
    const std::uint64_t elements = tensor.shape.elements();
    switch (tensor.form) {
        case Form::EveryTile:
            return elements;
        case Form::OverLanes:
            return isa::LaneVector{.grid = grid, .address = 0, .elements = elements}.passes() * grid.lanes;
        case Form::Image:
            break;
    }
    return isa::TileLayout{.grid = grid,
                           .address = 0,
                           .lines = tensor.shape.height,
                           .columns = tensor.shape.width,
                           .channels = tensor.shape.channels,
                           .pixel_bytes = tensor.shape.channels,
                           .top = tensor.top,
                           .bottom = tensor.bottom,
                           .left = tensor.left,
                           .right = tensor.right}
        .bytes();
}

void place_tensors(Network& network, const machine::MachineConfig& machine) {
    const isa::TileGrid grid = timing::grid_of(machine);
    const std::uint64_t room = machine.narrow_memory.bytes;
    std::vector<Tensor>& tensors = network.tensors;
    std::vector<std::uint64_t> bytes;
    for (const Tensor& tensor : tensors) {
        bytes.push_back(round_up(narrow_bytes(tensor, grid), narrow_alignment));
    }
    // Tensors that begin together: the largest first. Each takes the lowest place that is free for its time.
    std::vector<TensorId> order(tensors.size());
    std::iota(order.begin(), order.end(), TensorId{0});
    std::ranges::stable_sort(order, [&](TensorId a, TensorId b) {
        return tensors[a].first != tensors[b].first ? tensors[a].first < tensors[b].first
                                                    : bytes[a] > bytes[b];
    });
    std::vector<TensorId> placed;
    for (const TensorId id : order) {
        std::vector<TensorId> beside;
        for (const TensorId other : placed) {
            if (tensors[other].last >= tensors[id].first && tensors[id].last >= tensors[other].first) {
                beside.push_back(other);
            }
        }
        std::ranges::sort(beside, {}, [&](TensorId other) { return tensors[other].address; });
        std::uint64_t address = 0;
        for (const TensorId other : beside) {
            if (address + bytes[id] <= tensors[other].address) break;
            address = std::max(address, tensors[other].address + bytes[other]);
        }
        if (address + bytes[id] > room) {
            throw ModelError(fmt::format(
                "{}: layer {}: its tensors take {} bytes of a tile's narrow memory, which has {}; images are "
                "not cut "
                "into strips yet",
                network.graph->name, layer_at(network, tensors[id].first), address + bytes[id], room));
        }
        tensors[id].address = static_cast<std::uint32_t>(address);
        placed.push_back(id);
    }
}

}  // namespace systole::edge_tpu
