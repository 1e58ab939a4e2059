// The sums of the elements up to each one, along an axis.
#include <fmt/format.h>

#include "base/fixed_point.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/axis_lines.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

/// The second input, a constant of one number.
std::int64_t axis_of_sums(const ir::LayerReader& layer) {
    const std::vector<std::int64_t> axes = constant_integers(layer, 1);
    if (axes.size() != 1) layer.fail("its axis must be one number");
    return static_cast<std::int64_t>(
        axis_in(layer, axes.front(), layer.value(input_of(layer, 0)).shape.rank()));
}

ir::Results read_cumulative_sum(ir::LayerReader& layer) {
    return layer.append("cumulative_sum",
                        {{"axis", axis_of_sums(layer)},
                         {"exclusive", std::int64_t{flag_of(layer, "exclusive", false) ? 1 : 0}},
                         {"reverse", std::int64_t{flag_of(layer, "reverse", false) ? 1 : 0}}},
                        {input_of(layer, 0)});
}

ir::Results read_tflite_cumulative_sum(ir::LayerReader& layer) {
    return append_declared(layer, "cumulative_sum",
                           {{"axis", axis_of_sums(layer)},
                            {"exclusive", std::int64_t{layer.boolean("exclusive", false) ? 1 : 0}},
                            {"reverse", std::int64_t{layer.boolean("reverse", false) ? 1 : 0}}},
                           {input_of(layer, 0)});
}

float sum_of(float a, float b) {
    return a + b;
}
/// As the runtime's, a sum that does not fit wraps around.
std::int32_t sum_of(std::int32_t a, std::int32_t b) {
    return wrapping_add(a, b);
}

/// Each element becomes the next one of its line, whose first one becomes 0.
ir::ValueId moved_up(WordsBuilder& builder, ir::ValueId input, std::size_t axis) {
    std::vector<std::int64_t> first(builder.shape_of(input).rank(), 0);
    std::vector<std::int64_t> count = extents_of(builder.shape_of(input));
    if (--count[axis] == 0) {
        return builder.chain({input}, [](std::span<const Word> in) { return constant(in[0].steps(), 0.0F); });
    }
    const ir::ValueId kept = builder.slice(input, first, count);
    std::vector<std::int64_t> before = first;
    before[axis] = 1;
    return builder.append(
        "pad", {{"before", before}, {"after", first}, {"mode", std::string("constant")}, {"value", 0.0}},
        {kept});
}

class CumulativeSum final : public Operator {
public:
    std::string_view name() const override { return "cumulative_sum"; }
    std::string_view summary() const override {
        return "The sums of the elements up to each one, along an axis.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            axis_attribute(),
            {.name = "exclusive",
             .meaning = "1: an element is no part of its own sum",
             .absent = std::int64_t{0},
             .minimum = 0,
             .maximum = 1},
            {.name = "reverse",
             .meaning = "1: the sums begin at the end",
             .absent = std::int64_t{0},
             .minimum = 0,
             .maximum = 1}};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Onnx,
                 .name = "CumSum",
                 .keys = {{"exclusive", "`exclusive`"}, {"reverse", "`reverse`"}},
                 .build = read_cumulative_sum},
                {.format = ir::Format::Tflite,
                 .name = "CUMSUM",
                 .keys = {{"exclusive", "`exclusive`"}, {"reverse", "`reverse`"}},
                 .build = read_tflite_cumulative_sum}};
    }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return kept_batch(node, has_batch, axis_of_attribute(node) != 0);
    }
    std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                         std::span<const std::uint32_t> axes) const override {
        return permuted_lines(node, axes);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 1) throw ModelError("it must have exactly 1 input");
        static_cast<void>(axis_of_attribute(node));
        return {node.input().shape};
    }
    Placement placement() const override { return {.where = "host", .formats = "float32; int32"}; }
    DataType result_type(const ir::NodeView& node) const override { return node.input().type; }
    void check_types(const ir::NodeView& node) const override {
        const DataType type = node.input().type;
        if ((type != DataType::Float32 && type != DataType::Int32) || node.output().type != type) {
            throw ModelError(fmt::format("it turns {} into {}; it sums float32 or int32", name_of(type),
                                         name_of(node.output().type)));
        }
    }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override;
    void compute(const TensorCall& call) const override {
        if (call.node.input().type == DataType::Float32) {
            sum<float>(call);
        } else {
            sum<std::int32_t>(call);
        }
    }

private:
    template <typename Number>
    static void sum(const TensorCall& call) {
        AxisLines lines = lines_along(call.node.input().shape, axis_of_attribute(call.node));
        lines.outer *= call.node.input().constant ? 1 : call.batch;
        const bool exclusive = call.node.node().integer("exclusive") != 0;
        const bool reverse = call.node.node().integer("reverse") != 0;
        const auto* const from = call.input<Number>(0);
        auto* const to = call.output<Number>();
        for_each_line(lines, [&](std::size_t first) {
            Number total{};
            for (std::size_t i = 0; i < lines.count; ++i) {
                const std::size_t element = first + (reverse ? lines.count - 1 - i : i) * lines.inner;
                const Number before = total;
                // Begins with the first element, so that a sum of it alone keeps the sign of zero.
                total = i == 0 ? from[element] : sum_of(total, from[element]);
                to[element] = exclusive ? before : total;
            }
        });
    }
};

/// Windows that begin in front of the line and end with an element: each sum begins anew, as the vector unit
/// has no sums that go on from row to row.
void CumulativeSum::to_words(const ir::Node& node, WordsBuilder& builder) const {
    const ir::Shape shape = builder.view(node).input().shape;
    const std::size_t axis = axis_of_attribute(builder.view(node));
    const AxisLines lines = lines_along(shape, axis);
    const auto count = static_cast<std::uint32_t>(lines.count);
    std::vector<std::int64_t> backwards(count);
    for (std::uint32_t i = 0; i < count; ++i) backwards[i] = count - 1 - i;
    const bool reverse = node.integer("reverse") != 0;
    ir::ValueId sums = builder.input_of(node);
    if (reverse) sums = builder.take(sums, axis, backwards);
    sums = builder.reshape(sums, ir::image_shape({.height = static_cast<std::uint32_t>(lines.outer),
                                                  .width = count,
                                                  .channels = static_cast<std::uint32_t>(lines.inner)}));
    if (count > 1) {
        sums = builder.windows(systole::Reduction::Sum, sums, {.kernel_width = count, .pad_left = count - 1});
    }
    sums = builder.reshape(sums, shape);
    if (node.integer("exclusive") != 0) sums = moved_up(builder, sums, axis);
    if (reverse) sums = builder.take(sums, axis, backwards);
    builder.set(node.output(), sums);
}

}  // namespace

std::unique_ptr<ir::Operator> make_cumulative_sum() {
    return std::make_unique<CumulativeSum>();
}

}  // namespace systole::operators
