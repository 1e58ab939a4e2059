// Turns the elements along an axis, by default the channels of each pixel, into probabilities: exp(x) divided
// by the sum of exp(x).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/ir/model_error.h"
#include "compiler/operators/axis_lines.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/quantizer.h"
#include "compiler/operators/softmax/softmax_nodes.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

ir::ValueId read_keras_softmax(ir::LayerReader& layer) {
    const std::size_t rank = layer.value(layer.input()).shape.rank();
    const std::size_t axis = axis_in(layer, integer_of(layer, "axis", -1), rank);
    const std::int64_t given = axis + 1 == rank ? -1 : static_cast<std::int64_t>(axis);
    return layer.append("softmax", {{"axis", given}}, {layer.input()});
}

class Softmax final : public Operator {
public:
    std::string_view name() const override { return "softmax"; }
    std::string_view summary() const override {
        return "Turns the elements along an axis, by default the channels of each pixel, into probabilities: "
               "exp(x) divided by the sum of exp(x).";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{axis_attribute()};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Keras,
                 .name = "Softmax",
                 .keys = {{"axis", "`axis`"}},
                 .build = read_keras_softmax},
                onnx_softmax("softmax", "Softmax"),
                {.format = ir::Format::GraphJson, .name = "softmax", .build = [](ir::LayerReader& layer) {
                     return layer.append("softmax", {}, {layer.input()});
                 }}};
    }
    std::vector<ir::FunctionName> function_names() const override { return {{ir::Format::Keras, "softmax"}}; }

    std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                         std::span<const std::uint32_t> axes) const override {
        return permuted_lines(node, axes);
    }
    LeadingOnes leading_ones(const ir::NodeView& node) const override {
        return node.node().integer("axis") == -1 ? LeadingOnes::Passed : LeadingOnes::Counted;
    }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return kept_batch(node, has_batch, axis_of_attribute(node) != 0);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 1) throw ModelError("it must have exactly 1 input");
        axis_of_attribute(node);
        return {node.input().shape};
    }
    Placement placement() const override {
        return {.where = "host",
                .formats = "float32; uint8, int8 or int16 to itself or, as the last layer, to float32"};
    }
    /// Behind the program, the host knows only the whole output of an inference.
    bool is_host_operation(const ir::NodeView& node) const override {
        const ir::Shape& shape = node.input().shape;
        return lines_along(shape, axis_of_attribute(node)).count == shape.elements();
    }
    std::uint64_t operations(const ir::NodeView& node) const override {
        // find the largest, subtract it, exponential, sum, divide
        constexpr std::uint64_t operations_per_element = 5;
        return operations_per_element * node.output().shape.elements();
    }
    void check_types(const ir::NodeView& node) const override {
        const ir::Value& result = node.output();
        if (result.type != DataType::Float32 && !(result.quantization && is_integer(result.type))) {
            throw ModelError(fmt::format("its result is {}; it must be float32, or of integers with a scale",
                                         name_of(result.type)));
        }
        if (!is_integer(node.input().type) && node.input().type != DataType::Float32) {
            throw ModelError(fmt::format("softmax works on float32 and on integers, not on {}",
                                         name_of(node.input().type)));
        }
    }
    void quantize(const ir::Node& node, Quantizer& quantizer) const override {
        const ir::Graph& graph = quantizer.graph();
        const bool is_last = graph.outputs.size() == 1 && ir::is_output(graph, node.output()) &&
                             ir::readers(graph)[node.output()].empty();
        if (is_last) {
            quantizer.add_real_from_stored(node);
        } else if (!quantizer.is_stored(node.inputs.front())) {
            // What the host computed in float32 stays so. Where a mask makes scores of attention hugely
            // negative, no integers could tell the others apart.
            quantizer.add_real(node);
        } else {
            quantizer.add_like(node, quantizer.encoding(node.output()));
        }
    }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override {
        const ir::ValueId x = builder.input_of(node);
        const std::vector<std::size_t> axes{axis_of_attribute(builder.view(node))};
        const ir::ValueId largest = builder.reduce(systole::Reduction::Maximum, x, axes);
        const ir::ValueId powers =
            builder.chain({x, largest}, [](std::span<const Word> in) { return exp(in[0] - in[1]); });
        const ir::ValueId sum = builder.reduce(systole::Reduction::Sum, powers, axes);
        builder.set(node.output(),
                    builder.chain({powers, sum}, [](std::span<const Word> in) { return in[0] / in[1]; }));
    }
    void evaluate(const FloatCall& call) const override {
        AxisLines lines = lines_along(call.node.input().shape, axis_of_attribute(call.node));
        lines.outer *= call.batch;
        for_each_line(lines, [&](std::size_t first) {
            const float* const from = call.inputs[0] + first;
            float* const to = call.output + first;
            const std::size_t step = lines.inner;
            float largest = *from;
            for (std::size_t i = 0; i < lines.count; ++i) largest = std::max(largest, from[i * step]);
            float sum = 0.0F;
            for (std::size_t i = 0; i < lines.count; ++i)
                sum += to[i * step] = std::exp(from[i * step] - largest);
            for (std::size_t i = 0; i < lines.count; ++i) to[i * step] /= sum;
        });
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_softmax() {
    return std::make_unique<Softmax>();
}

}  // namespace systole::operators
