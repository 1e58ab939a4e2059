// The unchanged input: for layers that have an effect in training only, and for linear functions.
#include <algorithm>
#include <array>
#include <cstring>

#include "compiler/ir/model_error.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

/// The Keras layers that have an effect in training only.
constexpr std::array training_layers{
    "Dropout",         "SpatialDropout1D", "SpatialDropout2D",       "GaussianNoise",
    "GaussianDropout", "AlphaDropout",     "ActivityRegularization", "RandomFlip",
    "RandomRotation",  "RandomZoom",       "RandomTranslation",      "RandomContrast",
    "RandomHeight",    "RandomWidth",      "RandomBrightness",       "Identity"};

ir::ValueId read_keras_activation(ir::LayerReader& layer) {
    if (!layer.has("activation")) layer.fail("activation", "it must be given");
    return layer.append_function("activation", layer.input());
}

ir::Results read_onnx_dropout(ir::LayerReader& layer) {
    const auto training = constant_integers_if_any(layer, 2);
    if (training && !training->empty() && training->front() != 0) {
        layer.fail("it is in training mode; networks run after training");
    }
    return input_of(layer, 0);
}

class Identity final : public Operator {
public:
    std::string_view name() const override { return "identity"; }
    std::string_view summary() const override { return "The unchanged input."; }
    std::vector<ir::LayerKind> layer_kinds() const override {
        std::vector<ir::LayerKind> kinds;
        kinds.reserve(training_layers.size());
        for (const char* const name : training_layers) {
            kinds.push_back(
                {.format = ir::Format::Keras, .name = name, .keys = {}, .build = [](ir::LayerReader& layer) {
                     return layer.input();
                 }});
        }
        kinds.push_back({.format = ir::Format::Onnx, .name = "Identity", .build = [](ir::LayerReader& layer) {
                             return ir::Results(input_of(layer, 0));
                         }});
        kinds.push_back({.format = ir::Format::Onnx,
                         .name = "Dropout",
                         .keys = {{"ratio", "nothing: it has an effect in training only"},
                                  {"seed", "nothing: it has an effect in training only"}},
                         .build = read_onnx_dropout});
        kinds.push_back({.format = ir::Format::Keras,
                         .name = "Activation",
                         .keys = {{"activation", "the function that the layer is"}},
                         .build = read_keras_activation});
        // Masked steps are those of zeros alone, which become zeros. The reader refuses layers behind this
        // one that leave masked steps out.
        kinds.push_back({.format = ir::Format::Keras,
                         .name = "Masking",
                         .keys = {{"mask_value", "only 0; a layer that leaves out masked steps is refused"}},
                         .build = [](ir::LayerReader& layer) {
                             layer.require_number("mask_value", 0);
                             return ir::Results(layer.input());
                         }});
        kinds.push_back(
            {.format = ir::Format::GraphJson, .name = "linear", .build = [](ir::LayerReader& layer) {
                 return layer.append("identity", {}, {layer.input()});
             }});
        return kinds;
    }
    std::vector<ir::FunctionName> function_names() const override {
        return {{ir::Format::Keras, "linear"}, {ir::Format::GraphJson, "linear"}};
    }

    LeadingOnes leading_ones(const ir::NodeView& /*node*/) const override { return LeadingOnes::Passed; }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return kept_batch(node, has_batch);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        node.require_inputs(1);
        return {node.input().shape};
    }
    bool is_identity(const ir::NodeView& /*node*/) const override { return true; }
    std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                         std::span<const std::uint32_t> axes) const override {
        return permuted_elements(node, axes);
    }
    Placement placement() const override { return {.where = "nowhere: it is removed", .formats = "all"}; }
    void check_types(const ir::NodeView& node) const override {
        // A constant that is computed while a file is read gets its scales later.
        if (node.input().type != node.output().type ||
            (!node.input().constant && node.input().quantization != node.output().quantization)) {
            fail_as_stored_unlike("its input and its result", node.input(), node.output());
        }
    }
    bool takes_words() const override { return true; }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override { builder.copy(node); }
    void compute(const TensorCall& call) const override {
        const ir::Value& value = call.node.input();
        const std::size_t bytes = value.shape.elements() * bytes_of(value.type);
        for (std::uint32_t image = 0; image < call.batch; ++image) {
            std::memcpy(call.output<std::uint8_t>() + image * bytes,
                        call.input<std::uint8_t>(0) + (value.constant ? 0 : image * bytes), bytes);
        }
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_identity() {
    return std::make_unique<Identity>();
}

}  // namespace systole::operators
