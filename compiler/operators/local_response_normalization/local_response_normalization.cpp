// x / (bias + alpha * s)^beta, s the sum of the squares of the neighbouring channels.
#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/ir/model_error.h"
#include "compiler/operators/axis_lines.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

/// ONNX: `size` channels, of which one more lies behind if it is even; alpha is that of their mean.
ir::Results read_onnx_normalization(ir::LayerReader& layer) {
    constexpr float default_alpha = 1e-4F;
    constexpr float default_beta = 0.75F;
    const std::int64_t size = positive_of(layer, "size");
    const double alpha = layer.number("alpha", default_alpha);
    return layer.append("local_response_normalization",
                        {{"before", (size - 1) / 2},
                         {"after", size / 2},
                         {"alpha", alpha / static_cast<double>(size)},
                         {"beta", double{layer.number("beta", default_beta)}},
                         {"bias", double{layer.number("bias", 1.0F)}},
                         {"axis", std::int64_t{1}}},
                        {input_of(layer, 0)});
}

/// TFLite's reference kernel leaves out the last channel within the radius.
ir::Results read_tflite_normalization(ir::LayerReader& layer) {
    const std::int64_t radius = integer_of(layer, "radius", 0);
    if (radius < 1) layer.fail("radius", "it must be at least 1");
    return append_declared(layer, "local_response_normalization",
                           {{"before", radius},
                            {"after", radius - 1},
                            {"alpha", double{layer.number("alpha", 0.0F)}},
                            {"beta", double{layer.number("beta", 0.0F)}},
                            {"bias", double{layer.number("bias", 0.0F)}}},
                           {input_of(layer, 0)});
}

/// base^exponent of a base that is not below 0.
Word power_of(const Word& base, float exponent) {
    constexpr float half = 0.5F;
    constexpr float three_quarters = 0.75F;
    if (exponent == 1.0F) return base;
    if (exponent == half) return sqrt(base);
    if (exponent == three_quarters) return sqrt(base) * sqrt(sqrt(base));
    return exp(exponent * log(base));
}

class LocalResponseNormalization final : public Operator {
public:
    std::string_view name() const override { return "local_response_normalization"; }
    std::string_view summary() const override {
        return "x / (bias + alpha * s)^beta, s the sum of the squares of the neighbouring channels.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            neighbours("before", "channels before x that belong to s"),
            neighbours("after", "channels after x that belong to s"),
            {.name = "alpha", .meaning = "factor of s", .absent = 1.0},
            {.name = "beta", .meaning = "the exponent", .absent = 0.5},
            {.name = "bias", .meaning = "added to alpha * s", .absent = 1.0},
            axis_attribute()};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Onnx,
                 .name = "LRN",
                 .keys = {{"size", "`before` and `after`"},
                          {"alpha", "`alpha` times `size`"},
                          {"beta", "`beta`"},
                          {"bias", "`bias`"}},
                 .build = read_onnx_normalization},
                {.format = ir::Format::Tflite,
                 .name = "LOCAL_RESPONSE_NORMALIZATION",
                 .keys = {{"radius", "`before`, and one less `after`"},
                          {"alpha", "`alpha`"},
                          {"beta", "`beta`"},
                          {"bias", "`bias`"}},
                 .build = read_tflite_normalization}};
    }
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
    Placement placement() const override { return {.where = "host", .formats = "float32"}; }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override {
        const ir::ValueId x = builder.input_of(node);
        const ir::Shape shape = builder.shape_of(x);
        const AxisLines lines = lines_along(shape, axis_of_attribute(builder.view(node)));
        const ir::ValueId squares =
            builder.chain({x}, [](std::span<const Word> in) { return in[0] * in[0]; });
        // The neighbours along the axis are those of a window over the columns of an image.
        const auto extent = [](std::size_t number) { return static_cast<std::uint32_t>(number); };
        const ir::FeatureMap map{extent(lines.outer), extent(lines.count), extent(lines.inner)};
        const auto side = [&](const char* name) {
            return static_cast<std::uint32_t>(std::min(node.integer(name), std::int64_t{map.width} - 1));
        };
        const ir::Window window{.kernel_width = side("before") + side("after") + 1,
                                .pad_left = side("before"),
                                .pad_right = side("after")};
        const ir::ValueId sums = builder.reshape(
            builder.windows(systole::Reduction::Sum, builder.reshape(squares, ir::image_shape(map)), window),
            shape);
        const auto alpha = static_cast<float>(node.real("alpha"));
        const auto beta = static_cast<float>(node.real("beta"));
        const auto bias = static_cast<float>(node.real("bias"));
        builder.set(node.output(), builder.chain({x, sums}, [=](std::span<const Word> in) {
            return in[0] / power_of(bias + alpha * in[1], beta);
        }));
    }
    void evaluate(const FloatCall& call) const override {
        const ir::Node& node = call.node.node();
        AxisLines lines = lines_along(call.node.input().shape, axis_of_attribute(call.node));
        lines.outer *= call.batch;
        const auto before = static_cast<std::size_t>(node.integer("before"));
        const auto after = static_cast<std::size_t>(node.integer("after"));
        const auto alpha = static_cast<float>(node.real("alpha"));
        const auto beta = static_cast<float>(node.real("beta"));
        const auto bias = static_cast<float>(node.real("bias"));
        for_each_line(lines, [&](std::size_t first) {
            const float* const from = call.inputs[0] + first;
            for (std::size_t c = 0; c < lines.count; ++c) {
                const std::size_t begin = c > before ? c - before : 0;
                const std::size_t end = std::min(c + after + 1, lines.count);
                float sum = 0.0F;
                for (std::size_t i = begin; i < end; ++i)
                    sum += from[i * lines.inner] * from[i * lines.inner];
                call.output[first + c * lines.inner] =
                    from[c * lines.inner] / std::pow(bias + alpha * sum, beta);
            }
        });
    }

private:
    static ir::AttributeDeclaration neighbours(const char* name, const char* meaning) {
        return {.name = name,
                .meaning = meaning,
                .absent = std::int64_t{0},
                .is_required = true,
                .minimum = 0,
                .maximum = std::numeric_limits<std::int32_t>::max()};
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_local_response_normalization() {
    return std::make_unique<LocalResponseNormalization>();
}

}  // namespace systole::operators
