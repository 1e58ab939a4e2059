// A tensor with updates at indices along an axis, each beside its index along the other axes.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/model_error.h"
#include "compiler/operators/axis_lines.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/index_words.h"
#include "compiler/operators/indices.h"
#include "compiler/operators/scatter.h"

namespace systole::operators {
namespace {

ir::Results read_scatter_elements(ir::LayerReader& layer) {
    const std::size_t axis = axis_in(layer, integer_of(layer, "axis", 0), shape_of(layer, 0).rank());
    return append_same(layer, "scatter_elements",
                       {{"axis", static_cast<std::int64_t>(axis)}, onnx_scatter_reduction(layer)},
                       {input_of(layer, 0), input_of(layer, 1), input_of(layer, 2)});
}

class ScatterElements final : public ScatterOperator {
public:
    ScatterElements() : ScatterOperator({axis_attribute()}) {}

    std::string_view name() const override { return "scatter_elements"; }
    std::string_view summary() const override {
        return "A tensor with updates at indices along an axis, each beside its index along the other axes. "
               "Inputs: the tensor; the indices, integers, with as many axes; the updates, as many as "
               "indices.";
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        const std::vector<ir::LayerKey> keys{{"axis", "`axis`"}, onnx_scatter_key()};
        // Before operator set 11, the operator has another name.
        return {{.format = ir::Format::Onnx, .name = "Scatter", .keys = keys, .build = read_scatter_elements},
                {.format = ir::Format::Onnx,
                 .name = "ScatterElements",
                 .keys = keys,
                 .build = read_scatter_elements}};
    }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        const bool is_by_image = has_batch[0] && has_batch[1] && has_batch[2] && axis_of_attribute(node) != 0;
        return is_by_image ? std::optional(node.node().attributes) : std::nullopt;
    }

protected:
    void check_shapes(const ir::NodeView& node) const override {
        const ir::Shape& indices = node.input(1).shape;
        check_indices_beside(node.input(0).shape, indices, axis_of_attribute(node));
        if (node.input(2).shape != indices) {
            throw ModelError(fmt::format("its indices are {} and its updates {}; both must have one shape",
                                         to_text(indices), to_text(node.input(2).shape)));
        }
    }
    std::size_t slice(const ir::NodeView& /*node*/) const override { return 1; }
    std::vector<std::size_t> places(const ir::NodeView& node,
                                    std::span<const std::int32_t> indices) const override {
        return places_beside(node.input(0).shape, node.input(1).shape, axis_of_attribute(node), indices,
                             counts_from_end(node.node()));
    }
    UpdateWords update_words(const ir::Node& node, WordsBuilder& builder) const override {
        const ir::Shape shape = builder.shape_of(builder.input_of(node, 0));
        const std::size_t axis = axis_of_attribute(builder.view(node));
        const AxisLines lines = lines_along(shape, axis);
        ir::ValueId places = checked_indices(node, builder, builder.input_of(node, 1), lines.count);
        ir::ValueId updates = builder.input_of(node, 2);
        std::vector<std::int64_t> behind(shape.rank(), 0);
        for (std::size_t i = 0; i < shape.rank(); ++i)
            if (i != axis) behind[i] = std::int64_t{shape[i]} - builder.shape_of(places)[i];
        if (std::ranges::any_of(behind, [](std::int64_t count) { return count > 0; })) {
            // Lines without updates get some at no place.
            places = padded(builder, places, behind, -1.0);
            updates = padded(builder, updates, behind, 0.0);
        }
        const auto extent = [](std::size_t count) { return static_cast<std::uint32_t>(count); };
        const ir::Shape beside{1, extent(lines.outer), builder.shape_of(places)[axis], 1,
                               extent(lines.inner)};
        return {.lines = lines,
                .places = builder.reshape(places, beside),
                .updates = builder.reshape(updates, beside)};
    }

private:
    static ir::ValueId padded(WordsBuilder& builder, ir::ValueId input,
                              const std::vector<std::int64_t>& behind, double number) {
        return builder.append("pad",
                              {{"before", std::vector<std::int64_t>(behind.size(), 0)},
                               {"after", behind},
                               {"mode", std::string("constant")},
                               {"value", number}},
                              {input});
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_scatter_elements() {
    return std::make_unique<ScatterElements>();
}

}  // namespace systole::operators
