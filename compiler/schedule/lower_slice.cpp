// A slice of a tensor. No data moves; readers of the slice read the tensor's rows.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/host_parts.h"
#include "compiler/schedule/lowering.h"

namespace systole::schedule {

void plan(const mapping::Slice& slice, const LayerView& view, LayerPlan& plan) {
    const mapping::Tensor& from = view.input();
    const mapping::Tensor& to = view.output();
    view.require(from.type == to.type && from.scale == to.scale && from.zero_point == to.zero_point,
                 "a slice must have the encoding of its input");
    view.require(slice.first_element < from.shape.elements() &&
                     to.shape.elements() <= from.shape.elements() - slice.first_element,
                 "a slice must lie within its input");
    plan.kind = "slice";
    // The host transfers slices of the network's input separately, from any byte on.
    const std::vector<HostPart> inputs = input_parts(view.network);
    const auto is_this = [&](const HostPart& part) { return part.tensor == view.layer.output; };
    if (std::any_of(inputs.begin(), inputs.end(), is_this)) return;
    const std::uint64_t first_byte = slice.first_element * bytes_of(from.type);
    const std::uint32_t row_bytes = view.target.geometry.rows;
    if (first_byte % row_bytes != 0) {
        view.reject(
            fmt::format("it is a slice from element {} on, byte {} of an image; on an array of {} rows a "
                        "slice must begin at a multiple of {} bytes",
                        slice.first_element, first_byte, row_bytes, row_bytes));
    }
}

void lower(const mapping::Slice&, LayerLowering&) {}

}  // namespace systole::schedule
