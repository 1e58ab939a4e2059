#include "compiler/operators/strided.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "compiler/ir/model_error.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/quantizer.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

/// Copies elements of a size that is known when the loop is compiled.
template <std::size_t bytes>
void copy_row(const std::uint8_t* from, std::ptrdiff_t step, std::size_t count, std::uint8_t* to) {
    const std::ptrdiff_t byte_step = step * static_cast<std::ptrdiff_t>(bytes);
    for (std::size_t i = 0; i < count; ++i, from += byte_step, to += bytes) std::memcpy(to, from, bytes);
}

/// Joins axes that lie one behind the other, so that rows are long.
StridedView with_long_rows(StridedView view) {
    for (std::size_t axis = view.extents.size(); axis-- > 1;) {
        const bool follows =
            view.strides[axis - 1] == view.strides[axis] * static_cast<std::ptrdiff_t>(view.extents[axis]);
        if (view.extents[axis] != 1 && view.extents[axis - 1] != 1 && !follows) continue;
        if (view.extents[axis] == 1) view.strides[axis] = view.strides[axis - 1];
        view.extents[axis] *= view.extents[axis - 1];
        view.extents.erase(view.extents.begin() + static_cast<std::ptrdiff_t>(axis) - 1);
        view.strides.erase(view.strides.begin() + static_cast<std::ptrdiff_t>(axis) - 1);
    }
    return view;
}

}  // namespace

std::vector<std::ptrdiff_t> packed_strides(const ir::Shape& shape) {
    std::vector<std::ptrdiff_t> strides(shape.rank());
    std::ptrdiff_t stride = 1;
    for (std::size_t axis = shape.rank(); axis-- > 0;) {
        strides[axis] = stride;
        stride *= shape[axis];
    }
    return strides;
}

StridedView whole_view(const ir::Shape& shape) {
    return {.extents = {shape.extents().begin(), shape.extents().end()}, .strides = packed_strides(shape)};
}

StridedView broadcast_view(const ir::Shape& from, const ir::Shape& to) {
    const auto fail = [&] {
        throw ModelError(
            fmt::format("it repeats {} to {}; each axis, counted from the last, must be 1 or the same",
                        to_text(from), to_text(to)));
    };
    if (from.rank() > to.rank()) fail();
    const std::size_t missing = to.rank() - from.rank();
    const std::vector<std::ptrdiff_t> strides = packed_strides(from);
    StridedView view = whole_view(to);
    std::fill_n(view.strides.begin(), missing, 0);
    for (std::size_t axis = 0; axis < from.rank(); ++axis) {
        const bool is_same = from[axis] == to[missing + axis];
        if (!is_same && from[axis] != 1) fail();
        view.strides[missing + axis] = is_same ? strides[axis] : 0;
    }
    return view;
}

ir::Shape broadcast_shape(const ir::Shape& a, const ir::Shape& b) {
    const ir::Shape& longer = a.rank() >= b.rank() ? a : b;
    const ir::Shape& shorter = a.rank() >= b.rank() ? b : a;
    const std::size_t missing = longer.rank() - shorter.rank();
    std::vector<std::uint32_t> extents(longer.extents().begin(), longer.extents().end());
    for (std::size_t axis = 0; axis < shorter.rank(); ++axis) {
        std::uint32_t& extent = extents[missing + axis];
        if (extent == 1) extent = shorter[axis];
        if (extent == shorter[axis] || shorter[axis] == 1) continue;
        throw ModelError(
            fmt::format("it combines {} and {}; each axis, counted from the last, must be the same or 1",
                        to_text(a), to_text(b)));
    }
    return ir::Shape(extents);
}

void copy_view(const StridedView& given, std::size_t element_bytes, const void* from, void* to) {
    const StridedView view = with_long_rows(given);
    const std::size_t count = view.extents.empty() ? 1 : view.extents.back();
    const std::ptrdiff_t step = view.extents.empty() ? 1 : view.strides.back();
    const auto* const bytes = static_cast<const std::uint8_t*>(from);
    auto* target = static_cast<std::uint8_t*>(to);
    for_each_row(view, [&](std::ptrdiff_t offset) {
        const std::uint8_t* const row = bytes + offset * static_cast<std::ptrdiff_t>(element_bytes);
        if (step == 1) {
            std::memcpy(target, row, count * element_bytes);
        } else if (element_bytes == 1) {
            copy_row<1>(row, step, count, target);
        } else if (element_bytes == 2) {
            copy_row<2>(row, step, count, target);
        } else {
            copy_row<4>(row, step, count, target);
        }
        target += count * element_bytes;
    });
}

void require_one_kind(const ir::NodeView& node) {
    const auto check = [&](const ir::Value& value, bool is_computed) {
        const bool is_alike =
            is_stored_alike(value, node.input()) || (is_computed && value.type == node.input().type);
        if (!is_alike) fail_as_stored_unlike("its inputs and its results", node.input(), value);
    };
    for (std::size_t i = 0; i < node.node().inputs.size(); ++i) check(node.input(i), false);
    // Scales along an axis of a constant that is computed while a file is read may move with the axis, or go.
    const bool is_computed = node.data_inputs() == 0;
    for (std::size_t i = 0; i < node.node().outputs.size(); ++i) {
        check(node.output(i), is_computed);
    }
}

void quantize_moved(const ir::Node& node, Quantizer& quantizer) {
    const bool all_are_stored = std::ranges::all_of(node.inputs, [&](ir::ValueId input) {
        return quantizer.is_stored(input) &&
               quantizer.stored_encoding(input) == quantizer.stored_encoding(node.inputs.front());
    });
    if (!all_are_stored) return quantizer.add_real(node);
    quantizer.add_like(node, quantizer.stored_encoding(node.inputs.front()));
}

Placement ViewOperator::placement() const {
    return {.where = "host", .formats = "all"};
}

void ViewOperator::to_words(const ir::Node& node, WordsBuilder& builder) const {
    builder.copy(node);
}

void ViewOperator::compute(const TensorCall& call) const {
    const ir::Value& input = call.node.input();
    const std::size_t bytes = bytes_of(input.type);
    const StridedView view = view_of(call.node);
    const std::size_t input_bytes = input.constant ? 0 : input.shape.elements() * bytes;
    const std::size_t output_bytes = call.node.output().shape.elements() * bytes;
    for (std::size_t image = 0; image < call.batch; ++image) {
        copy_view(view, bytes, call.input<std::uint8_t>(0) + image * input_bytes,
                  call.output<std::uint8_t>() + image * output_bytes);
    }
}

}  // namespace systole::operators
