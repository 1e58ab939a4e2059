// Element-wise work on whole rows: sums and products of two tensors, lookups of one.
#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "compiler/target/tpu_v1/schedule/layer_lowering.h"

namespace systole::tpu_v1 {
namespace {

/// Checks that the two operands and the result have the same shape and type.
void check_operands(const LayerView& view) {
    const Tensor& a = view.input(0);
    const Tensor& b = view.input(1);
    const Tensor& result = view.output();
    view.require(a.shape == b.shape && a.shape == result.shape, "inputs and output must have one shape");
    if (a.type == b.type && a.type == result.type) return;
    view.reject(
        fmt::format("its inputs are {} and {}, its output is {}; element-wise work has tensors of one "
                    "type",
                    name_of(a.type), name_of(b.type), name_of(result.type)));
}

void check_table(const Elementwise& work, const LayerView& view) {
    view.require(work.table.has_value(), "a lookup must have a table");
    view.require(view.input().shape.elements() == view.output().shape.elements(),
                 "a lookup keeps the number of elements");
    const std::size_t entry_bytes =
        std::visit([](const auto& entries) { return sizeof(entries[0]); }, *work.table);
    view.require(bytes_of(view.input().type) == entry_bytes && bytes_of(view.output().type) == entry_bytes,
                 "a lookup's input and output are as wide as its table's entries");
}

}  // namespace

void plan(const Elementwise& work, const LayerView& view, LayerPlan& plan) {
    switch (work.operation) {
        case isa::VectorOperation::Add:
            view.require(view.layer.inputs.size() == 2, "an addition must have two inputs");
            check_operands(view);
            plan.kind = "add";
            return;
        case isa::VectorOperation::Multiply:
            view.require(view.layer.inputs.size() == 2, "a product must have two inputs");
            check_operands(view);
            plan.kind = "multiply";
            return;
        case isa::VectorOperation::Lookup:
            check_table(work, view);
            plan.kind = "lookup";
            return;
        case isa::VectorOperation::MaxPool:
        case isa::VectorOperation::AveragePool:
            break;
    }
    view.require(false, "pooling is not element-wise");
}

bool works_by_image(const LayerView& view, const MemoryPlan& memory) {
    const std::uint64_t rows = image_rows(view.output(), view.target.geometry.rows);
    const auto has_more = [&](TensorId id) { return memory.tensors[id].image_rows != rows; };
    // Pieces other than whole images could end within an element.
    const bool rows_cut_elements = view.target.geometry.rows % bytes_of(view.output().type) != 0;
    return rows_cut_elements || has_more(view.layer.output) ||
           std::any_of(view.layer.inputs.begin(), view.layer.inputs.end(), has_more);
}

// Pieces have half the accumulators' rows, which is the size of the pieces of neighbouring layers, so that
// layers can overlap. Image by image, pieces are whole images.
void lower(const Elementwise&, LayerLowering& context) {
    const auto rows =
        static_cast<std::uint32_t>(image_rows(context.view.output(), context.view.target.geometry.rows));
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

}  // namespace systole::tpu_v1
