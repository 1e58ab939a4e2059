// The same elements in the same order, with another shape.
#include <fmt/format.h>

#include <limits>

#include "compiler/ir/model_error.h"
#include "compiler/operators/element_range.h"
#include "compiler/operators/layer_formats.h"

namespace systole::operators {
namespace {

ir::ValueId append_reshape(ir::LayerReader& layer, const ir::Shape& shape) {
    const std::vector<std::int64_t> extents(shape.extents().begin(), shape.extents().end());
    return layer.append("reshape", {{"shape", extents}}, {layer.input()});
}

ir::ValueId flatten_input(ir::LayerReader& layer) {
    return append_reshape(layer, ir::vector_shape(static_cast<std::uint32_t>(layer.input_map().elements())));
}

/// Reads a Keras Reshape; one extent may be -1 and then follows from the others.
ir::ValueId read_keras_reshape(ir::LayerReader& layer) {
    constexpr const char* rule = "each must be an integer from 1 to 4294967295, or -1 once";
    if (!layer.has("target_shape")) layer.fail("target_shape", "it must be given");
    if (!layer.is_list("target_shape")) layer.fail("target_shape", "it must be a list");
    std::uint64_t known = 1;
    std::vector<std::uint32_t> extents{1};
    std::optional<std::size_t> inferred;
    const auto values = layer.integers("target_shape");
    for (const auto& value : *values) {
        if (value == -1 && !inferred) {
            inferred = extents.size();
            extents.push_back(1);
            continue;
        }
        if (!value || *value < 1 ||
            __builtin_mul_overflow(known, static_cast<std::uint64_t>(*value), &known)) {
            layer.fail("target_shape", rule);
        }
        extents.push_back(static_cast<std::uint32_t>(*value));
        if (extents.size() > ir::Shape::most_extents) break;
    }
    constexpr std::size_t vector_rank = 2;
    constexpr std::size_t image_rank = 4;
    if (extents.size() != vector_rank && extents.size() != image_rank) {
        layer.fail("target_shape", "it must have 1 or 3 dimensions");
    }
    // Fits in 32 bits, because the size of tensors is limited.
    const std::uint64_t elements = layer.input_map().elements();
    if (inferred) extents[*inferred] = static_cast<std::uint32_t>(elements / known);
    return append_reshape(layer, ir::Shape(extents));
}

class Reshape final : public ElementRangeOperator {
public:
    std::string_view name() const override { return "reshape"; }
    std::string_view summary() const override {
        return "The same elements in the same order, with another shape.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            {.name = "shape",
             .meaning = "the new shape, with the batch",
             .absent = std::vector<std::int64_t>{},
             .is_required = true,
             .minimum = 0,
             .maximum = std::numeric_limits<std::uint32_t>::max()}};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {
            {.format = ir::Format::Keras,
             .name = "Reshape",
             .keys = {{"target_shape", "`shape`, without the batch; one may be -1"}},
             .build = read_keras_reshape},
            {.format = ir::Format::Keras,
             .name = "Flatten",
             .keys = {{"data_format", "only \"channels_last\""}},
             .build =
                 [](ir::LayerReader& layer) {
                     layer.require_text("data_format", "channels_last");
                     return flatten_input(layer);
                 }},
            {.format = ir::Format::GraphJson,
             .name = "reshape",
             .keys = {{"shape", "`shape`, without the batch"}},
             .build =
                 [](ir::LayerReader& layer) { return append_reshape(layer, json_shape(layer, "shape")); }},
            {.format = ir::Format::GraphJson, .name = "flatten", .build = flatten_input}};
    }

    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        node.require_inputs(1);
        std::vector<std::uint32_t> extents;
        for (const std::int64_t extent : node.node().integers("shape")) {
            extents.push_back(static_cast<std::uint32_t>(extent));
        }
        const ir::Shape shape(extents);
        if (shape.checked_elements() != node.input().shape.elements()) {
            throw ModelError(fmt::format("it reshapes {} to {}; the number of elements must stay the same",
                                         map_text(node.input().shape), map_text(shape)));
        }
        return {shape};
    }
    bool is_identity(const ir::NodeView& node) const override {
        return map_text(node.input().shape) == map_text(node.output().shape);
    }
    bool reads_elements() const override { return true; }
    Placement placement() const override {
        return {.where = "nowhere: elements stay in place", .formats = "float32; uint8, int8, int16"};
    }
    void lower(const ir::NodeView& node, Lowering& lowering) const override {
        if (ir::is_output(node.graph(), node.node().output())) {
            // The host gets the same bytes with either shape.
            lowering.share_tensor(node.node().output(), lowering.tensor_of(node.node().inputs.front()));
            return;
        }
        ElementRangeOperator::lower(node, lowering);
    }

protected:
    std::uint64_t first_element(const ir::NodeView& /*node*/) const override { return 0; }
};

}  // namespace

std::unique_ptr<ir::Operator> make_reshape() {
    return std::make_unique<Reshape>();
}

}  // namespace systole::operators
