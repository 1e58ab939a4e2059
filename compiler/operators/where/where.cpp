// The element of the first tensor where a condition is true, else that of the second.
#include <fmt/format.h>

#include <cstring>

#include "compiler/ir/model_error.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/quantizer.h"
#include "compiler/operators/strided.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

ir::Results append_where(ir::LayerReader& layer) {
    const ir::ValueId chosen = input_of(layer, 1);
    const ir::ResultType type{layer.value(chosen).type, layer.value(chosen).quantization};
    return layer.append_as(type, "where", {}, {input_of(layer, 0), chosen, input_of(layer, 2)});
}

/// TFLite SELECT: a condition with one axis chooses along the first axis of the tensors.
ir::Results read_tflite_select(ir::LayerReader& layer) {
    const ir::Shape condition = shape_of(layer, 0);
    const ir::Shape shape = shape_of(layer, 1);
    if (condition.rank() != 1 || shape.rank() <= 1) return append_where(layer);
    std::vector<std::uint32_t> extents(shape.rank(), 1);
    extents[0] = condition[0];
    const ir::ValueId column = append_shape(layer, input_of(layer, 0), ir::Shape(extents));
    const ir::ResultType type{layer.value(input_of(layer, 1)).type,
                              layer.value(input_of(layer, 1)).quantization};
    return layer.append_as(type, "where", {}, {column, input_of(layer, 1), input_of(layer, 2)});
}

class Where final : public Operator {
public:
    std::string_view name() const override { return "where"; }
    std::string_view summary() const override {
        return "The element of the first tensor where a condition is true, else that of the second. Inputs: "
               "the "
               "condition, truth values in uint8; the tensors. All are broadcast by NumPy's rule.";
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Onnx, .name = "Where", .build = append_where},
                {.format = ir::Format::Tflite, .name = "SELECT", .build = read_tflite_select},
                {.format = ir::Format::Tflite, .name = "SELECT_V2", .build = append_where}};
    }
    std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                         std::span<const std::uint32_t> axes) const override {
        return permuted_elements(node, axes);
    }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return batch_of_elements(node, has_batch);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 3) throw ModelError("it must have exactly 3 inputs");
        return {
            broadcast_shape(broadcast_shape(node.input(0).shape, node.input(1).shape), node.input(2).shape)};
    }
    DataType result_type(const ir::NodeView& node) const override { return node.input(1).type; }
    Placement placement() const override {
        return {.where = "host; vector unit of a tensor core", .formats = "all"};
    }
    void check_types(const ir::NodeView& node) const override {
        if (node.input(0).type != DataType::Uint8) {
            throw ModelError(
                fmt::format("its condition is of {}; it must be of uint8", name_of(node.input(0).type)));
        }
        for (const ir::Value* const value : {&node.input(2), &node.output()}) {
            if (is_stored_alike(*value, node.input(1))) continue;
            fail_as_stored_unlike("its tensors and its result", node.input(1), *value);
        }
    }
    void quantize(const ir::Node& node, Quantizer& quantizer) const override { quantizer.add_real(node); }
    bool takes_words() const override { return true; }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override {
        const std::vector<ir::ValueId> inputs{builder.input_of(node, 0), builder.input_of(node, 1),
                                              builder.input_of(node, 2)};
        builder.set(node.output(),
                    builder.chain_as(builder.value(inputs[1]).type, inputs, [](std::span<const Word> words) {
                        return select(words[0], words[1], words[2]);
                    }));
    }
    void compute(const TensorCall& call) const override {
        const ir::Shape& shape = call.node.output().shape;
        const std::size_t elements = shape.elements();
        const std::size_t bytes = bytes_of(call.node.output().type);
        const auto repeated = [&](std::size_t index, std::size_t image) {
            const ir::Value& value = call.node.input(index);
            const std::size_t size = bytes_of(value.type);
            std::vector<std::uint8_t> result(elements * size);
            const std::size_t first = value.constant ? 0 : image * value.shape.elements() * size;
            copy_view(broadcast_view(value.shape, shape), size, call.input<std::uint8_t>(index) + first,
                      result.data());
            return result;
        };
        auto* to = call.output<std::uint8_t>();
        for (std::size_t image = 0; image < call.batch; ++image) {
            const std::vector<std::uint8_t> condition = repeated(0, image);
            const std::vector<std::uint8_t> chosen = repeated(1, image);
            const std::vector<std::uint8_t> other = repeated(2, image);
            for (std::size_t i = 0; i < elements; ++i, to += bytes) {
                std::memcpy(to, (condition[i] != 0 ? chosen : other).data() + i * bytes, bytes);
            }
        }
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_where() {
    return std::make_unique<Where>();
}

}  // namespace systole::operators
