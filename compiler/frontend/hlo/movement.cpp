// Rules of the instructions that move elements to fixed places.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/hlo/checked_instruction.h"

namespace systole::hlo {
namespace {

/// Fails unless an attribute has an entry for each dimension of operand 0.
void check_entries(const CheckedInstruction& at, std::size_t entries) {
    if (entries == at.array(0).rank()) return;
    CheckedInstruction::fail(fmt::format("it has entries for {} dimensions of {}; it must have one for each",
                                         entries, at.text_of(at.operand_id(0))));
}

}  // namespace

void check_iota(const CheckedInstruction& at) {
    const Shape& result = at.result_array();
    const std::int64_t axis = only_axis(at.attributes<Dimensions>().dimensions);
    check_axes("its dimension", std::span(&axis, 1), result.rank());
    if (result.type == ElementType::Pred)
        CheckedInstruction::fail(
            fmt::format("its result is {}; it must be of numbers", at.text_of(at.result_id())));
}

void check_broadcast(const CheckedInstruction& at) {
    const Shape& operand = at.array(0);
    const Shape& result = at.result_array();
    const Numbers& axes = at.attributes<Dimensions>().dimensions;
    check_entries(at, axes.size());
    check_axes("a dimension of its result", axes, result.rank());
    Numbers dimensions = result.dimensions;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        dimensions[static_cast<std::size_t>(axes[i])] = operand.dimensions[i];
    }
    at.expect(operand.type, dimensions);
}

void check_reshape(const CheckedInstruction& at) {
    const Shape& operand = at.array(0);
    const Shape& result = at.result_array();
    if (operand.type == result.type && operand.elements == result.elements) return;
    CheckedInstruction::fail(
        fmt::format("its result is {}, its operand {}; type and number of elements must be the same",
                    at.text_of(at.result_id()), at.text_of(at.operand_id(0))));
}

void check_transpose(const CheckedInstruction& at) {
    const Shape& operand = at.array(0);
    const Numbers& axes = at.attributes<Dimensions>().dimensions;
    check_entries(at, axes.size());
    check_axes("a dimension of its operand", axes, operand.rank());
    at.expect(operand.type, extents_of(operand, axes));
}

void check_reverse(const CheckedInstruction& at) {
    check_axes("a dimension", at.attributes<Dimensions>().dimensions, at.array(0).rank());
    at.expect(at.operand_id(0));
}

void check_slice(const CheckedInstruction& at) {
    const Shape& operand = at.array(0);
    const auto& slices = at.attributes<Slice>().dimensions;
    check_entries(at, slices.size());
    Numbers dimensions;
    for (std::size_t axis = 0; axis < slices.size(); ++axis) {
        const SliceDimension& slice = slices[axis];
        if (slice.start < 0 || slice.start > slice.limit || slice.limit > operand.dimensions[axis]) {
            CheckedInstruction::fail(
                fmt::format("it takes elements from {} to before {} in dimension {}; they must be among {}",
                            slice.start, slice.limit, axis, operand.dimensions[axis]));
        }
        dimensions.push_back((slice.limit - slice.start + slice.stride - 1) / slice.stride);
    }
    at.expect(operand.type, dimensions);
}

void check_pad(const CheckedInstruction& at) {
    const Shape& operand = at.array(0);
    const auto& padding = at.attributes<Padding>().dimensions;
    check_entries(at, padding.size());
    if (!at.array(1).is_scalar(operand.type)) {
        CheckedInstruction::fail(fmt::format("its padding value is {}; it must be {}[]",
                                             at.text_of(at.operand_id(1)), traits_of(operand.type).name));
    }
    Numbers dimensions;
    for (std::size_t axis = 0; axis < padding.size(); ++axis) {
        const std::int64_t extent = operand.dimensions[axis];
        dimensions.push_back(extent + padding[axis].low + padding[axis].high +
                             std::max<std::int64_t>(extent - 1, 0) * padding[axis].interior);
    }
    at.expect(operand.type, dimensions);
}

void check_concatenate(const CheckedInstruction& at) {
    const std::int64_t named = only_axis(at.attributes<Dimensions>().dimensions);
    const Shape& first = at.array(0);
    check_axes("its dimension", std::span(&named, 1), first.rank());
    const auto axis = static_cast<std::size_t>(named);
    Numbers dimensions = first.dimensions;
    for (std::size_t i = 1; i < at.operands(); ++i) {
        const Shape& operand = at.array(i);
        bool fits = operand.type == first.type && operand.rank() == first.rank();
        for (std::size_t k = 0; fits && k < first.rank(); ++k) {
            fits = k == axis || operand.dimensions[k] == first.dimensions[k];
        }
        if (!fits) {
            CheckedInstruction::fail(
                fmt::format("its operands are {} and {}; they may differ only in dimension {}",
                            at.text_of(at.operand_id(0)), at.text_of(at.operand_id(i)), axis));
        }
        dimensions[axis] += operand.dimensions[axis];
    }
    at.expect(first.type, dimensions);
}

}  // namespace systole::hlo
