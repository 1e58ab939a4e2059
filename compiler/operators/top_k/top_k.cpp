// The indices of the k largest or smallest elements along an axis, the first ones first.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/stored_integers.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/axis_lines.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/ordered_words.h"

namespace systole::operators {
namespace {

constexpr std::int64_t most_k = std::numeric_limits<std::int32_t>::max();

/// The number of the second input, a constant.
std::int64_t k_of_input(const ir::LayerReader& layer) {
    const std::vector<std::int64_t> numbers = constant_integers(layer, 1);
    if (numbers.size() != 1) layer.fail("its K must be one number");
    return numbers.front();
}

/// Appends the values at the indices, and the indices. `values` is the type that the file gives the values.
ir::Results append_top_k(ir::LayerReader& layer, std::vector<ir::NamedAttribute> attributes,
                         std::int64_t axis, std::int64_t k, const std::optional<ir::ResultType>& values) {
    const ir::ValueId input = input_of(layer, 0);
    const ir::Shape shape = shape_of(layer, 0);
    const std::size_t found = axis_in(layer, axis, shape.rank());
    if (k < 1 || k > shape[found]) {
        layer.fail(fmt::format("its K is {}; it must be from 1 to {}, the extent of axis {}", k, shape[found],
                               found));
    }
    const ir::NamedAttribute along{"axis", static_cast<std::int64_t>(found)};
    attributes.push_back(along);
    attributes.emplace_back("k", k);
    const ir::ValueId indices =
        layer.append_as({.type = DataType::Int32}, "top_k", std::move(attributes), {input});
    if (values)
        return std::vector{layer.append_as(*values, "gather_elements", {along}, {input, indices}), indices};
    return std::vector{append_same(layer, "gather_elements", {along}, {input, indices}), indices};
}

/// K is an attribute before operator set 10. Elements in any order may be sorted ones.
ir::Results read_onnx_top_k(ir::LayerReader& layer) {
    const std::int64_t k = layer.has("k") ? integer_of(layer, "k", 0) : k_of_input(layer);
    return append_top_k(layer, {{"largest", std::int64_t{flag_of(layer, "largest", true) ? 1 : 0}}},
                        integer_of(layer, "axis", -1), k, {});
}

ir::Results read_tflite_top_k(ir::LayerReader& layer) {
    if (layer.result_count() != 2) {
        layer.fail(fmt::format("it has {} results in the file; it must have 2", layer.result_count()));
    }
    return append_top_k(layer, {}, -1, k_of_input(layer), layer.declared_result(0));
}

/// Whether a number comes before another one in ascending order. NaN is the largest.
bool is_below(float a, float b) {
    return std::isnan(b) ? !std::isnan(a) : a < b;
}
bool is_below(std::int32_t a, std::int32_t b) {
    return a < b;
}

class TopK final : public Operator {
public:
    std::string_view name() const override { return "top_k"; }
    std::string_view summary() const override {
        return "The indices of the k largest or smallest elements along an axis: the first of them is first, "
               "and of equal elements the one with the lower index. NaN is above all numbers.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            axis_attribute(),
            {.name = "k",
             .meaning = "how many",
             .absent = std::int64_t{1},
             .is_required = true,
             .minimum = 1,
             .maximum = most_k},
            {.name = "largest",
             .meaning = "1: the largest; 0: the smallest",
             .absent = std::int64_t{1},
             .minimum = 0,
             .maximum = 1}};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Onnx,
                 .name = "TopK",
                 .keys = {{"axis", "`axis`"},
                          {"k", "`k`"},
                          {"largest", "`largest`"},
                          {"sorted", "nothing: they are sorted"}},
                 .build = read_onnx_top_k},
                {.format = ir::Format::Tflite, .name = "TOPK_V2", .build = read_tflite_top_k}};
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
        const std::size_t axis = axis_of_attribute(node);
        const ir::Shape& shape = node.input().shape;
        const std::int64_t k = node.node().integer("k");
        if (k > shape[axis]) {
            throw ModelError(fmt::format("its k is {}; it must be at most {}, the extent of axis {} of {}", k,
                                         shape[axis], axis, to_text(shape)));
        }
        std::vector<std::uint32_t> extents(shape.extents().begin(), shape.extents().end());
        extents[axis] = static_cast<std::uint32_t>(k);
        return {ir::Shape(extents)};
    }
    bool takes_words() const override { return true; }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override {
        const ir::ValueId ordered =
            ordered_words(builder, builder.input_of(node), node.integer("largest") != 0);
        builder.set(node.output(),
                    first_in_lines(node, builder, ordered, axis_of_attribute(builder.view(node)),
                                   static_cast<std::size_t>(node.integer("k"))));
    }
    DataType result_type(const ir::NodeView& /*node*/) const override { return DataType::Int32; }
    Placement placement() const override {
        return {.where = "host", .formats = "float32 or integers to int32"};
    }
    void check_types(const ir::NodeView& node) const override {
        const DataType type = node.input().type;
        if ((type != DataType::Float32 && !is_integer(type)) || node.output().type != DataType::Int32) {
            throw ModelError(fmt::format("it turns {} into {}; it must turn float32 or integers into int32",
                                         name_of(type), name_of(node.output().type)));
        }
    }
    void compute(const TensorCall& call) const override {
        if (call.node.input().type == DataType::Float32) {
            return sort(call, std::span(call.input<float>(0), call.input_elements(0)));
        }
        std::vector<std::int32_t> numbers(call.input_elements(0));
        widen(call.inputs.front(), call.node.input().type, numbers);
        sort(call, std::span<const std::int32_t>(numbers));
    }

private:
    template <typename Number>
    static void sort(const TensorCall& call, std::span<const Number> numbers) {
        AxisLines from = lines_along(call.node.input().shape, axis_of_attribute(call.node));
        from.outer *= call.node.input().constant ? 1 : call.batch;
        const auto k = static_cast<std::size_t>(call.node.node().integer("k"));
        const bool largest = call.node.node().integer("largest") != 0;
        auto* const to = call.output<std::int32_t>();
        std::vector<std::int32_t> order(from.count);
        for (std::size_t outer = 0; outer < from.outer; ++outer) {
            for (std::size_t inner = 0; inner < from.inner; ++inner) {
                const Number* const line = numbers.data() + outer * from.count * from.inner + inner;
                const auto number = [&](std::int32_t i) {
                    return line[static_cast<std::size_t>(i) * from.inner];
                };
                const auto is_first = [&](std::int32_t a, std::int32_t b) {
                    if (is_below(number(a), number(b))) return !largest;
                    if (is_below(number(b), number(a))) return largest;
                    return a < b;
                };
                std::iota(order.begin(), order.end(), 0);
                std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(k), is_first);
                for (std::size_t i = 0; i < k; ++i) to[(outer * k + i) * from.inner + inner] = order[i];
            }
        }
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_top_k() {
    return std::make_unique<TopK>();
}

}  // namespace systole::operators
