// A range of the elements of a vector.
#include <fmt/format.h>

#include <limits>

#include "compiler/ir/model_error.h"
#include "compiler/operators/element_range.h"

namespace systole::operators {
namespace {

constexpr std::int64_t most_elements = std::numeric_limits<std::uint32_t>::max();

ir::ValueId read_json_slice(ir::LayerReader& layer) {
    const auto values = layer.is_list("first") ? std::nullopt : layer.integers("first");
    const std::int64_t first = values ? values->front().value_or(-1) : -1;
    if (first < 0) layer.fail("first", "it must be an integer from 0 to 2^32 - 1");
    const std::int64_t count = layer.positive("count");
    return layer.append("slice", {{"first", first}, {"count", count}}, {layer.input()});
}

class Slice final : public ElementRangeOperator {
public:
    std::string_view name() const override { return "slice"; }
    std::string_view summary() const override { return "A range of the elements of a vector."; }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{{.name = "first",
                                                                         .meaning = "the first element",
                                                                         .absent = std::int64_t{0},
                                                                         .minimum = 0,
                                                                         .maximum = most_elements},
                                                                        {.name = "count",
                                                                         .meaning = "how many elements",
                                                                         .absent = std::int64_t{0},
                                                                         .is_required = true,
                                                                         .minimum = 0,
                                                                         .maximum = most_elements}};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::GraphJson,
                 .name = "slice",
                 .keys = {{"first", "`first`"}, {"count", "`count`"}},
                 .build = read_json_slice}};
    }

    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return kept_batch(node, has_batch);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        node.require_inputs(1);
        const ir::FeatureMap input = node.input_map();
        const std::int64_t first = node.node().integer("first");
        const std::int64_t count = node.node().integer("count");
        if (!input.is_vector()) {
            throw ModelError(fmt::format("it takes a slice of {}; it must be a vector", to_text(input)));
        }
        if (count == 0 || first >= input.channels || count > input.channels - first) {
            throw ModelError(
                fmt::format("it takes {} elements from element {} on; they must be 1 or more, of a "
                            "vector of {}",
                            count, first, input.channels));
        }
        return {ir::vector_shape(static_cast<std::uint32_t>(count), node.batch())};
    }
    Placement placement() const override {
        return {.where = "nowhere: readers read a part of the rows",
                .formats = "float32; uint8, int8, int16"};
    }

protected:
    std::uint64_t first_element(const ir::NodeView& node) const override {
        return static_cast<std::uint64_t>(node.node().integer("first"));
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_slice() {
    return std::make_unique<Slice>();
}

}  // namespace systole::operators
