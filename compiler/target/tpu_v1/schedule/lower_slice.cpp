// A slice of a tensor. No data moves; readers of the slice read the tensor's rows.
#include <fmt/format.h>

#include <vector>

#include "compiler/target/tpu_v1/network/host_parts.h"
#include "compiler/target/tpu_v1/schedule/layer_lowering.h"

namespace systole::tpu_v1 {

void plan(const Slice& slice, const LayerView& view, LayerPlan& plan) {
    const Tensor& from = view.input();
    const Tensor& to = view.output();
    view.require(from.type == to.type && from.scale == to.scale && from.zero_point == to.zero_point,
                 "a slice must have the encoding of its input");
    view.require(slice.first_element < from.shape.elements() &&
                     to.shape.elements() <= from.shape.elements() - slice.first_element,
                 "a slice must lie within its input");
    plan.kind = "slice";
}

void check_slices(const AnalysedNetwork& analysed, const Target& target) {
    const Network& network = analysed.network();
    // The host transfers slices of the network's input separately, from any byte on.
    std::vector<bool> is_transferred(network.tensors.size(), false);
    for (const HostPart& part : analysed.inputs) is_transferred[part.tensor] = true;
    for (const Layer& layer : network.layers) {
        const auto* const slice = std::get_if<Slice>(&layer.work);
        if (slice == nullptr || is_transferred[layer.output]) continue;
        const LayerView view{network, layer, target};
        const std::uint64_t first_byte = slice->first_element * bytes_of(view.input().type);
        const std::uint32_t row_bytes = target.geometry.rows;
        if (first_byte % row_bytes == 0) continue;
        view.reject(
            fmt::format("it is a slice from element {} on, byte {} of an image; on an array of {} rows a "
                        "slice must begin at a multiple of {} bytes",
                        slice->first_element, first_byte, row_bytes, row_bytes));
    }
}

void lower(const Slice&, LayerLowering&) {}

}  // namespace systole::tpu_v1
