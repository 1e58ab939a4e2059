// 1 for the first of the largest elements along an axis, by default the channels of each pixel; 0 for others.
#include <limits>

#include "compiler/ir/model_error.h"
#include "compiler/operators/axis_lines.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/softmax/softmax_nodes.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

class Hardmax final : public Operator {
public:
    std::string_view name() const override { return "hardmax"; }
    std::string_view summary() const override {
        return "1 for the first of the largest elements along an axis, by default the channels of each "
               "pixel; 0 "
               "for others.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{axis_attribute()};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override { return {onnx_softmax("hardmax", "Hardmax")}; }

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
        static_cast<void>(axis_of_attribute(node));
        return {node.input().shape};
    }
    Placement placement() const override { return {.where = "host", .formats = "float32"}; }
    /// The least number among those of the largest elements is that of the first.
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override {
        const ir::ValueId x = builder.input_of(node);
        const std::size_t axis = axis_of_attribute(builder.view(node));
        std::vector<std::uint32_t> extents(builder.shape_of(x).rank(), 1);
        extents[axis] = builder.shape_of(x)[axis];
        std::vector<float> counted;
        for (std::uint32_t i = 0; i < extents[axis]; ++i) counted.push_back(static_cast<float>(i));
        const ir::ValueId numbers = builder.constant("numbers", ir::Shape(extents), std::move(counted));
        const ir::ValueId largest = builder.reduce(systole::Reduction::Maximum, x, {axis});
        const ir::ValueId found = builder.chain({x, largest, numbers}, [](std::span<const Word> in) {
            return select(equal(in[0], in[1]), in[2], std::numeric_limits<float>::infinity());
        });
        const ir::ValueId first = builder.reduce(systole::Reduction::Minimum, found, {axis});
        builder.set(node.output(), builder.chain({first, numbers}, [](std::span<const Word> in) {
            return select(equal(in[0], in[1]), constant(in[0].steps(), 1.0F), 0.0F);
        }));
    }
    void evaluate(const FloatCall& call) const override {
        AxisLines lines = lines_along(call.node.input().shape, axis_of_attribute(call.node));
        lines.outer *= call.batch;
        for_each_line(lines, [&](std::size_t first) {
            const float* const from = call.inputs[0] + first;
            float* const to = call.output + first;
            std::size_t largest = 0;
            for (std::size_t i = 0; i < lines.count; ++i) {
                to[i * lines.inner] = 0.0F;
                if (from[i * lines.inner] > from[largest * lines.inner]) largest = i;
            }
            to[largest * lines.inner] = 1.0F;
        });
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_hardmax() {
    return std::make_unique<Hardmax>();
}

}  // namespace systole::operators
