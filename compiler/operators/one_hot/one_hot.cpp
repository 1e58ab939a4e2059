// A new axis that has one value at the index that the input gives, and another value elsewhere.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "base/stored_integers.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/index_words.h"
#include "compiler/operators/operator.h"

namespace systole::operators {
namespace {

/// ONNX OneHot: indices, depth, and the values [elsewhere, at the index].
ir::Results read_one_hot(ir::LayerReader& layer) {
    const ir::ValueId indices = input_of(layer, 0);
    const auto depth = constant_reals_if_any(layer, 1);
    if (!depth || depth->size() != 1) layer.fail("its depth must be one number");
    if (!(depth->front() >= 1.0) || depth->front() > std::numeric_limits<std::int32_t>::max()) {
        layer.fail(fmt::format("its depth is {}; it must be at least 1 and fit 32 bits", depth->front()));
    }
    const ir::ValueId values = input_of(layer, 2);
    if (!layer.value(values).constant) {
        layer.fail("its values are computed by the network; they must be constants");
    }
    const std::size_t rank = layer.value(indices).shape.rank() + 1;
    const std::size_t axis = axis_in(layer, integer_of(layer, "axis", -1), rank);
    return layer.append(
        "one_hot",
        {{"axis", static_cast<std::int64_t>(axis)}, {"depth", static_cast<std::int64_t>(depth->front())}},
        {indices, values});
}

/// The bytes of a number that the network knows.
std::span<const std::uint8_t> known_number(const ir::LayerReader& layer, std::size_t index) {
    const ir::Value& value = layer.value(input_of(layer, index));
    if (!value.constant || !value.constant->is_known() || value.shape.elements() != 1) {
        layer.fail(fmt::format("its input {} must be a constant of one number", index));
    }
    return value.constant->bytes();
}

/// TFLite ONE_HOT: indices, depth, the value at the index and the value elsewhere.
ir::Results read_tflite_one_hot(ir::LayerReader& layer) {
    const ir::ValueId indices = input_of(layer, 0);
    const std::vector<std::int64_t> depth = constant_integers(layer, 1);
    if (depth.size() != 1 || depth.front() < 1) layer.fail("its depth must be one number, of at least 1");
    constexpr std::size_t there = 2;
    constexpr std::size_t elsewhere = 3;
    const DataType type = layer.value(input_of(layer, there)).type;
    if (layer.value(input_of(layer, elsewhere)).type != type) {
        layer.fail("its values at the index and elsewhere must be of one type");
    }
    std::vector<std::uint8_t> bytes;
    for (const std::size_t input : {elsewhere, there}) {
        const std::span<const std::uint8_t> number = known_number(layer, input);
        bytes.insert(bytes.end(), number.begin(), number.end());
    }
    const ir::ValueId values = layer.add_constant("values", {2}, type, ir::Constant::of(std::move(bytes)));
    const std::size_t rank = layer.value(indices).shape.rank() + 1;
    const std::size_t axis = axis_in(layer, integer_of(layer, "axis", -1), rank);
    return append_declared(layer, "one_hot",
                           {{"axis", static_cast<std::int64_t>(axis)},
                            {"depth", depth.front()},
                            {"counts_from_end", std::int64_t{0}}},
                           {indices, values});
}

/// The place of an index along the new axis; none if it is beyond the ends.
std::optional<std::size_t> place_of(std::int64_t index, std::int64_t depth, bool counts_from_end) {
    if (index < 0 && counts_from_end) index += depth;
    return index >= 0 && index < depth ? std::optional(static_cast<std::size_t>(index)) : std::nullopt;
}

class OneHot final : public Operator {
public:
    std::string_view name() const override { return "one_hot"; }
    std::string_view summary() const override {
        return "A new axis that has one value at the index that the input gives, and another value "
               "elsewhere. Inputs: the indices; a constant with "
               "the value elsewhere and that at the index. Indices beyond the ends give the value elsewhere "
               "alone.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            {.name = "axis",
             .meaning = "the new axis",
             .absent = std::int64_t{0},
             .minimum = 0,
             .maximum = ir::Shape::most_extents - 1},
            {.name = "depth",
             .meaning = "its extent",
             .absent = std::int64_t{1},
             .is_required = true,
             .minimum = 1,
             .maximum = std::numeric_limits<std::int32_t>::max()},
            {.name = "counts_from_end",
             .meaning = "1: negative indices count from the end; 0: they are beyond the ends",
             .absent = std::int64_t{1},
             .minimum = 0,
             .maximum = 1}};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Onnx,
                 .name = "OneHot",
                 .keys = {{"axis", "`axis`"}},
                 .build = read_one_hot},
                {.format = ir::Format::Tflite,
                 .name = "ONE_HOT",
                 .keys = {{"axis", "`axis`"}},
                 .build = read_tflite_one_hot}};
    }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return kept_batch(node, has_batch, node.node().integer("axis") != 0);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 2) throw ModelError("it must have exactly 2 inputs");
        const ir::Value& values = node.input(1);
        if (!values.constant || values.shape.elements() != 2) {
            throw ModelError(fmt::format("its values are {}; they must be a constant of 2 elements",
                                         to_text(values.shape)));
        }
        const auto extents = node.input(0).shape.extents();
        const auto axis = static_cast<std::size_t>(node.node().integer("axis"));
        if (axis > extents.size() || extents.size() == ir::Shape::most_extents) {
            throw ModelError(
                fmt::format("its new axis is {}; its indices are {}, and a tensor has at most {} axes", axis,
                            to_text(node.input(0).shape), ir::Shape::most_extents));
        }
        std::vector<std::uint32_t> result(extents.begin(), extents.end());
        result.insert(result.begin() + static_cast<std::ptrdiff_t>(axis),
                      static_cast<std::uint32_t>(node.node().integer("depth")));
        return {ir::Shape(result)};
    }
    Placement placement() const override { return {.where = "host", .formats = "integers to all"}; }
    DataType result_type(const ir::NodeView& node) const override { return node.input(1).type; }
    void check_types(const ir::NodeView& node) const override {
        // Real numbers that were stored in few bits may be next to an integer, on either side.
        const bool is_computed_real = !is_integer(node.input(0).type) && !node.input(0).constant;
        if (is_computed_real) {
            throw ModelError(
                fmt::format("its indices are {}; they must be integers", name_of(node.input(0).type)));
        }
        if (node.input(1).type != node.output().type) {
            throw ModelError(fmt::format("its values are {} and its result is {}; both must be of one type",
                                         name_of(node.input(1).type), name_of(node.output().type)));
        }
    }
    bool takes_words() const override { return true; }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override {
        const ir::ValueId indices = builder.input_of(node, 0);
        const ir::Shape shape = builder.view(node).output().shape;
        const auto axis = static_cast<std::size_t>(node.integer("axis"));
        std::vector<std::uint32_t> extents(shape.extents().begin(), shape.extents().end());
        extents[axis] = 1;
        // An index that is still outside is no element's number.
        const ir::ValueId wanted =
            builder.reshape(counted_indices(node, builder, indices, shape[axis]), ir::Shape(extents));
        const auto one_value = [&](std::int64_t which) {
            return builder.slice(builder.reshape(builder.input_of(node, 1), {2}), {which}, {1});
        };
        const ir::ValueId numbers = numbers_along(builder, shape.rank(), axis, shape[axis]);
        builder.set(
            node.output(),
            builder.chain_as(builder.view(node).output().type, {wanted, numbers, one_value(1), one_value(0)},
                             [](std::span<const Word> in) {
                                 return select(apply(WordOperation::EqualInt, {in[0], in[1]}), in[2], in[3]);
                             }));
    }
    void compute(const TensorCall& call) const override {
        const ir::Value& input = call.node.input(0);
        const std::vector<std::int64_t> indices = indices_of(call);
        const std::int64_t depth = call.node.node().integer("depth");
        const auto axis = static_cast<std::size_t>(call.node.node().integer("axis"));
        const bool counts_from_end = call.node.node().integer("counts_from_end") != 0;
        const std::size_t bytes = bytes_of(call.node.output().type);
        const auto* const elsewhere = call.input<std::uint8_t>(1);
        const std::uint8_t* const there = elsewhere + bytes;
        std::size_t inner = 1;
        for (std::size_t i = axis; i < input.shape.rank(); ++i) inner *= input.shape[i];
        auto* to = call.output<std::uint8_t>();
        for (std::size_t first = 0; first < indices.size(); first += inner) {
            for (std::size_t step = 0; step < static_cast<std::size_t>(depth); ++step) {
                for (std::size_t i = 0; i < inner; ++i, to += bytes) {
                    const bool is_there = place_of(indices[first + i], depth, counts_from_end) == step;
                    std::memcpy(to, is_there ? there : elsewhere, bytes);
                }
            }
        }
    }

private:
    /// Real numbers are cut to integers; those beyond 32 bits are beyond every depth.
    static std::vector<std::int64_t> indices_of(const TensorCall& call) {
        const std::size_t count = call.input_elements(0);
        std::vector<std::int64_t> indices;
        indices.reserve(count);
        if (call.node.input(0).type == DataType::Float32) {
            constexpr float beyond = 4294967296.0F;
            for (const float number : std::span(call.input<float>(0), count)) {
                const bool is_inside = std::abs(number) < beyond;  // false for NaN
                indices.push_back(is_inside ? static_cast<std::int64_t>(number)
                                            : std::numeric_limits<std::int64_t>::max());
            }
            return indices;
        }
        std::vector<std::int32_t> numbers(count);
        widen(call.inputs[0], call.node.input(0).type, numbers);
        indices.assign(numbers.begin(), numbers.end());
        return indices;
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_one_hot() {
    return std::make_unique<OneHot>();
}

}  // namespace systole::operators
