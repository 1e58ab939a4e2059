// A segment of the host: the chip sends what it has computed, the host works, and the chip fetches what it
// reads. All inferences have a place in host memory, so nothing waits for a place there.
#include <set>

#include "compiler/target/tpu_v1/network/host_parts.h"
#include "compiler/target/tpu_v1/schedule/layer_lowering.h"

namespace systole::tpu_v1 {

void plan(const HostSegment&, const LayerView& view, LayerPlan& plan) {
    const Layer& layer = view.layer;
    view.require(!layer.outputs.empty() && layer.output == layer.outputs.front(),
                 "a host segment must have outputs, of which the first is the layer's");
    const std::set<TensorId> inputs(layer.inputs.begin(), layer.inputs.end());
    for (const TensorId id : layer.outputs) {
        view.require(!inputs.contains(id), "a host segment must not read its outputs");
    }
    plan.kind = "host";
}

void lower(const HostSegment&, LayerLowering& context) {
    const Layer& layer = context.view.layer;
    const FetchTensor images{.layer = context.layer,
                             .first_inference = context.first_inference,
                             .first_image = context.first_image,
                             .images = context.images};
    const auto moved = [&](TensorId tensor) {
        FetchTensor result = images;
        result.tensor = tensor;
        result.host_tensor = tensor;
        return result;
    };
    std::set<TensorId> seen;
    for (const TensorId input : layer.inputs) {
        const bool seen_before = !seen.insert(input).second;
        // An output of the network is sent when it has been computed, unless that waits for all groups.
        const mapping::TensorUse& use = context.uses[input];
        const bool is_sent = use.is_output && context.layer >= context.memory.groups.layers;
        if (use.begins_in_host || seen_before || is_sent || use.first_segment != context.layer) {
            continue;
        }
        context.operations.emplace_back(SendTensor{moved(input)});
    }
    context.operations.emplace_back(RunSegment{
        .layer = context.layer, .first_inference = images.first_inference, .images = context.images});
    for (const TensorId output : layer.outputs) {
        if (!context.uses[output].chip_readers.empty()) context.operations.emplace_back(moved(output));
    }
}

}  // namespace systole::tpu_v1
