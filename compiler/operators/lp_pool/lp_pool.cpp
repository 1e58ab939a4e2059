// The p-norm of each window, by channel: the root of order p of the sum of the magnitudes to the power of p.
#include <cmath>
#include <cstdint>
#include <optional>

#include "compiler/operators/file_nodes.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/onnx_images.h"
#include "compiler/operators/pool.h"
#include "compiler/operators/pool_onnx.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

constexpr std::int64_t euclidean = 2;
constexpr std::int64_t most_order = 1 << 20;

ir::Results append_lp_pool(ir::LayerReader& layer, ir::ValueId image, const ir::Window& window) {
    const std::int64_t order = integer_of(layer, "p", euclidean);
    if (order < 1 || order > most_order) layer.fail("p", "it must be 1 to 2^20");
    std::vector<ir::NamedAttribute> attributes = ir::attributes_of(window);
    attributes.emplace_back("order", order);
    const std::size_t rank = shape_of(layer).rank();
    return channels_first(layer, layer.append("lp_pool", std::move(attributes), {image}), rank);
}

ir::Results read_lp_pool(ir::LayerReader& layer) {
    const std::size_t rank = layer.value(layer.input()).shape.rank();
    const ir::ValueId image = channels_last(layer, layer.input());
    return append_lp_pool(layer, image,
                          onnx_window(layer, layer.map_of(image), onnx_kernel(layer, rank - 2), true));
}

ir::Results read_global_lp_pool(ir::LayerReader& layer) {
    const ir::ValueId image = channels_last(layer, layer.input());
    const ir::FeatureMap map = layer.map_of(image);
    return append_lp_pool(layer, image, {.kernel_height = map.height, .kernel_width = map.width});
}

class LpPool final : public Operator {
public:
    std::string_view name() const override { return "lp_pool"; }
    std::string_view summary() const override {
        return "The p-norm of each window, by channel: the root of order p of the sum of the magnitudes to "
               "the "
               "power of p.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations = [] {
            std::vector<ir::AttributeDeclaration> all = ir::window_attributes();
            all.push_back({.name = "order",
                           .meaning = "p",
                           .absent = euclidean,
                           .minimum = 1,
                           .maximum = static_cast<double>(most_order)});
            return all;
        }();
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{ir::Format::Onnx, "LpPool", onnx_pool_keys({{"p", "`order`"}}), read_lp_pool},
                {ir::Format::Onnx, "GlobalLpPool", {{"p", "`order`"}}, read_global_lp_pool}};
    }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return kept_batch(node, has_batch);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        return {pooled_shape(node)};
    }
    LeadingOnes leading_ones(const ir::NodeView& /*node*/) const override { return LeadingOnes::Ignored; }
    Placement placement() const override { return {.where = "host", .formats = "float32"}; }
    /// A power and an addition for each element of a window, and a root.
    std::uint64_t operations(const ir::NodeView& node) const override {
        return (2 * ir::window_of(node.node()).kernel_elements() + 1) * node.output().shape.elements();
    }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override {
        const std::int64_t order = node.integer("order");
        if (order > euclidean) fail_without_words(node);
        const bool is_euclidean = order == euclidean;
        const ir::ValueId sizes = builder.chain({builder.input_of(node)}, [=](std::span<const Word> in) {
            return is_euclidean ? in[0] * in[0] : absolute(in[0]);
        });
        const ir::ValueId sum = builder.windows(systole::Reduction::Sum, sizes, ir::window_of(node));
        builder.set(
            node.output(),
            is_euclidean ? builder.chain({sum}, [](std::span<const Word> in) { return sqrt(in[0]); }) : sum);
    }
    void evaluate(const FloatCall& call) const override {
        switch (call.node.node().integer("order")) {
            case 1:
                return pool(
                    call, [](float x) { return std::abs(x); }, [](float sum) { return sum; });
            case euclidean:
                return pool(
                    call, [](float x) { return x * x; }, [](float sum) { return std::sqrt(sum); });
            default: {
                const auto order = static_cast<float>(call.node.node().integer("order"));
                return pool(
                    call, [order](float x) { return std::pow(std::abs(x), order); },
                    [order](float sum) { return std::pow(sum, 1.0F / order); });
            }
        }
    }

private:
    /// `power` of each element, `root` of each sum.
    template <typename Power, typename Root>
    static void pool(const FloatCall& call, const Power& power, const Root& root) {
        const ir::FeatureMap input = call.node.input_map();
        const ir::FeatureMap result = call.node.output_map();
        const ir::Window window = ir::window_of(call.node.node());
        for (std::uint32_t image = 0; image < call.batch; ++image) {
            const float* const pixels = call.inputs[0] + image * input.elements();
            float* const output = call.output + image * result.elements();
            for_each_pixel(result, [&](std::uint32_t y, std::uint32_t x, std::size_t element) {
                for (std::size_t c = 0; c < input.channels; ++c) {
                    float sum = 0.0F;
                    for_each_in_window(input, window, y, x, [&](std::size_t pixel, std::size_t /*tap*/) {
                        sum += power(pixels[pixel * input.channels + c]);
                    });
                    output[element + c] = root(sum);
                }
            });
        }
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_lp_pool() {
    return std::make_unique<LpPool>();
}

}  // namespace systole::operators
