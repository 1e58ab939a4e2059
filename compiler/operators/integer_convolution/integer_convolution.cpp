// Convolution of integers whose sums are the result: no scale, and zero points that may be computed by the
// network.
#include <fmt/format.h>

#include <limits>

#include "base/stored_integers.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/window.h"
#include "compiler/operators/fixed_point.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/operator.h"

namespace systole::operators {
namespace {

class IntegerConvolution final : public Operator {
    enum Operand : std::uint8_t { Image, ImageZero, Weights, WeightsZero, Inputs };

public:
    std::string_view name() const override { return "integer_convolution"; }
    std::string_view summary() const override {
        return "Convolution of 8-bit integers; the sums are the result. Inputs: an image, its zero point, "
               "weights as those of `convolution`, their zero point. Elements outside the image count as its "
               "zero point.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations = [] {
            std::vector<ir::AttributeDeclaration> list = ir::window_attributes();
            list.push_back({.name = "groups",
                            .meaning = "parts into which the input channels, and the filters, are divided",
                            .absent = std::int64_t{1},
                            .minimum = 1,
                            .maximum = std::numeric_limits<std::uint32_t>::max()});
            return list;
        }();
        return declarations;
    }

    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return kept_batch(node, has_batch);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != Inputs) {
            throw ModelError("it must have an image, weights and the zero points of both");
        }
        const ir::Window window = ir::window_of(node.node());
        const ir::FeatureMap image = node.input_map(Image);
        const ir::Shape& kernel = node.input(Weights).shape;
        constexpr std::size_t weights_rank = 4;
        if (kernel.rank() != weights_rank || kernel[0] != window.kernel_height ||
            kernel[1] != window.kernel_width) {
            throw ModelError(
                fmt::format("its weights are {}; its window has a {}", to_text(kernel), to_text(window)));
        }
        const auto groups = static_cast<std::uint64_t>(node.node().integer("groups"));
        if (groups * kernel[2] != image.channels || kernel[3] % groups != 0) {
            throw ModelError(fmt::format("its input has {} channels; its weights are {}, in {} groups",
                                         image.channels, to_text(kernel), groups));
        }
        for (const std::size_t zero_point : {ImageZero, WeightsZero}) {
            if (node.input(zero_point).shape.elements() == 1) continue;
            throw ModelError(fmt::format("a zero point is {}; it must be one number",
                                         to_text(node.input(zero_point).shape)));
        }
        return {ir::image_shape(window_output(image, window, kernel[3]), node.batch())};
    }
    DataType result_type(const ir::NodeView& /*node*/) const override { return DataType::Int32; }
    void check_types(const ir::NodeView& node) const override {
        for (const auto& [operand, zero_point] : {std::pair{Image, ImageZero}, {Weights, WeightsZero}}) {
            const DataType type = node.input(operand).type;
            if ((type != DataType::Uint8 && type != DataType::Int8) || node.input(zero_point).type != type) {
                throw ModelError(
                    fmt::format("it multiplies {} with a zero point of {}; both must be uint8 "
                                "or both int8",
                                name_of(type), name_of(node.input(zero_point).type)));
            }
        }
        if (node.output().type != DataType::Int32) throw ModelError("its result must be int32");
    }
    std::uint64_t macs(const ir::NodeView& node) const override {
        const ir::FeatureMap output = node.output_map();
        return std::uint64_t{output.height} * output.width * node.input(Weights).shape.elements();
    }
    Placement placement() const override {
        return {.where =
                    "host; as part of a `convolution` on the matrix unit where scales are applied to "
                    "the sums",
                .formats = "uint8 or int8, with uint8 or int8 weights, to int32"};
    }

    void compute(const TensorCall& call) const override {
        const ir::FeatureMap image = call.node.input_map(Image);
        const ir::FeatureMap result = call.node.output_map();
        const ir::Window window = ir::window_of(call.node.node());
        const auto groups = static_cast<std::size_t>(call.node.node().integer("groups"));
        const std::vector<std::int32_t> weights_zero = numbers(call, WeightsZero);
        std::vector<std::int32_t> weights = numbers(call, Weights);
        for (std::int32_t& weight : weights) weight -= weights_zero.front();
        const std::vector<std::int32_t> zero_points = numbers(call, ImageZero);
        const std::vector<std::int32_t> pixels = numbers(call, Image);
        const std::size_t own_channels = image.channels / groups;
        const std::size_t filters = result.channels;
        const std::size_t own_filters = filters / groups;
        auto* const sums = call.output<std::int32_t>();
        for (std::uint32_t i = 0; i < call.batch; ++i) {
            const std::int32_t zero_point = zero_points[zero_points.size() == 1 ? 0 : i];
            const bool is_constant = call.node.input(Image).constant.has_value();
            const std::int32_t* const own = pixels.data() + (is_constant ? 0 : i * image.elements());
            std::int32_t* const output = sums + i * result.elements();
            for_each_pixel(result, [&](std::uint32_t y, std::uint32_t x, std::size_t element) {
                std::fill_n(output + element, filters, 0);
                for_each_in_window(image, window, y, x, [&](std::size_t pixel, std::size_t tap) {
                    const std::int32_t* weight = weights.data() + tap * own_channels * filters;
                    for (std::size_t c = 0; c < own_channels; ++c, weight += filters) {
                        for (std::size_t group = 0; group < groups; ++group) {
                            const std::int32_t value =
                                own[pixel * image.channels + group * own_channels + c] - zero_point;
                            if (value == 0) continue;
                            std::int32_t* const sum = output + element + group * own_filters;
                            const std::int32_t* const of_group = weight + group * own_filters;
                            for (std::size_t f = 0; f < own_filters; ++f) {
                                sum[f] = wrap(sum[f] + std::int64_t{value} * of_group[f]);
                            }
                        }
                    }
                });
            });
        }
    }

private:
    static std::vector<std::int32_t> numbers(const TensorCall& call, std::size_t input) {
        std::vector<std::int32_t> widened(call.input_elements(input));
        widen(call.inputs[input], call.node.input(input).type, widened);
        return widened;
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_integer_convolution() {
    return std::make_unique<IntegerConvolution>();
}

}  // namespace systole::operators
