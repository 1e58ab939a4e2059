#include "compiler/target/edge_tpu/channels.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "base/arithmetic.h"

namespace systole::edge_tpu {
namespace {

bool is_image_of(const Network& network, const Part& part) {
    return network.tensors[part.tensor].form == Form::Image && !part.lines;
}

/// Whether each result comes from the same channel of the operands.
bool keeps_channels(const Step& step) {
    if (step.kind == StepKind::Multiply) return step.product == isa::TileProduct::Depthwise;
    if (step.kind != StepKind::Vector) return false;
    switch (step.operation) {
        case isa::TileOperation::Add:
        case isa::TileOperation::Subtract:
        case isa::TileOperation::Multiply:
        case isa::TileOperation::Maximum:
        case isa::TileOperation::Minimum:
        case isa::TileOperation::Requantize:
        case isa::TileOperation::MaxPool:
        case isa::TileOperation::AveragePool:
        case isa::TileOperation::SumPool:
        case isa::TileOperation::Lookup:
        case isa::TileOperation::Interpolate:
        case isa::TileOperation::SquaredDifference:
        case isa::TileOperation::BiasedSumPool:
            return true;
        case isa::TileOperation::Softmax:
        case isa::TileOperation::Normalize:
            return false;
    }
    throw std::logic_error("an operation of tiles that does not exist");
}

/// Whether all channels of a tensor are the part's.
bool is_of_all_channels(const Network& network, const Part& part) {
    return part.first_channel == 0 && part.shape.channels == network.tensors[part.tensor].shape.channels;
}

}  // namespace

bool has_channels_to_cut(const Network& network, std::uint32_t first, std::uint32_t last) {
    const std::uint32_t channels = network.steps[last].result.shape.channels;
    const TensorId result = network.steps[last].result.tensor;
    for (std::uint32_t i = first; i <= last; ++i) {
        const Step& step = network.steps[i];
        const bool combines =
            i == first && step.kind == StepKind::Multiply && step.product == isa::TileProduct::Convolve;
        if (!combines && !keeps_channels(step)) return false;
        if (step.kind == StepKind::Multiply && step.piece != Piece::Whole) return false;
        if (step.with_margins || step.first_output != 0 || step.result.shape.channels != channels)
            return false;
        if (!is_image_of(network, step.source) || !is_image_of(network, step.result)) return false;
        if (!combines && step.source.shape.channels != channels) return false;
        if (step.other && !is_image_of(network, *step.other)) return false;
        if (i == last) break;
        const Tensor& tensor = network.tensors[step.result.tensor];
        if (step.result.tensor == result || !is_of_all_channels(network, step.result)) return false;
        if (tensor.first < first || tensor.last > last || tensor.last <= i) return false;
    }
    return true;
}

Network cut_channels(const Network& network, std::uint32_t first, std::uint32_t last,
                     std::uint32_t channels) {
    Network made = network;
    const std::uint32_t all = network.steps[last].result.shape.channels;
    const auto parts = static_cast<std::uint32_t>(divide_up(all, channels));
    const std::uint32_t steps = last - first + 1;
    const std::uint32_t more = (parts - 1) * steps;
    for (Tensor& tensor : made.tensors) {
        if (tensor.first > last) tensor.first += more;
        if (tensor.last >= first) tensor.last = tensor.last > last ? tensor.last + more : last + more;
    }
    const auto begin = network.steps.begin();
    made.steps.assign(begin, begin + first);
    for (std::uint32_t part = 0; part < parts; ++part) {
        const std::uint32_t from = part * channels;
        const std::uint32_t count = std::min(channels, all - from);
        std::map<TensorId, TensorId> ids;  // of what lies between the steps
        const auto cut = [&](Part& operand) {
            operand.shape.channels = count;
            if (const auto found = ids.find(operand.tensor); found != ids.end()) {
                operand.tensor = found->second;
            } else {
                operand.first_channel += from;
            }
        };
        for (std::uint32_t i = first; i <= last; ++i) {
            const Step& whole = network.steps[i];
            if (i < last && !ids.contains(whole.result.tensor)) {
                TensorId id = whole.result.tensor;
                if (part > 0) {
                    id = static_cast<TensorId>(made.tensors.size());
                    made.tensors.push_back(network.tensors[whole.result.tensor]);
                }
                Tensor& tensor = made.tensors[id];
                tensor.shape.channels = count;
                tensor.first = network.tensors[whole.result.tensor].first + part * steps;
                tensor.last = network.tensors[whole.result.tensor].last + part * steps;
                ids.emplace(whole.result.tensor, id);
            }
            Step& step = made.steps.emplace_back(whole);
            step.first_output = from;
            const bool combines =
                step.kind == StepKind::Multiply && step.product == isa::TileProduct::Convolve;
            if (!combines) cut(step.source);
            if (step.other) cut(*step.other);
            cut(step.result);
        }
    }
    made.steps.insert(made.steps.end(), begin + last + 1, network.steps.end());
    return made;
}

}  // namespace systole::edge_tpu
