// The elements of a tensor at indices along an axis, each beside its index along the other axes.
#include <cstring>

#include "compiler/ir/model_error.h"
#include "compiler/operators/axis_lines.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/index_words.h"
#include "compiler/operators/indices.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

ir::Results read_gather_elements(ir::LayerReader& layer) {
    const std::size_t axis = axis_in(layer, integer_of(layer, "axis", 0), shape_of(layer, 0).rank());
    return append_same(layer, "gather_elements", {{"axis", static_cast<std::int64_t>(axis)}},
                       {input_of(layer, 0), input_of(layer, 1)});
}

class GatherElements final : public Operator {
public:
    std::string_view name() const override { return "gather_elements"; }
    std::string_view summary() const override {
        return "The elements of a tensor at indices along an axis, each beside its index along the other "
               "axes. Inputs: the tensor; the indices, integers, with as many axes. An index outside is an "
               "error.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{axis_attribute(),
                                                                        counts_from_end_attribute()};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Onnx,
                 .name = "GatherElements",
                 .keys = {{"axis", "`axis`"}},
                 .build = read_gather_elements}};
    }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        const bool is_by_image = has_batch[0] && has_batch[1] && axis_of_attribute(node) != 0;
        return is_by_image ? std::optional(node.node().attributes) : std::nullopt;
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 2) throw ModelError("it must have exactly 2 inputs");
        const ir::Shape& indices = node.input(1).shape;
        check_indices_beside(node.input(0).shape, indices, axis_of_attribute(node));
        // Indices that are known are checked before the network runs.
        if (const auto numbers = known_indices(node.input(1))) static_cast<void>(places(node, *numbers));
        return {indices};
    }
    Placement placement() const override { return {.where = "host", .formats = "all"}; }
    std::optional<std::uint64_t> bytes_read(const ir::NodeView& node, std::size_t input) const override {
        return indexed_bytes(node, input);
    }
    void check_types(const ir::NodeView& node) const override {
        if (!is_stored_alike(node.input(0), node.output())) {
            fail_as_stored_unlike("its input and its result", node.input(0), node.output());
        }
        check_index_type(node.input(1));
    }
    bool takes_words() const override { return true; }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override {
        ir::ValueId input = builder.input_of(node, 0);
        const ir::ValueId indices = builder.input_of(node, 1);
        const std::size_t axis = axis_of_attribute(builder.view(node));
        // Elements without indices beside them are not read.
        std::vector<std::int64_t> extents = extents_of(builder.shape_of(indices));
        extents[axis] = builder.shape_of(input)[axis];
        input = builder.slice(input, std::vector<std::int64_t>(extents.size(), 0), extents);
        const AxisLines lines = lines_along(builder.shape_of(input), axis);
        const AxisLines wanted = lines_along(builder.shape_of(indices), axis);
        const auto extent = [](std::size_t count) { return static_cast<std::uint32_t>(count); };
        const ir::ValueId found = words_at_indices(
            node, builder, input, lines,
            builder.reshape(indices,
                            {1, extent(wanted.outer), extent(wanted.count), 1, extent(wanted.inner)}));
        builder.set(node.output(), builder.reshape(found, builder.view(node).output().shape));
    }
    void compute(const TensorCall& call) const override {
        const ir::Value& input = call.node.input(0);
        const std::vector<std::int32_t> indices = indices_of(call, 1);
        const std::size_t bytes = bytes_of(input.type);
        const auto* from = call.input<std::uint8_t>(0);
        auto* to = call.output<std::uint8_t>();
        for (std::size_t image = 0; image < call.batch; ++image) {
            for (const std::size_t place : places(call.node, of_inference(call, 1, indices, image))) {
                std::memcpy(to, from + place * bytes, bytes);
                to += bytes;
            }
            if (!input.constant) from += input.shape.elements() * bytes;
        }
    }

private:
    static std::vector<std::size_t> places(const ir::NodeView& node, std::span<const std::int32_t> indices) {
        return places_beside(node.input(0).shape, node.input(1).shape, axis_of_attribute(node), indices,
                             counts_from_end(node.node()));
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_gather_elements() {
    return std::make_unique<GatherElements>();
}

}  // namespace systole::operators
