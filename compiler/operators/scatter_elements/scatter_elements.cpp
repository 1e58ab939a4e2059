// A tensor with updates at indices along an axis, each beside its index along the other axes.
#include <fmt/format.h>

#include "compiler/ir/model_error.h"
#include "compiler/operators/axis_lines.h"
#include "compiler/operators/file_nodes.h"
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
};

}  // namespace

std::unique_ptr<ir::Operator> make_scatter_elements() {
    return std::make_unique<ScatterElements>();
}

}  // namespace systole::operators
