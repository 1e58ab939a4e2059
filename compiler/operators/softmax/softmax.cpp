// Turns the channels of each pixel into probabilities: exp(x) divided by the sum of exp(x) over the channels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/ir/model_error.h"
#include "compiler/operators/lowering.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/quantizer.h"

namespace systole::operators {
namespace {

constexpr const char* only_last =
    "it is a softmax inside the network; only the last layer may be one, as the host computes it";

ir::ValueId read_keras_softmax(ir::LayerReader& layer) {
    layer.require_last_axis("axis", layer.input_map().is_vector());
    return layer.append("softmax", {}, {layer.input()});
}

class Softmax final : public Operator {
public:
    std::string_view name() const override { return "softmax"; }
    std::string_view summary() const override {
        return "Turns the channels of each pixel into probabilities: exp(x) divided by the sum of exp(x) "
               "over the channels.";
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Keras,
                 .name = "Softmax",
                 .keys = {{"axis", "only the last"}},
                 .build = read_keras_softmax},
                {.format = ir::Format::GraphJson, .name = "softmax", .build = [](ir::LayerReader& layer) {
                     return layer.append("softmax", {}, {layer.input()});
                 }}};
    }
    std::vector<ir::FunctionName> function_names() const override { return {{ir::Format::Keras, "softmax"}}; }

    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        node.require_inputs(1);
        return {node.input().shape};
    }
    Placement placement() const override {
        return {.where = "host, as the last layer", .formats = "float32; uint8, int8 or int16 to float32"};
    }
    bool runs_on_host() const override { return true; }
    void check_types(const ir::NodeView& node) const override {
        if (node.output().type != DataType::Float32) {
            throw ModelError(
                fmt::format("its result is {}; it must be float32", name_of(node.output().type)));
        }
        if (!is_integer(node.input().type) && node.input().type != DataType::Float32) {
            throw ModelError(fmt::format("softmax works on float32 and on integers, not on {}",
                                         name_of(node.input().type)));
        }
    }
    void quantize(const ir::Node& node, Quantizer& quantizer) const override {
        if (!ir::is_output(quantizer.graph(), node.output())) quantizer.fail(node.output(), only_last);
        quantizer.add_real(node);
    }
    void lower(const ir::NodeView& node, Lowering& lowering) const override {
        if (!ir::is_output(node.graph(), node.node().output())) lowering.fail(node.node(), only_last);
        lowering.share_tensor(node.node().output(), lowering.tensor_of(node.node().inputs.front()));
        lowering.add_host_operation(node.node());
    }
    void evaluate(const FloatCall& call) const override {
        const ir::FeatureMap map = call.node.input_map();
        const std::size_t pixels = call.batch * (std::size_t{map.height} * map.width);
        for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
            const float* const from = call.inputs[0] + pixel * map.channels;
            float* const to = call.output + pixel * map.channels;
            const float largest = *std::max_element(from, from + map.channels);
            float sum = 0.0F;
            for (std::size_t c = 0; c < map.channels; ++c) sum += to[c] = std::exp(from[c] - largest);
            for (std::size_t c = 0; c < map.channels; ++c) to[c] /= sum;
        }
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_softmax() {
    return std::make_unique<Softmax>();
}

}  // namespace systole::operators
