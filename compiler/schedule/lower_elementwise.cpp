#include "compiler/schedule/lower_elementwise.h"

#include <fmt/format.h>

#include <algorithm>

namespace systole::schedule {

void check_operands(const LayerView& view) {
    const quantized::Tensor& a = view.input(0);
    const quantized::Tensor& b = view.input(1);
    const quantized::Tensor& result = view.output();
    view.require(a.shape == b.shape && a.shape == result.shape, "inputs and output must have one shape");
    if (a.type == b.type && a.type == result.type) return;
    view.reject(
        fmt::format("its inputs are {} and {}, its output is {}; element-wise work has tensors of one "
                    "type",
                    name_of(a.type), name_of(b.type), name_of(result.type)));
}

bool works_by_image(const LayerView& view, const MemoryPlan& memory) {
    const std::uint64_t rows = image_rows(view.output(), view.target);
    const auto has_more = [&](quantized::TensorId id) { return memory.tensors[id].image_rows != rows; };
    // Pieces of other rows than whole images would end within an element.
    const bool rows_cut_elements = view.target.geometry.rows % bytes_of(view.output().type) != 0;
    return rows_cut_elements || has_more(view.layer.output) ||
           std::any_of(view.layer.inputs.begin(), view.layer.inputs.end(), has_more);
}

void lower_elementwise(PassContext& context) {
    const auto rows = static_cast<std::uint32_t>(image_rows(context.view.output(), context.view.target));
    const std::uint32_t limit = context.accumulators.part(AccumulatorParts::halves);
    const bool by_image = works_by_image(context.view, context.memory);
    const std::uint32_t unit = by_image ? rows : 1;
    const std::uint32_t first_row = context.first_image * rows;
    for (const Piece& piece : cut_evenly(context.images * rows / unit, std::max(limit / unit, 1U))) {
        context.operations.emplace_back(
            ElementwiseRows{.layer = context.layer,
                            .rows = {.first = first_row + piece.first * unit, .count = piece.count * unit}});
    }
}

}  // namespace systole::schedule
