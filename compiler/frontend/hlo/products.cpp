// Rules of products, factorizations and normalizations.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/message_text.h"
#include "compiler/frontend/hlo/checked_instruction.h"

namespace systole::hlo {
namespace {

/// Whether numbers of these types can be multiplied into numbers of the type of the result.
bool can_multiply(const Shape& left, const Shape& right, const Shape& result) {
    const auto is_number = [](const Shape& shape, bool is_float) {
        const ElementTypeTraits& traits = traits_of(shape.type);
        return is_float ? traits.is_float : traits.is_integer;
    };
    const bool is_float = traits_of(result.type).is_float;
    return is_number(left, is_float) && is_number(right, is_float) && is_number(result, is_float);
}

void check_types_of_product(const CheckedInstruction& at) {
    if (can_multiply(at.array(0), at.array(1), at.result_array())) return;
    CheckedInstruction::fail(
        fmt::format("it multiplies {} by {} into {}; all must be floats, or all integers",
                    at.text_of(at.operand_id(0)), at.text_of(at.operand_id(1)), at.text_of(at.result_id())));
}

/// Fails unless axes of both operands have the same sizes, pair by pair.
void check_pairs(const CheckedInstruction& at, std::string_view what, const Numbers& left,
                 const Numbers& right) {
    if (left.size() != right.size()) {
        CheckedInstruction::fail(
            fmt::format("it has {} and {} {} dimensions of its operands; they must be as many", left.size(),
                        right.size(), what));
    }
    for (std::size_t i = 0; i < left.size(); ++i) {
        const std::int64_t left_size = extent_of(at.array(0), left[i]);
        const std::int64_t right_size = extent_of(at.array(1), right[i]);
        if (left_size == right_size) continue;
        CheckedInstruction::fail(
            fmt::format("its {} dimensions {} and {} have sizes {} and {}; they must be the same", what,
                        left[i], right[i], left_size, right_size));
    }
}

/// Fails unless the axes are all of an array, each once.
void check_convolution_axes(std::string_view what, const ConvolutionAxes& axes, const Shape& array) {
    const Numbers all = concatenated(std::array{axes.batch, axes.feature}, axes.spatial);
    if (all.size() != array.rank()) {
        CheckedInstruction::fail(fmt::format("it names {} of its {}; it must name all {}",
                                             counted(all.size(), "dimension"), what, array.rank()));
    }
    check_axes(fmt::format("a dimension of its {}", what), all, array.rank());
}

void check_multiple(std::string_view what, std::int64_t value, std::string_view of, std::int64_t divisor) {
    if (value % divisor == 0) return;
    CheckedInstruction::fail(
        fmt::format("its {} are {}; they must be a multiple of {}, {}", what, value, of, divisor));
}

/// The features of a batch normalization; fails unless the operands from 1 to `last` are vectors of them.
Numbers checked_features(const CheckedInstruction& at, std::size_t last) {
    const Shape& operand = at.array(0);
    const std::int64_t axis = at.attributes<BatchNorm>().axis;
    check_axes("feature_index", std::array{axis}, operand.rank());
    if (!traits_of(operand.type).is_float)
        CheckedInstruction::fail(
            fmt::format("its operand is {}; it must be of floats", at.text_of(at.operand_id(0))));
    Numbers features{extent_of(operand, axis)};
    for (std::size_t i = 1; i <= last; ++i) {
        if (at.array(i).type == operand.type && at.array(i).dimensions == features) continue;
        CheckedInstruction::fail(fmt::format("its operand {} is {}; it must be {}", i,
                                             at.text_of(at.operand_id(i)),
                                             array_text(operand.type, features)));
    }
    return features;
}

void check_normalized(const CheckedInstruction& at, const Numbers& features) {
    constexpr std::size_t results = 3;
    const Shape& operand = at.array(0);
    const std::vector<ShapeId> parts = at.results(results);
    at.expect_part(parts[0], operand.type, operand.dimensions);
    for (std::size_t i = 1; i < results; ++i) at.expect_part(parts[i], operand.type, features);
}

/// Fails unless an operand is of square matrices of floats.
void check_square(const CheckedInstruction& at) {
    const Shape& operand = at.array(0);
    const std::size_t rank = operand.rank();
    if (rank >= 2 && operand.dimensions[rank - 1] == operand.dimensions[rank - 2] &&
        traits_of(operand.type).is_float) {
        return;
    }
    CheckedInstruction::fail(
        fmt::format("its operand is {}; it must be square matrices of floats", at.text_of(at.operand_id(0))));
}

}  // namespace

void check_dot(const CheckedInstruction& at) {
    check_types_of_product(at);
    const auto& dot = at.attributes<Dot>();
    const Numbers left = concatenated(dot.left_contracting, dot.left_batch);
    const Numbers right = concatenated(dot.right_contracting, dot.right_batch);
    check_axes("a dimension of its first operand", left, at.array(0).rank());
    check_axes("a dimension of its second operand", right, at.array(1).rank());
    check_pairs(at, "contracting", dot.left_contracting, dot.right_contracting);
    check_pairs(at, "batch", dot.left_batch, dot.right_batch);
    const Numbers free = concatenated(other_extents(at.array(0).dimensions, left),
                                      other_extents(at.array(1).dimensions, right));
    at.expect(at.result().type, concatenated(extents_of(at.array(0), dot.left_batch), free));
}

void check_convolution(const CheckedInstruction& at) {
    check_types_of_product(at);
    const auto& convolution = at.attributes<Convolution>();
    const Shape& input = at.array(0);
    const Shape& kernel = at.array(1);
    const Shape& result = at.result_array();
    check_convolution_axes("input", convolution.input, input);
    check_convolution_axes("kernel", convolution.kernel, kernel);
    check_convolution_axes("result", convolution.output, result);
    if (kernel.rank() != input.rank() || result.rank() != input.rank()) {
        CheckedInstruction::fail(fmt::format(
            "it convolves {} by {} into {}; all must have as many dimensions", at.text_of(at.operand_id(0)),
            at.text_of(at.operand_id(1)), at.text_of(at.result_id())));
    }
    if (convolution.feature_groups != 1 && convolution.batch_groups != 1) {
        CheckedInstruction::fail(
            fmt::format("feature_group_count is {} and batch_group_count {}; one of them must be 1",
                        convolution.feature_groups, convolution.batch_groups));
    }
    const Numbers window = extents_of(kernel, convolution.kernel.spatial);
    Numbers sizes;
    for (const WindowDimension& dimension : convolution.window) sizes.push_back(dimension.size);
    if (sizes != window) {
        CheckedInstruction::fail(
            fmt::format("its window is {}; it must be {}, as its kernel", joined(sizes), joined(window)));
    }
    const std::int64_t batch = extent_of(input, convolution.input.batch);
    const std::int64_t features = extent_of(input, convolution.input.feature);
    const std::int64_t kernel_features = extent_of(kernel, convolution.kernel.feature);
    const std::int64_t outputs = extent_of(kernel, convolution.kernel.batch);
    if (kernel_features * convolution.feature_groups != features) {
        CheckedInstruction::fail(fmt::format(
            "its kernel has {} features for each of {}; together they must be the {} of its input",
            kernel_features, counted(static_cast<std::size_t>(convolution.feature_groups), "group"),
            features));
    }
    check_multiple("output features", outputs, "feature_group_count", convolution.feature_groups);
    check_multiple("output features", outputs, "batch_group_count", convolution.batch_groups);
    check_multiple("input batches", batch, "batch_group_count", convolution.batch_groups);
    Numbers dimensions(result.rank());
    dimensions[static_cast<std::size_t>(convolution.output.batch)] = batch / convolution.batch_groups;
    dimensions[static_cast<std::size_t>(convolution.output.feature)] = outputs;
    const Numbers spatial =
        windowed_extents(extents_of(input, convolution.input.spatial), convolution.window);
    for (std::size_t i = 0; i < spatial.size(); ++i) {
        dimensions[static_cast<std::size_t>(convolution.output.spatial[i])] = spatial[i];
    }
    at.expect(result.type, dimensions);
}

void check_cholesky(const CheckedInstruction& at) {
    check_square(at);
    at.expect(at.operand_id(0));
}

void check_triangular_solve(const CheckedInstruction& at) {
    check_square(at);
    const Shape& matrix = at.array(0);
    const Shape& right = at.array(1);
    const std::size_t rank = matrix.rank();
    bool fits = right.type == matrix.type && right.rank() == rank;
    for (std::size_t i = 0; fits && i + 2 < rank; ++i) fits = right.dimensions[i] == matrix.dimensions[i];
    const std::size_t axis = at.attributes<TriangularSolve>().is_left_side ? rank - 2 : rank - 1;
    if (!fits || right.dimensions[axis] != matrix.dimensions[axis]) {
        CheckedInstruction::fail(fmt::format(
            "its operands are {} and {}; type, batch and the dimension that it solves for must be the same",
            at.text_of(at.operand_id(0)), at.text_of(at.operand_id(1))));
    }
    at.expect(at.operand_id(1));
}

void check_batch_norm_training(const CheckedInstruction& at) {
    check_normalized(at, checked_features(at, 2));
}

void check_batch_norm_inference(const CheckedInstruction& at) {
    checked_features(at, 4);
    at.expect(at.operand_id(0));
}

void check_batch_norm_grad(const CheckedInstruction& at) {
    const Numbers features = checked_features(at, 3);
    if (at.operand_id(4) != at.operand_id(0)) {
        CheckedInstruction::fail(fmt::format("its operand 4 is {}; it must be {}",
                                             at.text_of(at.operand_id(4)), at.text_of(at.operand_id(0))));
    }
    check_normalized(at, features);
}

}  // namespace systole::hlo
