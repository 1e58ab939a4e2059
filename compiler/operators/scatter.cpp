#include "compiler/operators/scatter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/fixed_point.h"
#include "base/stored_integers.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/index_words.h"
#include "compiler/operators/indices.h"
#include "compiler/operators/integer_types.h"

namespace systole::operators {
namespace {

constexpr const char* reduction_name = "reduction";
constexpr std::string_view replaces = "none";

// The axes of words: [1][outer][update][element of a line][inner].
constexpr std::size_t word_rank = 5;
constexpr std::size_t update_axis = 2;
constexpr std::size_t element_axis = 3;
/// The number of an update that is none: -1.
constexpr std::uint32_t no_update = ~std::uint32_t{0};

/// What an update and the number that is there become. Integers wrap around.
float scattered_sum(float a, float b) {
    return a + b;
}
std::int32_t scattered_sum(std::int32_t a, std::int32_t b) {
    return wrapping_add(a, b);
}
float scattered_product(float a, float b) {
    return a * b;
}
std::int32_t scattered_product(std::int32_t a, std::int32_t b) {
    return wrapping_multiply(a, b);
}

template <typename Number>
using Combine = Number (*)(Number there, Number update);

/// The names of `reduction` in graphs and in ONNX, with their functions.
struct ScatterReduction {
    std::string_view name;
    std::string_view onnx_name;
    Combine<float> on_floats = nullptr;
    Combine<std::int32_t> on_integers = nullptr;
    systole::Reduction float_words = systole::Reduction::Or;
    systole::Reduction integer_words = systole::Reduction::Or;
};

template <typename Number>
Number scattered_maximum(Number a, Number b) {
    return std::max(a, b);
}
template <typename Number>
Number scattered_minimum(Number a, Number b) {
    return std::min(a, b);
}

constexpr std::array<ScatterReduction, 5> scatter_reductions{{
    {replaces, "none"},
    {"add", "add", scattered_sum, scattered_sum, systole::Reduction::Sum, systole::Reduction::SumInt},
    {"multiply", "mul", scattered_product, scattered_product, systole::Reduction::Product,
     systole::Reduction::ProductInt},
    {"maximum", "max", scattered_maximum<float>, scattered_maximum<std::int32_t>, systole::Reduction::Maximum,
     systole::Reduction::MaximumInt},
    {"minimum", "min", scattered_minimum<float>, scattered_minimum<std::int32_t>, systole::Reduction::Minimum,
     systole::Reduction::MinimumInt},
}};

const ScatterReduction& scatter_reduction_of(const ir::Node& node) {
    const auto* const found =
        std::ranges::find(scatter_reductions, node.text(reduction_name), &ScatterReduction::name);
    if (found == scatter_reductions.end()) throw std::logic_error("a reduction that scatters do not know");
    return *found;
}

/// Where updates of one inference go.
struct Updates {
    std::span<const std::size_t> places;
    std::size_t slice = 1;
};

template <typename Number>
void combine(const Updates& updates, Combine<Number> function, const Number* from, Number* to) {
    for (const std::size_t place : updates.places) {
        for (std::size_t i = 0; i < updates.slice; ++i, ++from) {
            Number& there = to[place * updates.slice + i];
            there = function(there, *from);
        }
    }
}

ir::AttributeDeclaration scatter_reduction_attribute() {
    std::vector<std::string> choices;
    choices.reserve(scatter_reductions.size());
    for (const ScatterReduction& reduction : scatter_reductions) choices.emplace_back(reduction.name);
    return {.name = reduction_name,
            .meaning = "what becomes of an update and the number that is there; none: the update alone",
            .absent = std::string(replaces),
            .choices = std::move(choices)};
}

}  // namespace

ScatterOperator::ScatterOperator(std::vector<ir::AttributeDeclaration> own) : attributes_(std::move(own)) {
    attributes_.push_back(scatter_reduction_attribute());
    attributes_.push_back(counts_from_end_attribute());
}

const std::vector<ir::AttributeDeclaration>& ScatterOperator::attributes() const {
    return attributes_;
}

std::vector<ir::Shape> ScatterOperator::output_shapes(const ir::NodeView& node) const {
    if (node.node().inputs.size() != 3) throw ModelError("it must have exactly 3 inputs");
    check_shapes(node);
    // Indices that are known are checked before the network runs.
    if (const auto indices = known_indices(node.input(1))) static_cast<void>(places(node, *indices));
    return {node.input(0).shape};
}

Placement ScatterOperator::placement() const {
    return {.where = "host", .formats = "all; with a reduction, float32 and integers without a scale"};
}

void ScatterOperator::check_types(const ir::NodeView& node) const {
    check_index_type(node.input(1));
    for (const ir::Value* const value : {&node.input(2), &node.output()}) {
        if (is_stored_alike(*value, node.input(0))) continue;
        fail_as_stored_unlike("its tensor, its updates and its result", node.input(0), *value);
    }
    const ir::Value& tensor = node.input(0);
    const bool has_numbers =
        tensor.type == DataType::Float32 || (is_integer(tensor.type) && !tensor.quantization);
    if (scatter_reduction_of(node.node()).name != replaces && !has_numbers) {
        throw ModelError(
            fmt::format("its tensor is {}{}; with a reduction, it must be float32 or integers "
                        "without a scale",
                        name_of(tensor.type), tensor.quantization ? " with a scale" : ""));
    }
}

void ScatterOperator::compute(const TensorCall& call) const {
    const ir::Value& tensor = call.node.input(0);
    const ir::Value& updated = call.node.input(2);
    const ScatterReduction& reduction = scatter_reduction_of(call.node.node());
    const std::vector<std::int32_t> indices = indices_of(call, 1);
    const std::size_t bytes = bytes_of(tensor.type);
    const std::size_t elements = tensor.shape.elements();
    const std::size_t count = updated.shape.elements();
    auto* to = call.output<std::uint8_t>();
    for (std::size_t image = 0; image < call.batch; ++image, to += elements * bytes) {
        const auto* const from =
            call.input<std::uint8_t>(0) + (tensor.constant ? 0 : image * elements * bytes);
        const auto* const news = call.input<std::uint8_t>(2) + (updated.constant ? 0 : image * count * bytes);
        std::memcpy(to, from, elements * bytes);
        const std::vector<std::size_t> all = places(call.node, of_inference(call, 1, indices, image));
        const Updates updates{.places = all, .slice = slice(call.node)};
        if (reduction.name == replaces) {
            const std::size_t slice_bytes = updates.slice * bytes;
            for (std::size_t i = 0; i < all.size(); ++i)
                std::memcpy(to + all[i] * slice_bytes, news + i * slice_bytes, slice_bytes);
        } else if (tensor.type == DataType::Float32) {
            combine(updates, reduction.on_floats, reinterpret_cast<const float*>(news),
                    reinterpret_cast<float*>(to));
        } else {
            std::vector<std::int32_t> there(elements);
            std::vector<std::int32_t> numbers(count);
            widen(to, tensor.type, there);
            widen(news, tensor.type, numbers);
            combine(updates, reduction.on_integers, numbers.data(), there.data());
            narrow(there, tensor.type, to);
        }
    }
}

/// All elements of a line are compared with the place of each update. With a reduction, the updates of an
/// element become one, in the order of `word_reduce`, and then it and the element; else the last one stays.
void ScatterOperator::to_words(const ir::Node& node, WordsBuilder& builder) const {
    const UpdateWords words = update_words(node, builder);
    const AxisLines& lines = words.lines;
    const ir::ValueId input = builder.input_of(node, 0);
    const DataType type = builder.value(input).type;
    const std::size_t updates = builder.shape_of(words.updates)[update_axis];
    check_compared(node, std::uint64_t{lines.outer} * lines.count * lines.inner, updates);
    const auto extent = [](std::size_t count) { return static_cast<std::uint32_t>(count); };
    const ir::ValueId target =
        builder.reshape(input, {1, extent(lines.outer), 1, extent(lines.count), extent(lines.inner)});
    const ir::ValueId elements = numbers_along(builder, word_rank, element_axis, lines.count);
    const ScatterReduction& reduction = scatter_reduction_of(node);
    ir::ValueId result = 0;
    if (reduction.name == replaces) {
        const ir::ValueId numbers = numbers_along(builder, word_rank, update_axis, updates);
        const ir::ValueId there = builder.chain_as(
            DataType::Int32, {words.places, elements, numbers}, [](std::span<const Word> in) {
                return select(apply(WordOperation::EqualInt, {in[0], in[1]}), in[2],
                              constant_word(in[0].steps(), no_update));
            });
        const ir::ValueId last = builder.reduce(systole::Reduction::MaximumInt, there, {update_axis});
        const ir::ValueId alone =
            builder.chain_as(DataType::Int32, {last, numbers, words.updates}, [](std::span<const Word> in) {
                return select(apply(WordOperation::EqualInt, {in[0], in[1]}), in[2],
                              constant_word(in[0].steps(), 0));
            });
        const ir::ValueId update = builder.reduce(systole::Reduction::Or, alone, {update_axis});
        result = builder.chain_as(type, {last, target, update}, [](std::span<const Word> in) {
            const Word none = constant_word(in[0].steps(), no_update);
            return select(apply(WordOperation::EqualInt, {in[0], none}), in[1], in[2]);
        });
    } else {
        const bool is_real = type == DataType::Float32;
        const systole::Reduction combines = is_real ? reduction.float_words : reduction.integer_words;
        const ir::ValueId alone =
            builder.chain_as(type, {words.places, elements, words.updates}, [&](std::span<const Word> in) {
                return select(apply(WordOperation::EqualInt, {in[0], in[1]}), in[2],
                              constant_word(in[0].steps(), neutral_word(combines)));
            });
        const ir::ValueId update = builder.reduce(combines, alone, {update_axis});
        result = builder.chain_as(type, {target, update}, [&](std::span<const Word> in) {
            return apply(operation_of(combines), {in[0], in[1]});
        });
    }
    builder.set(node.output(), builder.reshape(result, builder.view(node).output().shape));
}

ir::LayerKey onnx_scatter_key() {
    return {reduction_name, "`reduction`"};
}

ir::NamedAttribute onnx_scatter_reduction(const ir::LayerReader& layer) {
    const std::string name = layer.text(reduction_name, "none");
    const auto* const found = std::ranges::find(scatter_reductions, name, &ScatterReduction::onnx_name);
    if (found == scatter_reductions.end())
        layer.fail(reduction_name, "it must be none, add, mul, max or min");
    return {reduction_name, std::string(found->name)};
}

ir::NamedAttribute scatter_add() {
    return {reduction_name, std::string("add")};
}

}  // namespace systole::operators
