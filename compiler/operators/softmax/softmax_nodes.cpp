#include "compiler/operators/softmax/softmax_nodes.h"

#include "compiler/operators/file_nodes.h"

namespace systole::operators {
namespace {

constexpr std::int64_t first_opset_with_one_axis = 13;

}  // namespace

ir::LayerKind onnx_softmax(std::string_view op, const char* name) {
    return {.format = ir::Format::Onnx,
            .name = name,
            .keys = {{"axis", "`axis`; before operator set 13, the axes from this one on are one line"},
                     opset_entry()},
            .build = [op](ir::LayerReader& layer) -> ir::Results {
                const ir::ValueId input = input_of(layer, 0);
                const ir::Shape shape = layer.value(input).shape;
                const bool is_new = opset_of(layer) >= first_opset_with_one_axis;
                const std::size_t axis =
                    axis_in(layer, integer_of(layer, "axis", is_new ? -1 : 1), shape.rank());
                if (is_new || axis + 1 == shape.rank()) {
                    const bool is_last = axis + 1 == shape.rank();
                    const std::int64_t given = is_last ? -1 : static_cast<std::int64_t>(axis);
                    return layer.append(op, {{"axis", given}}, {input});
                }
                std::vector<std::int64_t> extents{1, 1};
                for (std::size_t i = 0; i < shape.rank(); ++i) extents[i < axis ? 0 : 1] *= shape[i];
                const ir::ValueId lines = append_shape(layer, input, shape_from(layer, extents));
                return append_shape(layer, layer.append(op, {}, {lines}), shape);
            }};
}

}  // namespace systole::operators
