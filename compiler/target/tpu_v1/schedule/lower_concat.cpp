// Concatenation. Most inputs already lie in the output, where the layers that compute them write them
// (tensor_parts.h). The others are copied, chunk by chunk, so that the next layer can begin with the first
// images.
#include <fmt/format.h>

#include <algorithm>

#include "base/message_text.h"
#include "compiler/target/tpu_v1/network/chunking.h"
#include "compiler/target/tpu_v1/schedule/layer_lowering.h"
#include "hw/isa/window.h"

namespace systole::tpu_v1 {

namespace {

using Axis = Concatenation::Axis;

/// Checks a concatenation of strips of lines.
void check_lines(const LayerView& view) {
    const Tensor& output = view.output();
    std::uint64_t lines = 0;
    for (std::size_t i = 0; i < view.layer.inputs.size(); ++i) {
        const Tensor& input = view.input(i);
        view.require(input.shape.width == output.shape.width && input.shape.channels == output.shape.channels,
                     "inputs and output of a concatenation of lines must have one width and channels");
        view.require(input.type == output.type, "inputs and output of a concatenation must be encoded alike");
        lines += input.shape.height;
    }
    view.require(lines == output.shape.height, "the lines of a concatenation must add up");
}

}  // namespace

void plan(const Concatenation& concatenation, const LayerView& view, LayerPlan& plan) {
    plan.kind = "concat";
    if (concatenation.axis == Axis::Lines) return check_lines(view);
    const Tensor& output = view.output();
    view.require(view.layer.inputs.size() >= 2 || concatenation.leaves_rest,
                 "a concatenation must have two inputs or more");
    std::uint64_t channels = 0;
    for (std::size_t i = 0; i < view.layer.inputs.size(); ++i) {
        const Tensor& input = view.input(i);
        view.require(input.shape.height == output.shape.height && input.shape.width == output.shape.width,
                     "inputs and output of a concatenation must have one height and width");
        view.require(
            input.scale == output.scale && input.zero_point == output.zero_point && input.type == output.type,
            "inputs and output of a concatenation must be encoded alike");
        channels += input.shape.channels;
    }
    view.require(
        channels == output.shape.channels || (concatenation.leaves_rest && channels < output.shape.channels),
        "the channels of a concatenation must add up");
    channels = output.shape.channels;
    if (std::max(output.shape.height, output.shape.width) > isa::largest_window_side ||
        channels * bytes_of(output.type) > isa::largest_window_channels) {
        view.reject(
            fmt::format("it concatenates to {}; height and width may be at most {}, channels at most {}",
                        ir::to_text(output.shape), isa::largest_window_side, isa::largest_window_channels));
    }
}

namespace {

/// Copies the lines that are not in place. A copy has lines of one image, because they have other numbers in
/// the output than in the input.
void copy_lines(LayerLowering& context) {
    const std::uint32_t limit = context.accumulators.part(AccumulatorParts::halves);
    for (std::uint32_t i = 0; i < context.view.layer.inputs.size(); ++i) {
        if (context.memory.tensors[context.view.layer.inputs[i]].part_of) continue;
        for (std::uint32_t image = 0; image < context.images; ++image) {
            for (Chunk chunk : cut_lines(context.view.input(i).shape, 1, limit)) {
                chunk.first_image = context.first_image + image;
                context.operations.emplace_back(
                    CopyLines{.layer = context.layer, .input = i, .chunk = chunk});
            }
        }
    }
}

}  // namespace

void lower(const Concatenation& concatenation, LayerLowering& context) {
    if (concatenation.axis == Axis::Lines) return copy_lines(context);
    // The parts of an output that is transferred in parts are joined in host memory.
    if (context.memory.tensors[context.view.layer.output].image_rows == 0) return;
    const std::vector<TensorId>& inputs = context.view.layer.inputs;
    for (const Chunk& chunk : context.chunks(context.accumulators.part(AccumulatorParts::halves))) {
        for (std::uint32_t i = 0; i < inputs.size(); ++i) {
            if (context.memory.tensors[inputs[i]].part_of) continue;
            context.operations.emplace_back(CopyLines{.layer = context.layer, .input = i, .chunk = chunk});
        }
    }
}

}  // namespace systole::tpu_v1
