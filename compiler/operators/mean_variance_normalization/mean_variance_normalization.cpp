// The elements along some axes with mean 0 and standard deviation 1.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/reduction.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

using Integers = std::vector<std::int64_t>;

/// ONNX adds it to the deviation, so that equal elements become 0.
constexpr double least_deviation = 1e-9;

ir::Results read_onnx_mean_variance_normalization(ir::LayerReader& layer) {
    const Integers axes = integers_of(layer, "axes").value_or(Integers{0, 2, 3});
    return layer.append("mean_variance_normalization",
                        {{"axes", axes_in(layer, axes, shape_of(layer).rank())}}, {input_of(layer, 0)});
}

class MeanVarianceNormalization final : public Operator {
public:
    std::string_view name() const override { return "mean_variance_normalization"; }
    std::string_view summary() const override {
        return "The elements along some axes, less their mean, divided by their standard deviation + 1e-9.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            {.name = "axes",
             .meaning = "the axes; none: all",
             .absent = Integers{},
             .minimum = 0,
             .maximum = ir::Shape::most_extents - 1}};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Onnx,
                 .name = "MeanVarianceNormalization",
                 .keys = {{"axes", "`axes`; by default [0, 2, 3]"}},
                 .build = read_onnx_mean_variance_normalization}};
    }
    std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                         std::span<const std::uint32_t> axes) const override {
        ir::Node moved = node.node();
        moved.set("axes", moved_axes(node, axes));
        return PermutedNode{std::move(moved.attributes), {axes.begin(), axes.end()}};
    }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return kept_batch(node, has_batch, reduced_axes(node).front() != 0);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 1) throw ModelError("it must have exactly 1 input");
        static_cast<void>(reduced_axes(node));
        return {node.input().shape};
    }
    Placement placement() const override { return {.where = "host", .formats = "float32"}; }
    /// Two sums, a difference, a square and a quotient of each element.
    std::uint64_t operations(const ir::NodeView& node) const override {
        constexpr std::uint64_t an_element = 5;
        return an_element * node.output().shape.elements();
    }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override {
        const CenteredWords x =
            centered_words(builder, builder.input_of(node), reduced_axes(builder.view(node)));
        builder.set(node.output(), builder.chain({x.differences, x.variance}, [](std::span<const Word> in) {
            return in[0] / (sqrt(in[1]) + static_cast<float>(least_deviation));
        }));
    }
    void evaluate(const FloatCall& call) const override {
        const std::size_t elements = call.node.output().shape.elements();
        const std::size_t count = reduced_elements(call.node);
        const std::size_t groups = elements / count;
        std::vector<double> sums(groups);
        std::vector<double> squares(groups);
        for (std::size_t image = 0; image < call.batch; ++image) {
            const float* const from = call.inputs[0] + (call.node.input().constant ? 0 : image * elements);
            float* const to = call.output + image * elements;
            std::ranges::fill(sums, 0.0);
            std::ranges::fill(squares, 0.0);
            for_each_reduced(call.node, [&](std::size_t i, std::size_t group) { sums[group] += from[i]; });
            for (double& sum : sums) sum /= static_cast<double>(count);
            for_each_reduced(call.node, [&](std::size_t i, std::size_t group) {
                squares[group] += (from[i] - sums[group]) * (from[i] - sums[group]);
            });
            for (double& square : squares) {
                square = std::sqrt(square / static_cast<double>(count)) + least_deviation;
            }
            for_each_reduced(call.node, [&](std::size_t i, std::size_t group) {
                to[i] = static_cast<float>((from[i] - sums[group]) / squares[group]);
            });
        }
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_mean_variance_normalization() {
    return std::make_unique<MeanVarianceNormalization>();
}

}  // namespace systole::operators
