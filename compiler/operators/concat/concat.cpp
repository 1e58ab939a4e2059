// The concatenation of two or more feature maps of the same height and width along the channels.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/ir/model_error.h"
#include "compiler/ir/names.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/lowering.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/quantizer.h"

namespace systole::operators {
namespace {

ir::ValueId read_keras_concatenate(ir::LayerReader& layer) {
    const bool flat = std::ranges::all_of(layer.inputs(),
                                          [&](ir::ValueId input) { return layer.map_of(input).is_vector(); });
    layer.require_last_axis("axis", flat);
    return layer.append("concat", {}, layer.inputs());
}

class Concat final : public Operator {
public:
    std::string_view name() const override { return "concat"; }
    std::string_view summary() const override {
        return "The concatenation of two or more feature maps of the same height and width along the "
               "channels.";
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Keras,
                 .name = "Concatenate",
                 .keys = {{"axis", "only the last"}},
                 .build = read_keras_concatenate},
                {.format = ir::Format::GraphJson, .name = "concat", .build = [](ir::LayerReader& layer) {
                     return layer.append("concat", {}, layer.inputs());
                 }}};
    }

    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        const std::size_t count = node.node().inputs.size();
        if (count < 2) {
            throw ModelError(
                fmt::format("it concatenates {}; it must have at least 2", ir::counted(count, "input")));
        }
        const ir::FeatureMap first = node.input_map();
        std::uint64_t channels = 0;
        bool all_are_vectors = true;
        for (std::size_t i = 0; i < count; ++i) {
            const ir::FeatureMap input = node.input_map(i);
            if (input.height != first.height || input.width != first.width) {
                throw ModelError(fmt::format("it concatenates {} and {}; height and width must be the same",
                                             to_text(first), to_text(input)));
            }
            channels += input.channels;
            all_are_vectors &= node.input(i).shape.rank() == 2;
        }
        if (channels > std::numeric_limits<std::uint32_t>::max()) {
            throw ModelError(fmt::format("its result has {} channels; that is too large", channels));
        }
        const auto result = static_cast<std::uint32_t>(channels);
        if (all_are_vectors) return {ir::vector_shape(result)};
        return {ir::image_shape({first.height, first.width, result})};
    }
    Placement placement() const override {
        return {.where = "nowhere, if inputs are written in place; the activation unit copies the others",
                .formats = "float32; uint8, int8, int16"};
    }
    void check_types(const ir::NodeView& node) const override {
        if (!works_on_integers(node)) return;
        require_integers(node);
        require_one_encoding(node);
    }
    void evaluate(const FloatCall& call) const override { interleave(call); }

    /// All inputs need the encoding of the result. unite_ranges has given most of them the same range; a
    /// lookup converts the others, such as the network's input.
    void quantize(const ir::Node& node, Quantizer& quantizer) const override {
        quantizer.require_one_width(node);
        const Encoding encoding = quantizer.encoding(node.output());
        ir::Node added = node;
        for (ir::ValueId& input : added.inputs) {
            const ir::ValueId source = moved_source(quantizer.graph(), input);
            const ir::ValueId stored = quantizer.stored(input);
            // The network's input gets a lookup even if it changes nothing, so that the layers depend on the
            // network only and not on calibration.
            if (quantizer.stored_encoding(input) == encoding && !ir::is_input(quantizer.graph(), source)) {
                input = stored;
                continue;
            }
            const ir::ValueId rescaled = quantizer.add_value(input, encoding);
            quantizer.add_lookup(node, stored, rescaled, [](float real) { return real; });
            input = rescaled;
        }
        added.outputs = {quantizer.add_value(node.output(), encoding)};
        quantizer.store(node.output(), added.output());
        quantizer.add_node(std::move(added));
    }
    void execute(const IntegerCall& call) const override { interleave(call); }
    void lower(const ir::NodeView& node, Lowering& lowering) const override {
        lowering.require_tensors(node.node());
        lowering.add_layer(node.node(), node.node().output(), mapping::Concatenation{});
    }

private:
    template <typename Call>
    static void interleave(const Call& call) {
        const ir::FeatureMap map = call.node.input_map();
        const std::size_t pixels = std::size_t{call.batch} * map.height * map.width;
        auto* output = call.output;
        for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
            for (std::size_t i = 0; i < call.inputs.size(); ++i) {
                const std::size_t channels = call.node.input_map(i).channels;
                output = std::copy_n(call.inputs[i] + pixel * channels, channels, output);
            }
        }
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_concat() {
    return std::make_unique<Concat>();
}

}  // namespace systole::operators
