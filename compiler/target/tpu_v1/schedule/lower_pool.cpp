// Pooling, which is vector work by lines of the output. It is cut like matrix work, so that the next layer
// can begin with the first images.
#include <fmt/format.h>

#include "base/limits.h"
#include "compiler/target/tpu_v1/schedule/layer_lowering.h"

namespace systole::tpu_v1 {

void plan(const Pooling& pooling, const LayerView& view, LayerPlan& plan) {
    check_window(view, pooling.window);
    view.require(view.input().shape.channels == view.output().shape.channels, "pooling keeps the channels");
    view.require(view.input().type == view.output().type, "pooling keeps the type of elements");
    if (bytes_of(view.input().type) == 2) {
        view.reject("it pools 16-bit elements; pooling is of 8-bit ones");
    }
    const std::uint64_t pixels = pooling.window.kernel_elements();
    if (pixels > largest_pooling_window) {
        view.reject(fmt::format("a pooling window has {} pixels; it may have at most {}", pixels,
                                largest_pooling_window));
    }
    if (!pooling.count_padding && !windows_meet_image(view, pooling.window)) {
        view.reject("a pooling window lies wholly in the padding; each must touch the image");
    }
    view.require(pooling.operation == isa::VectorOperation::MaxPool ||
                     pooling.operation == isa::VectorOperation::AveragePool,
                 "pooling takes the largest or the mean");
    plan.kind = pooling.operation == isa::VectorOperation::MaxPool ? "max_pool" : "average_pool";
}

void lower(const Pooling&, LayerLowering& context) {
    for (const Chunk& chunk : context.chunks(context.accumulators.part(AccumulatorParts::halves))) {
        context.operations.emplace_back(PoolLines{.layer = context.layer, .chunk = chunk});
    }
}

}  // namespace systole::tpu_v1
