// The same elements with the axes in another order.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/quantizer.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

using Axes = std::array<std::size_t, ir::Shape::most_extents>;
using Integers = std::vector<std::int64_t>;

ir::Results append_transpose(ir::LayerReader& layer, Integers permutation) {
    const ir::ValueId input = input_of(layer, 0);
    for (std::int64_t& axis : permutation) {
        axis = static_cast<std::int64_t>(axis_in(layer, axis, layer.value(input).shape.rank()));
    }
    return append_same(layer, "transpose", {{"permutation", permutation}}, {input});
}

/// Without `perm`, the axes are reversed.
ir::Results read_onnx_transpose(ir::LayerReader& layer) {
    Integers reversed;
    for (std::size_t axis = shape_of(layer).rank(); axis-- > 0;)
        reversed.push_back(static_cast<std::int64_t>(axis));
    return append_transpose(layer, integers_of(layer, "perm").value_or(reversed));
}

/// Reads a Keras Permute, whose axes are counted from 1, behind the batch.
ir::ValueId read_keras_permute(ir::LayerReader& layer) {
    const auto values = layer.is_list("dims") ? layer.integers("dims") : std::nullopt;
    if (!values) layer.fail("dims", "it must be a list of axes, counted from 1");
    std::vector<std::int64_t> permutation{0};
    for (const auto& axis : *values) {
        if (!axis || *axis < 1 || *axis >= static_cast<std::int64_t>(ir::Shape::most_extents)) {
            layer.fail("dims", "it must be a list of axes, counted from 1");
        }
        permutation.push_back(*axis);
    }
    return layer.append("transpose", {{"permutation", std::move(permutation)}}, {layer.input()});
}

class Transpose final : public Operator {
public:
    std::string_view name() const override { return "transpose"; }
    std::string_view summary() const override {
        return "The same elements with the axes in another order: axis i of the result is axis "
               "permutation[i] "
               "of the input.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            {.name = "permutation",
             .meaning = "the input's axis that each axis of the result is",
             .absent = std::vector<std::int64_t>{},
             .is_required = true,
             .minimum = 0,
             .maximum = ir::Shape::most_extents - 1}};
        return declarations;
    }

    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Keras,
                 .name = "Permute",
                 .keys = {{"dims", "`permutation`, without the batch"}},
                 .build = read_keras_permute},
                {.format = ir::Format::Onnx,
                 .name = "Transpose",
                 .keys = {{"perm", "`permutation`; absent: reversed"}},
                 .build = read_onnx_transpose},
                {.format = ir::Format::Tflite, .name = "TRANSPOSE", .build = [](ir::LayerReader& layer) {
                     return append_transpose(layer, constant_integers(layer, 1));
                 }}};
    }

    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return kept_batch(node, has_batch, node.node().integers("permutation").front() == 0);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 1) throw ModelError("it must have exactly 1 input");
        const ir::Shape& shape = node.input().shape;
        const std::vector<std::int64_t>& permutation = node.node().integers("permutation");
        std::array<bool, ir::Shape::most_extents> taken{};
        std::vector<std::uint32_t> extents;
        for (const std::int64_t axis : permutation) {
            const auto from = static_cast<std::size_t>(axis);
            if (from >= shape.rank() || taken[from]) break;
            taken[from] = true;
            extents.push_back(shape[from]);
        }
        if (extents.size() != shape.rank() || permutation.size() != shape.rank()) {
            throw ModelError(fmt::format("its permutation is {}; it must have each axis of {} once",
                                         ir::to_text(ir::Attribute(permutation)), ir::to_text(shape)));
        }
        return {ir::Shape(extents)};
    }
    bool is_identity(const ir::NodeView& node) const override {
        const std::vector<std::int64_t>& permutation = node.node().integers("permutation");
        for (std::size_t i = 0; i < permutation.size(); ++i) {
            if (permutation[i] != static_cast<std::int64_t>(i)) return false;
        }
        return true;
    }
    Placement placement() const override { return {.where = "host", .formats = "all"}; }
    void check_types(const ir::NodeView& node) const override {
        // A constant that is computed while a file is read gets its scales later.
        if (node.input().type != node.output().type ||
            (!node.input().constant && node.input().quantization != node.output().quantization)) {
            fail_as_stored_unlike("its input and its result", node.input(), node.output());
        }
    }
    void quantize(const ir::Node& node, Quantizer& quantizer) const override {
        // Then it may be part of a product.
        const ir::ValueId input = node.inputs.front();
        const auto& outputs = quantizer.graph().outputs;
        const bool is_output = std::ranges::find(outputs, node.output()) != outputs.end();
        if (!quantizer.quantizes_products() || !quantizer.is_stored(input) || is_output)
            return Operator::quantize(node, quantizer);
        quantizer.add_like(node, quantizer.stored_encoding(input));
    }
    bool takes_words() const override { return true; }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override { builder.copy(node); }
    void compute(const TensorCall& call) const override {
        const std::size_t bytes = bytes_of(call.node.input().type);
        const ir::Shape& from_shape = call.node.input().shape;
        const ir::Shape& to_shape = call.node.output().shape;
        const std::vector<std::int64_t>& permutation = call.node.node().integers("permutation");
        // Bytes between neighbours along each axis of the input.
        Axes strides{};
        std::size_t stride = bytes;
        for (std::size_t axis = from_shape.rank(); axis-- > 0; stride *= from_shape[axis])
            strides[axis] = stride;

        const auto* from = call.input<std::uint8_t>(0);
        auto* to = call.output<std::uint8_t>();
        const std::size_t elements = to_shape.elements();
        const bool is_constant = call.node.input().constant.has_value();
        for (std::uint32_t image = 0; image < call.batch; ++image) {
            Axes position{};
            std::size_t offset = 0;
            for (std::size_t i = 0; i < elements; ++i, to += bytes) {
                std::memcpy(to, from + offset, bytes);
                for (std::size_t axis = to_shape.rank(); axis-- > 0;) {
                    const std::size_t step = strides[static_cast<std::size_t>(permutation[axis])];
                    offset += step;
                    if (++position[axis] < to_shape[axis]) break;
                    offset -= step * to_shape[axis];
                    position[axis] = 0;
                }
            }
            if (!is_constant) from += elements * bytes;
        }
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_transpose() {
    return std::make_unique<Transpose>();
}

}  // namespace systole::operators
