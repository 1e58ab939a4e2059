// The real numbers that stored integers stand for: scale * (stored - zero point).
#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/conversion.h"
#include "base/stored_integers.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/onnx_images.h"
#include "compiler/operators/onnx_quantization.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/tflite_functions.h"

namespace systole::operators {
namespace {

/// The stored numbers of an input with the shape of the scales; zeros if it is left out.
std::vector<std::int32_t> block_zero_points(const ir::LayerReader& layer, const ir::Value& stored,
                                            const ir::Shape& scales) {
    std::vector<std::int32_t> numbers(scales.elements(), 0);
    if (!layer.input_if_any(2)) return numbers;
    const ir::Value& zero_points = layer.value(constant_input(layer, 2, "zero point"));
    if (zero_points.type != stored.type || zero_points.shape != scales) {
        layer.fail(fmt::format("its zero points are {} {}; they must be {} {}, as its numbers and scales",
                               to_text(zero_points.shape), name_of(zero_points.type), to_text(scales),
                               name_of(stored.type)));
    }
    widen(zero_points.constant->bytes().data(), zero_points.type, numbers);
    return numbers;
}

/// A constant with a scale for each block of `block` elements along an axis: its real numbers, since nothing
/// computes with so many scales.
ir::ValueId read_blocks(ir::LayerReader& layer, std::uint32_t block) {
    const ir::Value& stored = layer.value(constant_input(layer, 0, "the numbers"));
    const ir::Value& scales = layer.value(constant_input(layer, 1, "scale"));
    const std::size_t axis = onnx_axis(layer, "axis", 1, stored.shape.rank());
    const auto given = stored.shape.extents();
    std::vector<std::uint32_t> extents(given.begin(), given.end());
    extents[axis] = divide_up(extents[axis], block);
    const ir::Shape blocks(extents);
    if (scales.shape != blocks || scales.type != DataType::Float32) {
        layer.fail(fmt::format("its scales are {} {}; blocks of {} along axis {} of {} need {} float32",
                               to_text(scales.shape), name_of(scales.type), block, axis,
                               to_text(stored.shape), to_text(blocks)));
    }
    if (!is_integer(stored.type)) {
        layer.fail(fmt::format("its numbers are {}; they must be integers", name_of(stored.type)));
    }
    const std::vector<std::int32_t> zero_points = block_zero_points(layer, stored, blocks);
    const ir::Shape shape = stored.shape;
    std::vector<std::int32_t> numbers(shape.elements());
    widen(stored.constant->bytes().data(), stored.type, numbers);
    const std::span<const float> factors = scales.constant->values<float>();
    std::size_t inner = 1;
    for (std::size_t i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
    std::vector<float> reals(numbers.size());
    for (std::size_t i = 0; i < reals.size(); ++i) {
        const std::size_t place = i / inner % shape[axis];
        const std::size_t line = i / inner / shape[axis];
        const std::size_t index = (line * blocks[axis] + place / block) * inner + i % inner;
        reals[i] = real_number(numbers[i], double{factors[index]}, zero_points[index]);
    }
    return layer.constant("reals", shape, std::move(reals));
}

/// x, the scale and the zero point. The real numbers of a constant keep its scale, so that passes find the
/// integers again.
ir::ValueId read_onnx_dequantize(ir::LayerReader& layer) {
    const auto input = layer.input_if_any(0);
    if (!input) layer.fail("its first input is absent; it must be given");
    const std::int64_t block = integer_of(layer, "block_size", 0);
    if (block < 0) layer.fail("block_size", "it must be 0 or more");
    if (block > 0) return read_blocks(layer, static_cast<std::uint32_t>(block));
    const std::size_t rank = layer.value(*input).shape.rank();
    const bool has_axis = layer.input_if_any(1) && layer.value(layer.inputs()[1]).shape.elements() > 1;
    const auto axis = has_axis ? std::optional(onnx_axis(layer, "axis", 1, rank)) : std::nullopt;
    const OnnxQuantization quantization = onnx_quantization(layer, 1, 2, axis);
    const ir::ValueId stored = layer.as_quantized(*input, quantization.quantization);
    if (!layer.value(stored).constant) return layer.append("dequantize", {}, {stored});
    return layer.append_as({DataType::Float32, quantization.quantization}, "dequantize", {}, {stored});
}

class Dequantize final : public Operator {
public:
    std::string_view name() const override { return "dequantize"; }
    std::string_view summary() const override {
        return "The real numbers that stored integers stand for: scale * (stored - zero point), with one "
               "scale "
               "or one for each index of an axis.";
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Onnx,
                 .name = "DequantizeLinear",
                 .keys = {{"axis", "the axis of the scales, if there are several"},
                          {"block_size",
                           "of constants: so many elements along the axis have one scale; 0: as many as the "
                           "scales leave"}},
                 .build = read_onnx_dequantize},
                tflite_dequantize()};
    }
    LeadingOnes leading_ones(const ir::NodeView& /*node*/) const override { return LeadingOnes::Passed; }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return kept_batch(node, has_batch);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 1) throw ModelError("it must have exactly 1 input");
        return {node.input().shape};
    }
    std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                         std::span<const std::uint32_t> axes) const override {
        return permuted_elements(node, axes);
    }
    Placement placement() const override {
        return {.where = "host", .formats = "uint8, int8, int16 or int32 to float32"};
    }
    DataType result_type(const ir::NodeView& /*node*/) const override { return DataType::Float32; }
    void check_types(const ir::NodeView& node) const override {
        if (!is_integer(node.input().type) || node.output().type != DataType::Float32) {
            throw ModelError(fmt::format("it turns {} into {}; it must turn integers into float32",
                                         name_of(node.input().type), name_of(node.output().type)));
        }
        if (!node.input().quantization) throw ModelError("its input must have a scale");
    }
    void compute(const TensorCall& call) const override {
        const ir::Value& input = call.node.input();
        const ir::Quantization& quantization = *input.quantization;
        std::vector<std::int32_t> numbers(call.input_elements(0));
        widen(call.inputs[0], input.type, numbers);
        const ir::ScaleAxis scales = scale_axis(input);
        auto* const to = call.output<float>();
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const std::size_t index = scales.index_of(i);
            to[i] = real_number(numbers[i], quantization.scales[index], quantization.zero_points[index]);
        }
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_dequantize() {
    return std::make_unique<Dequantize>();
}

}  // namespace systole::operators
