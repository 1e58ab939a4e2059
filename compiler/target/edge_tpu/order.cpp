#include "compiler/target/edge_tpu/order.h"

#include <algorithm>

#include "compiler/target/edge_tpu/memory.h"

namespace systole::edge_tpu {
namespace {

/// Whether a step reads nothing but one image, and is the only one that writes its result.
bool may_move(const Network& network, std::uint32_t index) {
    const Step& step = network.steps[index];
    if ((step.kind != StepKind::Multiply && step.kind != StepKind::Vector) || step.other) return false;
    const Tensor& result = network.tensors[step.result.tensor];
    if (network.tensors[step.source.tensor].form != Form::Image || result.form != Form::Image) return false;
    const auto writes_it = [&](const Step& other) { return other.result.tensor == step.result.tensor; };
    return std::ranges::count_if(network.steps, writes_it) == 1;
}

/// The step behind the last one that writes a tensor; 0 if none does.
std::uint32_t complete_at(const Network& network, TensorId id) {
    for (auto i = static_cast<std::uint32_t>(network.steps.size()); i > 0; --i) {
        if (network.steps[i - 1].result.tensor == id) return i;
    }
    return 0;
}

/// The step behind the last dense product in front of a step; 0 if there is none.
std::uint32_t behind_dense(const Network& network, std::uint32_t index) {
    for (std::uint32_t i = index; i > 0; --i) {
        const Step& step = network.steps[i - 1];
        if (step.kind == StepKind::Multiply && step.product == isa::TileProduct::Dense) return i;
    }
    return 0;
}

/// The tensors' lives after the step `from` has become the step `to`, in front of it.
void renumber(Network& network, std::uint32_t from, std::uint32_t to) {
    const auto moved = [&](std::uint32_t step) {
        if (step == from) return to;
        return step >= to && step < from ? step + 1 : step;
    };
    for (Tensor& tensor : network.tensors) {
        tensor.first = moved(tensor.first);
        tensor.last = moved(tensor.last);
    }
}

}  // namespace

void move_step_up(Network& network, std::uint32_t from, std::uint32_t to) {
    const auto begin = network.steps.begin();
    std::rotate(begin + to, begin + from, begin + from + 1);
    renumber(network, from, to);
}

void move_last_readers_up(Network& network) {
    for (std::uint32_t i = 0; i < network.steps.size(); ++i) {
        const TensorId source = network.steps[i].source.tensor;
        if (network.tensors[source].last != i || !may_move(network, i)) continue;
        const TensorId result = network.steps[i].result.tensor;
        std::uint32_t to = complete_at(network, source);
        // Parameters stay in the order of the steps. In front of a dense product, those of another product
        // might take its room; streamed, it has a result of another form.
        if (network.steps[i].kind == StepKind::Multiply) to = std::max(to, behind_dense(network, i));
        if (to >= i || narrow_bytes(network, result) >= narrow_bytes(network, source)) continue;
        move_step_up(network, i, to);
        // The source is there for its other readers.
        std::uint32_t last = to;
        for (std::uint32_t j = to; j <= i; ++j) {
            const Step& step = network.steps[j];
            if (step.source.tensor == source || (step.other && step.other->tensor == source)) last = j;
        }
        network.tensors[source].last = last;
    }
}

}  // namespace systole::edge_tpu
