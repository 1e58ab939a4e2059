// Transfers of a layer's own between host memory and the unified buffer, for networks whose tensors do not
// fit (fit_memory.h). All inferences have a place in host memory, so nothing waits for a place there.
#include "compiler/target/tpu_v1/schedule/layer_lowering.h"

namespace systole::tpu_v1 {
namespace {

/// Checks that the part's elements are consecutive ones of the whole's.
void check_part(const LayerView& view, const Tensor& part, const Tensor& whole, std::uint64_t first_element) {
    view.require(view.layer.inputs.size() == 1, "a transfer moves one tensor");
    view.require(part.type == whole.type && part.scale == whole.scale && part.zero_point == whole.zero_point,
                 "a transfer keeps the encoding");
    view.require(first_element < whole.shape.elements() &&
                     part.shape.elements() <= whole.shape.elements() - first_element,
                 "a transfer must lie within its tensor in host memory");
}

FetchTensor moved(const LayerLowering& context, TensorId on_chip, TensorId in_host,
                  std::uint64_t first_element) {
    return {.layer = context.layer,
            .tensor = on_chip,
            .host_tensor = in_host,
            .first_byte = first_element * bytes_of(context.view.output().type),
            .first_inference = context.first_inference,
            .first_image = context.first_image,
            .images = context.images};
}

}  // namespace

void plan(const Fetch& fetch, const LayerView& view, LayerPlan& plan) {
    check_part(view, view.output(), view.input(), fetch.first_element);
    plan.kind = "fetch";
}

void plan(const Send& send, const LayerView& view, LayerPlan& plan) {
    check_part(view, view.input(), view.output(), send.first_element);
    plan.kind = "send";
}

void lower(const Fetch& fetch, LayerLowering& context) {
    const Layer& layer = context.view.layer;
    context.operations.emplace_back(moved(context, layer.output, layer.inputs[0], fetch.first_element));
}

void lower(const Send& send, LayerLowering& context) {
    const Layer& layer = context.view.layer;
    context.operations.emplace_back(
        SendTensor{moved(context, layer.inputs[0], layer.output, send.first_element)});
}

}  // namespace systole::tpu_v1
