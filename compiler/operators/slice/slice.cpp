// A range of the elements of a vector.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/ir/model_error.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/lowering.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/quantizer.h"

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

class Slice final : public Operator {
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
        return {ir::vector_shape(static_cast<std::uint32_t>(count))};
    }
    bool moves_elements() const override { return true; }
    void evaluate(const FloatCall& call) const override {
        copy_elements(call.node, call.batch, call.inputs[0], call.output);
    }
    Placement placement() const override {
        return {.where = "nowhere: readers read a part of the rows",
                .formats = "float32; uint8, int8, int16"};
    }
    void check_types(const ir::NodeView& node) const override {
        if (!works_on_integers(node)) return;
        require_integers(node);
        require_one_encoding(node);
    }
    void quantize(const ir::Node& node, Quantizer& quantizer) const override {
        quantizer.require_one_width(node);
        quantizer.add_like(node, quantizer.stored_encoding(node.inputs.front()));
    }
    void execute(const IntegerCall& call) const override {
        copy_elements(call.node, call.batch, call.inputs[0], call.output);
    }
    void lower(const ir::NodeView& node, Lowering& lowering) const override {
        const auto first = static_cast<std::uint64_t>(node.node().integer("first"));
        lowering.add_layer(node.node(), node.node().output(), mapping::Slice{.first_element = first});
    }

private:
    template <typename Number>
    static void copy_elements(const ir::NodeView& node, std::uint32_t batch, const Number* from, Number* to) {
        const std::size_t elements = node.input().shape.elements();
        const auto first = static_cast<std::size_t>(node.node().integer("first"));
        const auto count = static_cast<std::size_t>(node.node().integer("count"));
        for (std::size_t image = 0; image < batch; ++image) {
            to = std::copy_n(from + image * elements + first, count, to);
        }
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_slice() {
    return std::make_unique<Slice>();
}

}  // namespace systole::operators
