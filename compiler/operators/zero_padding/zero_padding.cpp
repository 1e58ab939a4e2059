// A border of zeros around the image.
#include "compiler/operators/zero_padding/zero_padding.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "compiler/ir/model_error.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/layer_formats.h"
#include "compiler/operators/pool.h"
#include "compiler/operators/quantizer.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

/// Reads the padding before and after an axis: [before, after], or one number for both.
std::array<std::uint32_t, 2> both_sides(const ir::LayerReader& layer,
                                        const ir::LayerReader::Integers& values) {
    constexpr const char* rule = "it must be a, [a, b] or [[a, b], [c, d]], each an integer, at least 0";
    const bool fits = values.size() == 1 || values.size() == 2;
    const std::int64_t before = fits ? values.front().value_or(-1) : -1;
    const std::int64_t after = fits ? values.back().value_or(-1) : -1;
    if (before < 0 || after < 0) layer.fail("padding", rule);
    return {static_cast<std::uint32_t>(before), static_cast<std::uint32_t>(after)};
}

ir::ValueId append_zero_padding(ir::LayerReader& layer, const PaddedSides& sides) {
    return layer.append("zero_padding", {{"padding", std::vector<std::int64_t>(sides.begin(), sides.end())}},
                        {layer.input()});
}

ir::ValueId read_keras_zero_padding(ir::LayerReader& layer) {
    layer.require_text("data_format", "channels_last");
    const auto values = layer.integers("padding");
    if (!values) layer.fail("padding", "it must be given");
    // [a, b] pads a rows above and a rows below; [[a, b], [c, d]] pads a rows above and b rows below.
    const bool by_axis = layer.is_list("padding") && values->size() == 2;
    const auto vertical = both_sides(layer, by_axis ? layer.integers_of("padding", 0) : *values);
    const auto horizontal = both_sides(layer, by_axis ? layer.integers_of("padding", 1) : *values);
    return append_zero_padding(layer, {vertical[0], horizontal[0], vertical[1], horizontal[1]});
}

ir::ValueId read_keras_sequence_padding(ir::LayerReader& layer) {
    require_sequence(layer);
    layer.require_text("data_format", "channels_last");
    const auto values = layer.integers("padding");
    if (!values) layer.fail("padding", "it must be given");
    const auto [before, after] = both_sides(layer, *values);
    return as_sequence(layer, append_zero_padding(layer, {0, before, 0, after}));
}

class ZeroPadding final : public Operator {
public:
    std::string_view name() const override { return "zero_padding"; }
    std::string_view summary() const override { return "A border of zeros around the image."; }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            {.name = "padding",
             .meaning = "pixels: top, left, bottom, right",
             .absent = std::vector<std::int64_t>{0, 0, 0, 0},
             .minimum = 0,
             .maximum = std::numeric_limits<std::uint32_t>::max(),
             .size = std::tuple_size_v<PaddedSides>}};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Keras,
                 .name = "ZeroPadding2D",
                 .keys = {{"padding", "`padding`: a, [a, b] or [[top, bottom], [left, right]]"},
                          {"data_format", keras_data_format}},
                 .build = read_keras_zero_padding},
                {.format = ir::Format::Keras,
                 .name = "ZeroPadding1D",
                 .keys = {{"padding", "`padding`: a or [left, right]"}, {"data_format", keras_data_format}},
                 .build = read_keras_sequence_padding},
                {.format = ir::Format::GraphJson,
                 .name = "zero_padding",
                 .keys = {{"padding", "`padding`"}},
                 .build = [](ir::LayerReader& layer) {
                     return append_zero_padding(layer, json_sides(layer, "padding"));
                 }}};
    }

    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return kept_batch(node, has_batch);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        node.require_inputs(1);
        const ir::FeatureMap input = node.input_map();
        const auto [top, left, bottom, right] = padding_of(node.node());
        const std::uint64_t height = std::uint64_t{input.height} + top + bottom;
        const std::uint64_t width = std::uint64_t{input.width} + left + right;
        if (std::max(height, width) > std::numeric_limits<std::uint32_t>::max()) {
            throw ModelError(fmt::format("its result is {} by {}; that is too large", height, width));
        }
        return {ir::image_shape(
            {static_cast<std::uint32_t>(height), static_cast<std::uint32_t>(width), input.channels},
            node.batch())};
    }
    LeadingOnes leading_ones(const ir::NodeView& /*node*/) const override { return LeadingOnes::Ignored; }
    bool is_identity(const ir::NodeView& node) const override {
        return padding_of(node.node()) == PaddedSides{};
    }
    bool moves_elements() const override { return true; }
    Placement placement() const override {
        return {.where = "as padding of convolutions, else activation unit, as vector work",
                .formats = pooling_placement().formats};
    }
    void check_types(const ir::NodeView& node) const override { check_pooled_types(node); }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override { builder.copy(node); }
    void evaluate(const FloatCall& call) const override {
        std::fill_n(call.output, call.batch * call.node.output().shape.elements(), 0.0F);
        copy_image(call.node, call.batch, call.inputs[0], call.output);
    }
    void quantize(const ir::Node& node, Quantizer& quantizer) const override {
        quantize_pooled(node, quantizer);
    }
    void execute(const IntegerCall& call) const override {
        const std::size_t count = call.batch * call.node.output().shape.elements();
        std::fill_n(call.output, count, encoding_of(call.node.output()).zero_point);
        copy_image(call.node, call.batch, call.inputs[0], call.output);
    }

private:
    /// Copies the images into the inner part of the output, which the border surrounds.
    template <typename Number>
    static void copy_image(const ir::NodeView& node, std::uint32_t batch, const Number* row, Number* to) {
        const ir::FeatureMap input = node.input_map();
        const ir::FeatureMap result = node.output_map();
        const auto [top, left, bottom, right] = padding_of(node.node());
        const std::size_t row_elements = std::size_t{input.width} * input.channels;
        for (std::uint32_t image = 0; image < batch; ++image) {
            for (std::uint32_t y = 0; y < input.height; ++y, row += row_elements) {
                const std::size_t pixel = (std::size_t{top} + y) * result.width + left;
                std::copy_n(row, row_elements, to + image * result.elements() + pixel * result.channels);
            }
        }
    }
};

}  // namespace

PaddedSides padding_of(const ir::Node& node) {
    PaddedSides sides{};
    std::ranges::transform(node.integers("padding"), sides.begin(),
                           [](std::int64_t side) { return static_cast<std::uint32_t>(side); });
    return sides;
}

std::unique_ptr<ir::Operator> make_zero_padding() {
    return std::make_unique<ZeroPadding>();
}

}  // namespace systole::operators
