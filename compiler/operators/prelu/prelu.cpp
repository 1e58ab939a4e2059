// x for x >= 0, slope * x for x < 0, with slopes from a tensor.
#include "compiler/operators/prelu/prelu.h"

#include <algorithm>

#include "base/stored_integers.h"
#include "compiler/ir/encoding.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/fixed_point.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/pair_function.h"

namespace systole::operators {
namespace {

float prelu_of_floats(float x, float slope) {
    return x >= 0.0F ? x : x * slope;
}

Word prelu_of_words(const Word& a, const Word& b) {
    return select(less_equal(0.0F, a), a, a * b);
}

/// Keras: the slopes have the input's shape, with extent 1 for shared axes, which count from 1.
ir::ValueId read_keras_prelu(ir::LayerReader& layer) {
    const ir::ValueId input = layer.input();
    const ir::Shape shape = layer.value(input).shape;
    std::vector<std::uint32_t> extents(shape.extents().begin() + 1, shape.extents().end());
    for (const std::int64_t axis : integers_of(layer, "shared_axes").value_or(std::vector<std::int64_t>{})) {
        if (axis < 1 || axis > static_cast<std::int64_t>(extents.size())) {
            layer.fail("shared_axes", "each must be an axis behind the batch, from 1 on");
        }
        extents[static_cast<std::size_t>(axis) - 1] = 1;
    }
    const ir::ValueId slopes = layer.weight(
        {.roles = {"alpha"}, .file_shape = {extents.begin(), extents.end()}, .shape = ir::Shape(extents)});
    return layer.append("prelu", {}, {input, slopes});
}

class Prelu final : public PairFunctionOperator {
public:
    Prelu()
        : PairFunctionOperator(PairDefinition{.name = "prelu",
                                              .summary =
                                                  "x for x >= 0, slope * x for x < 0. Inputs: x; slopes, "
                                                  "broadcast to the shape of x.",
                                              .on_floats = apply_to_row<prelu_of_floats>,
                                              .words = prelu_of_words,
                                              .on_integers = apply_to_row<wrapping_multiply>,
                                              .layers = {onnx_pair("prelu", "PRelu"),
                                                         tflite_pair("prelu", "PRELU"),
                                                         {.format = ir::Format::Keras,
                                                          .name = "PReLU",
                                                          .keys = {{"shared_axes", "axes with one slope"}},
                                                          .build = read_keras_prelu}}}) {}

    Placement placement() const override {
        return {.where = "host; with one slope as a `lookup`",
                .formats = "float32; quantized uint8 and int8"};
    }
    /// The slopes must fit into the input's axes.
    LeadingOnes leading_ones(const ir::NodeView& node) const override {
        return node.input(1).shape.rank() <= 1 ? LeadingOnes::Passed : LeadingOnes::Counted;
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        const ir::Shape shape = paired_shape(node);
        if (shape != node.input().shape) throw ModelError("its slopes must fit into the shape of its input");
        return {shape};
    }
    void check_types(const ir::NodeView& node) const override {
        PairFunctionOperator::check_types(node);
        if (is_integer(node.input().type) && !node.input().quantization) {
            throw ModelError("prelu works on float32 and on quantized numbers");
        }
    }
    void compute(const TensorCall& call) const override {
        if (call.node.output().type == DataType::Float32) return PairFunctionOperator::compute(call);
        const ir::Encoding x = encoding_of(call.node.input(0));
        const ir::Encoding slope = encoding_of(call.node.input(1));
        const ir::Encoding result = encoding_of(call.node.output());
        const PreluScaling scaling = prelu_scaling(call.node);
        std::vector<std::int32_t> a(call.input_elements(0));
        std::vector<std::int32_t> b(call.input_elements(1));
        widen(call.inputs[0], x.type, a);
        widen(call.inputs[1], slope.type, b);
        std::vector<std::int32_t> numbers(call.output_elements());
        const auto function = [&](std::int32_t stored, std::int32_t stored_slope) {
            const std::int32_t real = stored - x.zero_point;
            const std::int32_t product = real * (stored_slope - slope.zero_point);
            const std::int32_t scaled = real >= 0
                                            ? scale(real, scaling.above.multiplier, scaling.above.shift)
                                            : scale(product, scaling.below.multiplier, scaling.below.shift);
            return offset_and_clamp(scaled, result.zero_point, lowest_of(result.type),
                                    highest_of(result.type));
        };
        for_each_pair_row(call.node, call.batch, a.data(), b.data(), numbers.data(), [&](const auto& row) {
            const std::int32_t* from = row.a;
            const std::int32_t* slopes = row.b;
            for (std::size_t i = 0; i < row.count; ++i, from += row.step_a, slopes += row.step_b) {
                row.to[i] = function(*from, *slopes);
            }
        });
        narrow(numbers, result.type, call.outputs.front());
    }

protected:
    bool works_on_quantized(const ir::NodeView& node) const override {
        return bytes_of(node.input().type) == 1;
    }
};

}  // namespace

PreluScaling prelu_scaling(const ir::NodeView& node) {
    const double x = encoding_of(node.input(0)).scale;
    const double result = encoding_of(node.output()).scale;
    return {.above = fixed_point_of(x / result),
            .below = fixed_point_of(x * encoding_of(node.input(1)).scale / result)};
}

std::unique_ptr<ir::Operator> make_prelu() {
    return std::make_unique<Prelu>();
}

}  // namespace systole::operators
