#include "compiler/target/edge_tpu/memory.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <vector>

#include "base/arithmetic.h"
#include "hw/isa/tile_layout.h"

namespace systole::edge_tpu {
namespace {

/// Words of narrow memory begin at multiples of this.
constexpr std::uint64_t narrow_alignment = isa::tile_word;

bool is_whole(const Network& network, const Part& part) {
    return part.first_channel == 0 && part.shape == network.tensors[part.tensor].shape;
}

/// Whether a tensor may lie where another one lies: all steps that write it work element by element on the
/// other, and from the first of them on no other step reads that.
bool may_replace(const Network& network, TensorId result, TensorId operand) {
    const Tensor& written = network.tensors[result];
    const Tensor& read = network.tensors[operand];
    const auto layout = [&](TensorId id) {
        isa::TileLayout whole =
            layout_of(network, {.tensor = id, .first_channel = 0, .shape = network.tensors[id].shape});
        whole.address = 0;
        return whole;
    };
    if (written.form != Form::Image || read.form != Form::Image || layout(result) != layout(operand)) {
        return false;
    }
    const auto end = std::min<std::size_t>(std::max(written.last, read.last) + 1, network.steps.size());
    for (std::size_t i = written.first; i < end; ++i) {
        const Step& step = network.steps[i];
        const bool reads = step.source.tensor == operand || (step.other && step.other->tensor == operand);
        const bool writes = step.result.tensor == result;
        if (!reads && !writes) continue;
        if (!reads || !writes || !step.is_element_wise()) return false;
        if (!is_whole(network, step.result) || !is_whole(network, step.source) ||
            (step.other && !is_whole(network, *step.other))) {
            return false;
        }
    }
    return read.last < network.steps.size();  // nothing reads it behind the last step
}

std::vector<TensorId> operands_of(const Step& step) {
    std::vector<TensorId> operands{step.source.tensor};
    if (step.other) operands.push_back(step.other->tensor);
    return operands;
}

/// Tensors that are there at the same time as a tensor.
bool are_together(const Tensor& a, const Tensor& b) {
    return a.last >= b.first && b.last >= a.first;
}

/// The place of an operand that the tensor may replace, if it is free of others.
std::optional<std::uint32_t> place_of_operand(const Network& network, TensorId id,
                                              const std::vector<std::uint64_t>& bytes,
                                              const std::vector<TensorId>& placed) {
    const Tensor& tensor = network.tensors[id];
    if (tensor.first >= network.steps.size()) return std::nullopt;
    const Step& step = network.steps[tensor.first];
    if (!step.is_element_wise() || step.result.tensor != id) return std::nullopt;
    for (const TensorId operand : operands_of(step)) {
        if (std::ranges::find(placed, operand) == placed.end() || !may_replace(network, id, operand))
            continue;
        const std::uint64_t address = network.tensors[operand].address;
        const bool is_free = std::ranges::none_of(placed, [&](TensorId each) {
            const Tensor& other = network.tensors[each];
            return each != operand && are_together(other, tensor) && other.address < address + bytes[id] &&
                   address < other.address + bytes[each];
        });
        if (is_free) return network.tensors[operand].address;
    }
    return std::nullopt;
}

std::vector<std::uint64_t> bytes_of_all(const Network& network) {
    std::vector<std::uint64_t> bytes;
    for (TensorId id = 0; id < network.tensors.size(); ++id) {
        bytes.push_back(round_up(narrow_bytes(network, id), narrow_alignment));
    }
    return bytes;
}

/// Tensors that begin together: the largest first.
std::vector<TensorId> order_of_begins(const Network& network, const std::vector<std::uint64_t>& bytes) {
    const std::vector<Tensor>& tensors = network.tensors;
    std::vector<TensorId> order(tensors.size());
    std::iota(order.begin(), order.end(), TensorId{0});
    std::ranges::stable_sort(order, [&](TensorId a, TensorId b) {
        return tensors[a].first != tensors[b].first ? tensors[a].first < tensors[b].first
                                                    : bytes[a] > bytes[b];
    });
    return order;
}

/// Each tensor of the order takes the lowest place that is free for its time. The first one that finds none.
std::optional<Shortage> place_in_order(Network& network, const machine::MachineConfig& machine,
                                       const std::vector<std::uint64_t>& bytes,
                                       const std::vector<TensorId>& order) {
    const std::uint64_t room = machine.narrow_memory.bytes;
    std::vector<Tensor>& tensors = network.tensors;
    std::vector<TensorId> placed;
    for (const TensorId id : order) {
        if (const auto address = place_of_operand(network, id, bytes, placed)) {
            tensors[id].address = *address;
            placed.push_back(id);
            continue;
        }
        std::vector<TensorId> beside;
        for (const TensorId other : placed) {
            if (are_together(tensors[other], tensors[id])) beside.push_back(other);
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

void widen_what_can_be_replaced(Network& network) {
    const auto widen = [](Tensor& tensor, const Tensor& to) {
        if (tensor.reaches_out) return;
        tensor.top = std::max(tensor.top, to.top);
        tensor.bottom = std::max(tensor.bottom, to.bottom);
        tensor.left = std::max(tensor.left, to.left);
        tensor.right = std::max(tensor.right, to.right);
    };
    for (std::size_t i = network.steps.size(); i-- > 0;) {
        const Step& step = network.steps[i];
        if (!step.is_element_wise()) continue;
        Tensor& result = network.tensors[step.result.tensor];
        for (const TensorId id : operands_of(step)) {
            Tensor& operand = network.tensors[id];
            if (operand.form != Form::Image || result.form != Form::Image) continue;
            if (operand.last != i || operand.shape != result.shape) continue;
            // Every tile may have the whole of one operand, for a mean over it. The other one, such as the
            // mean that is repeated, then keeps its margins, and its own place.
            const Tensor before = operand;
            const bool is_in_parts = narrow_bytes(network, id) < operand.shape.elements();
            widen(operand, result);
            if (is_in_parts && narrow_bytes(network, id) >= operand.shape.elements()) {
                operand = before;
                continue;
            }
            widen(result, operand);
        }
    }
}

std::optional<Shortage> place_tensors(Network& network, const machine::MachineConfig& machine) {
    const std::vector<std::uint64_t> bytes = bytes_of_all(network);
    return place_in_order(network, machine, bytes, order_of_begins(network, bytes));
}

std::optional<Shortage> place_tensors_by_size(Network& network, const machine::MachineConfig& machine) {
    const auto by_begin = place_tensors(network, machine);
    if (!by_begin) return std::nullopt;
    const std::vector<std::uint64_t> bytes = bytes_of_all(network);
    std::vector<TensorId> order = order_of_begins(network, bytes);
    std::ranges::stable_sort(order, [&](TensorId a, TensorId b) { return bytes[a] > bytes[b]; });
    // The steps whose tensors fit, without regard to those that begin later.
    const auto fit_up_to = [&](std::uint32_t step) {
        std::vector<TensorId> begun;
        std::ranges::copy_if(order, std::back_inserter(begun),
                             [&](TensorId id) { return network.tensors[id].first <= step; });
        return !place_in_order(network, machine, bytes, begun);
    };
    auto end = static_cast<std::uint32_t>(network.steps.size());
    if (fit_up_to(end)) return std::nullopt;
    std::uint32_t least = by_begin->step;
    if (!fit_up_to(least)) return by_begin;
    while (end - least > 1) {
        const std::uint32_t middle = least + (end - least) / 2;
        (fit_up_to(middle) ? least : end) = middle;
    }
    return Shortage{.step = end, .bytes = by_begin->bytes};
}

}  // namespace systole::edge_tpu
