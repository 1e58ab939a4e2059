// Rules of instructions that combine elements by a computation of their own.
#include <fmt/format.h>

#include <algorithm>

#include "base/message_text.h"
#include "compiler/frontend/hlo/checked_instruction.h"

namespace systole::hlo {
namespace {

void check_root(const CheckedInstruction& at, std::size_t called, ElementType type) {
    if (at.shape(at.root_id(called)).is_scalar(type)) return;
    CheckedInstruction::fail(fmt::format("the computation that it calls gives {}; it must give {}[]",
                                         at.text_of(at.root_id(called)), traits_of(type).name));
}

/// Arrays of the same dimensions, and as many scalars, of the same types, with which sums start.
std::vector<ElementType> checked_inputs(const CheckedInstruction& at) {
    if (at.operands() % 2 != 0) {
        CheckedInstruction::fail(fmt::format("it has {}; it must have as many initial values as arrays",
                                             counted(at.operands(), "operand")));
    }
    const std::size_t count = at.operands() / 2;
    std::vector<ElementType> types;
    for (std::size_t i = 0; i < count; ++i) {
        const Shape& array = at.array(i);
        types.push_back(array.type);
        at.expect_same_dimensions(0, i);
        if (!at.operand(count + i).is_scalar(array.type)) {
            CheckedInstruction::fail(fmt::format("its initial value {} is {}; it must be {}[]", i,
                                                 at.text_of(at.operand_id(count + i)),
                                                 traits_of(array.type).name));
        }
    }
    return types;
}

void check_results(const CheckedInstruction& at, std::span<const ElementType> types,
                   const Numbers& dimensions) {
    const std::vector<ShapeId> results = at.results(types.size());
    for (std::size_t i = 0; i < types.size(); ++i) at.expect_part(results[i], types[i], dimensions);
}

void check_window(const CheckedInstruction& at, const Window& window) {
    if (window.dimensions.size() != at.array(0).rank()) {
        CheckedInstruction::fail(fmt::format("its window has {}; it must have those of {}",
                                             counted(window.dimensions.size(), "dimension"),
                                             at.text_of(at.operand_id(0))));
    }
    if (std::ranges::any_of(window.dimensions, &WindowDimension::is_reversed))
        CheckedInstruction::fail("its window is reversed; only one of a convolution may be");
}

}  // namespace

void check_parameter(const CheckedInstruction& at, std::size_t called, std::size_t number, ElementType type) {
    const ShapeId id = at.parameter_id(called, number);
    if (at.shape(id).is_scalar(type)) return;
    CheckedInstruction::fail(
        fmt::format("parameter {} of the computation that it calls is {}; it must be {}[]", number,
                    at.text_of(id), traits_of(type).name));
}

void check_parameter_count(const CheckedInstruction& at, std::size_t called, std::size_t count) {
    if (at.parameters(called) == count) return;
    CheckedInstruction::fail(fmt::format("the computation that it calls has {}; it must have {}",
                                         counted(at.parameters(called), "parameter"), count));
}

void check_combiner(const CheckedInstruction& at, std::size_t called, std::span<const ElementType> types) {
    check_parameter_count(at, called, 2 * types.size());
    for (std::size_t i = 0; i < 2 * types.size(); ++i)
        check_parameter(at, called, i, types[i % types.size()]);
    if (types.size() == 1) return check_root(at, called, types[0]);
    const Shape& root = at.shape(at.root_id(called));
    bool fits = root.is_tuple && root.parts.size() == types.size();
    for (std::size_t i = 0; fits && i < types.size(); ++i) fits = at.shape(root.parts[i]).is_scalar(types[i]);
    if (fits) return;
    std::string scalars;
    for (const ElementType type : types)
        scalars += fmt::format("{}{}[]", scalars.empty() ? "" : ", ", traits_of(type).name);
    CheckedInstruction::fail(fmt::format("the computation that it calls gives {}; it must give ({})",
                                         at.text_of(at.root_id(called)), scalars));
}

std::vector<std::int64_t> windowed_extents(std::span<const std::int64_t> extents,
                                           std::span<const WindowDimension> window) {
    std::vector<std::int64_t> results;
    for (std::size_t i = 0; i < extents.size(); ++i) {
        const WindowDimension& dimension = window[i];
        // Sizes, strides and dilations are at most those of arrays: all products fit in 64 bits.
        const std::int64_t base = extents[i] == 0 ? 0 : (extents[i] - 1) * dimension.base_dilation + 1;
        const std::int64_t padded = base + dimension.padding_low + dimension.padding_high;
        const std::int64_t covered = (dimension.size - 1) * dimension.window_dilation + 1;
        results.push_back(padded < covered ? 0 : (padded - covered) / dimension.stride + 1);
    }
    return results;
}

void check_reduce(const CheckedInstruction& at) {
    const std::vector<ElementType> types = checked_inputs(at);
    const Shape& array = at.array(0);
    const Numbers& axes = at.attributes<Dimensions>().dimensions;
    check_axes("a dimension", axes, array.rank());
    check_combiner(at, 0, types);
    check_results(at, types, other_extents(array.dimensions, axes));
}

void check_reduce_window(const CheckedInstruction& at) {
    const std::vector<ElementType> types = checked_inputs(at);
    const auto& window = at.attributes<Window>();
    check_window(at, window);
    check_combiner(at, 0, types);
    check_results(at, types, windowed_extents(at.array(0).dimensions, window.dimensions));
}

void check_select_and_scatter(const CheckedInstruction& at) {
    const Shape& operand = at.array(0);
    const auto& window = at.attributes<Window>();
    check_window(at, window);
    const Numbers places = windowed_extents(operand.dimensions, window.dimensions);
    const Shape& source = at.array(1);
    if (source.type != operand.type || source.dimensions != places) {
        CheckedInstruction::fail(fmt::format("its second operand is {}; by its window it must be {}",
                                             at.text_of(at.operand_id(1)), array_text(operand.type, places)));
    }
    if (!at.array(2).is_scalar(operand.type)) {
        CheckedInstruction::fail(fmt::format("its initial value is {}; it must be {}[]",
                                             at.text_of(at.operand_id(2)), traits_of(operand.type).name));
    }
    check_parameter_count(at, 0, 2);
    for (std::size_t i = 0; i < 2; ++i) check_parameter(at, 0, i, operand.type);
    check_root(at, 0, ElementType::Pred);
    check_combiner(at, 1, std::span(&operand.type, 1));
    at.expect(at.operand_id(0));
}

void check_sort(const CheckedInstruction& at) {
    const Shape& first = at.array(0);
    check_axes("its dimension", std::span(&at.attributes<Sort>().axis, 1), first.rank());
    const std::size_t count = at.operands();
    check_parameter_count(at, 0, 2 * count);
    const std::vector<ShapeId> results = at.results(count);
    for (std::size_t i = 0; i < count; ++i) {
        const Shape& array = at.array(i);
        at.expect_same_dimensions(0, i);
        check_parameter(at, 0, 2 * i, array.type);
        check_parameter(at, 0, 2 * i + 1, array.type);
        at.expect_part(results[i], array.type, array.dimensions);
    }
    check_root(at, 0, ElementType::Pred);
}

void check_topk(const CheckedInstruction& at) {
    const Shape& operand = at.array(0);
    const std::int64_t k = at.attributes<Topk>().k;
    if (operand.rank() == 0 || k < 0 || k > operand.dimensions.back()) {
        CheckedInstruction::fail(
            fmt::format("it takes {} elements of the last dimension of {}; it must have so many", k,
                        at.text_of(at.operand_id(0))));
    }
    Numbers dimensions = operand.dimensions;
    dimensions.back() = k;
    const std::vector<ShapeId> results = at.results(2);
    at.expect_part(results[0], operand.type, dimensions);
    at.expect_part(results[1], ElementType::S32, dimensions);
}

}  // namespace systole::hlo
