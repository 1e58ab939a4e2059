#include "compiler/target/edge_tpu/memory.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/arithmetic.h"
#include "hw/isa/tile_layout.h"

namespace systole::edge_tpu {
namespace {

/// Words of narrow memory begin at multiples of this.
constexpr std::uint64_t narrow_alignment = isa::tile_word;

}  // namespace

std::uint64_t narrow_bytes(const Network& network, TensorId id) {
    const Tensor& tensor = network.tensors[id];
    const std::uint64_t elements = tensor.shape.elements();
    switch (tensor.form) {
        case Form::EveryTile:
            return elements;
        case Form::OverLanes:
            return isa::LaneVector{.grid = network.grid, .address = 0, .elements = elements}.passes() *
                   network.grid.lanes;
        case Form::Image:
            break;
    }
    return layout_of(network, {.tensor = id, .first_channel = 0, .shape = tensor.shape}).bytes();
}

std::optional<Shortage> place_tensors(Network& network, const machine::MachineConfig& machine) {
    const std::uint64_t room = machine.narrow_memory.bytes;
    std::vector<Tensor>& tensors = network.tensors;
    std::vector<std::uint64_t> bytes;
    for (TensorId id = 0; id < tensors.size(); ++id) {
        bytes.push_back(round_up(narrow_bytes(network, id), narrow_alignment));
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
            return Shortage{.step = tensors[id].first, .bytes = address + bytes[id]};
        }
        tensors[id].address = static_cast<std::uint32_t>(address);
        placed.push_back(id);
    }
    return std::nullopt;
}

}  // namespace systole::edge_tpu
