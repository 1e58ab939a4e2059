// Keras' products of two tensors, and of a tensor and weights by an equation.
#include "compiler/operators/matrix_product/keras_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/message_text.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/layer_formats.h"
#include "compiler/operators/matrix_product/matrix_product.h"

namespace systole::operators {
namespace {

using Permutation = std::vector<std::int64_t>;

ir::ValueId append_permutation(ir::LayerReader& layer, ir::ValueId value, const Permutation& permutation) {
    if (std::ranges::is_sorted(permutation)) return value;
    return layer.append("transpose", {{"permutation", permutation}}, {value});
}

/// A tensor of Dot as matrices, and the extents of its other axes.
struct DotSide {
    ir::ValueId matrix;
    std::vector<std::int64_t> others = {};
    bool is_before_others = false;  ///< whether the axis of the products comes before the others
};

/// The axes of Dot, one for each input.
std::vector<std::int64_t> dot_axes(const ir::LayerReader& layer) {
    const auto given = layer.integers("axes");
    if (!given || given->empty() || given->size() > 2 || !given->front() || !given->back()) {
        layer.fail("axes", "it must be an axis, or one for each input");
    }
    return {*given->front(), *given->back()};
}

DotSide dot_side(ir::LayerReader& layer, ir::ValueId input, std::int64_t given_axis) {
    const ir::Shape shape = layer.value(input).shape;
    const std::size_t axis = axis_in(layer, given_axis, shape.rank());
    if (axis == 0) layer.fail("axes", "it must be behind the batch");
    if (layer.boolean("normalize", false)) {
        input = layer.append("normalize", {{"axis", static_cast<std::int64_t>(axis)}}, {input});
    }
    DotSide side{.matrix = input, .is_before_others = axis == 1 && shape.rank() > 2};
    Permutation permutation{0};
    std::int64_t count = 1;
    for (std::size_t i = 1; i < shape.rank(); ++i) {
        if (i == axis) continue;
        permutation.push_back(static_cast<std::int64_t>(i));
        side.others.push_back(shape[i]);
        count *= shape[i];
    }
    std::vector<std::int64_t> extents{shape[0], count, shape[axis]};
    if (side.is_before_others) {
        std::swap(extents[1], extents[2]);
    } else {
        permutation.push_back(static_cast<std::int64_t>(axis));
        side.matrix = append_permutation(layer, input, permutation);
    }
    side.matrix = append_shape(layer, side.matrix, shape_from(layer, extents));
    return side;
}

ir::ValueId read_dot(ir::LayerReader& layer) {
    const std::vector<ir::ValueId>& inputs = layer.inputs();
    if (inputs.size() != 2) {
        layer.fail(fmt::format("it has {}; it must have exactly 2", counted(inputs.size(), "input")));
    }
    const std::vector<std::int64_t> axes = dot_axes(layer);
    const DotSide a = dot_side(layer, inputs[0], axes[0]);
    const DotSide b = dot_side(layer, inputs[1], axes[1]);
    const ir::ValueId product =
        append_matrix_product(layer, {a.matrix, b.matrix},
                              {{"transposed_a", std::int64_t{a.is_before_others ? 1 : 0}},
                               {"transposed_b", std::int64_t{b.is_before_others ? 0 : 1}}});
    std::vector<std::int64_t> extents{layer.value(product).shape[0]};
    extents.insert(extents.end(), a.others.begin(), a.others.end());
    extents.insert(extents.end(), b.others.begin(), b.others.end());
    if (extents.size() == 1) extents.push_back(1);
    return append_shape(layer, product, shape_from(layer, extents));
}

constexpr const char* equation_key = "equation";

/// "ab,bc->ac": a letter for each axis of the input, the weights and the result. The axes that "..." stands
/// for have digits.
struct Equation {
    std::string input;
    std::string weights;
    std::string result;
    std::size_t elided = 0;       ///< axes of "..."
    bool is_elided_left = false;  ///< "...a,ab->...b" and not "ab...,bc->ac..."
};

/// Takes "..." off one end of a term.
bool take_dots(std::string& term, bool from_left) {
    constexpr std::string_view dots = "...";
    if (!(from_left ? term.starts_with(dots) : term.ends_with(dots))) return false;
    term.erase(from_left ? 0 : term.size() - dots.size(), dots.size());
    return true;
}

bool is_term(const std::string& term) {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    std::string sorted = term;
    std::ranges::sort(sorted);
    return std::ranges::all_of(term, is_letter) && std::ranges::adjacent_find(sorted) == sorted.end();
}

Equation read_equation(const ir::LayerReader& layer, std::size_t rank) {
    const std::string text = layer.text(equation_key, "");
    const std::size_t comma = text.find(',');
    const std::size_t arrow = text.find("->");
    constexpr std::size_t arrow_length = 2;
    constexpr const char* form =
        "it must have the form \"ab,bc->ac\", \"...b,bc->...c\" or \"ab...,bc->ac...\", with each letter at "
        "most once in each term";
    if (comma == std::string::npos || arrow == std::string::npos || arrow < comma) {
        layer.fail(equation_key, form);
    }
    Equation equation{.input = text.substr(0, comma),
                      .weights = text.substr(comma + 1, arrow - comma - 1),
                      .result = text.substr(arrow + arrow_length)};
    equation.is_elided_left = equation.input.starts_with("...");
    const bool has_dots = take_dots(equation.input, equation.is_elided_left);
    if (has_dots != take_dots(equation.result, equation.is_elided_left)) layer.fail(equation_key, form);
    for (const std::string* const term : {&equation.input, &equation.weights, &equation.result}) {
        if (!is_term(*term)) layer.fail(equation_key, form);
    }
    const std::size_t named = equation.input.size();
    if (named > rank || (named < rank && !has_dots)) {
        layer.fail(equation_key, fmt::format("its input has {} axes", rank));
    }
    equation.elided = rank - named;
    std::string digits;
    for (std::size_t i = 0; i < equation.elided; ++i) digits += static_cast<char>('0' + i);
    for (std::string* const term : {&equation.input, &equation.result}) {
        term->insert(equation.is_elided_left ? 0 : term->size(), digits);
    }
    const bool keeps_batch = !equation.input.empty() && !equation.result.empty() &&
                             equation.input.front() == equation.result.front() &&
                             equation.weights.find(equation.input.front()) == std::string::npos;
    if (!keeps_batch) {
        layer.fail(equation_key, "the batch must be the first axis of its input and its result alone");
    }
    return equation;
}

bool names_axis(const std::string& term, char axis) {
    return term.find(axis) != std::string::npos;
}

/// The axes of an equation by what becomes of them.
struct EquationAxes {
    std::string shared;   ///< of all three: each index has weights of its own
    std::string rows;     ///< of input and result, behind the batch
    std::string summed;   ///< of input and weights
    std::string columns;  ///< of weights and result
};

EquationAxes sorted_axes(const ir::LayerReader& layer, const Equation& equation) {
    EquationAxes axes;
    const char batch = equation.input.front();
    for (const char axis : equation.result) {
        if (axis == batch) continue;
        const bool of_input = names_axis(equation.input, axis);
        const bool of_weights = names_axis(equation.weights, axis);
        if (!of_input && !of_weights) {
            layer.fail(equation_key, fmt::format("axis {} of the result is no other term's", axis));
        }
        (of_input && of_weights ? axes.shared : of_input ? axes.rows : axes.columns) += axis;
    }
    for (const char axis : equation.input) {
        if (names_axis(equation.result, axis)) continue;
        if (!names_axis(equation.weights, axis)) {
            layer.fail(equation_key,
                       fmt::format("axis {} is the input's alone; that is not supported", axis));
        }
        axes.summed += axis;
    }
    for (const char axis : equation.weights) {
        if (names_axis(equation.result, axis) || names_axis(equation.input, axis)) continue;
        layer.fail(equation_key, fmt::format("axis {} is the weights' alone", axis));
    }
    return axes;
}

using AxisExtents = std::map<char, std::uint32_t>;

/// The extents of the input's axes, and of the result's own by `output_shape`, which leaves out the batch.
AxisExtents extents_of_axes(const ir::LayerReader& layer, const Equation& equation, const EquationAxes& axes,
                            const ir::Shape& input) {
    constexpr const char* key = "output_shape";
    AxisExtents extents;
    for (std::size_t i = 0; i < equation.input.size(); ++i) extents[equation.input[i]] = input[i];
    const auto given = layer.integers(key).value_or(ir::LayerReader::Integers{});
    // Elided axes on the left have the batch among them, and are not in the list.
    const std::size_t left_out =
        equation.is_elided_left && equation.elided > 0 ? equation.elided : std::size_t{1};
    for (const char axis : axes.columns) {
        const std::size_t place = equation.result.find(axis) - left_out;
        const std::int64_t extent = place < given.size() ? given[place].value_or(0) : 0;
        if (extent < 1)
            layer.fail(key, fmt::format("it must have an extent of at least 1 for axis {}", axis));
        extents[axis] = static_cast<std::uint32_t>(extent);
    }
    return extents;
}

std::int64_t product_of(const std::string& axes, const AxisExtents& extents) {
    std::int64_t product = 1;
    for (const char axis : axes) product *= extents.at(axis);
    return product;
}

std::vector<std::int64_t> extents_by_axis(const std::string& axes, const AxisExtents& extents) {
    std::vector<std::int64_t> result;
    for (const char axis : axes) result.push_back(extents.at(axis));
    return result;
}

/// Brings the axes of a value into another order.
ir::ValueId append_order(ir::LayerReader& layer, ir::ValueId value, const std::string& from,
                         const std::string& to) {
    Permutation permutation;
    for (const char axis : to) permutation.push_back(static_cast<std::int64_t>(from.find(axis)));
    return append_permutation(layer, value, permutation);
}

/// The bias of an EinsumDense: it has the axes of `bias_axes`, and axes of 1 where the result has others
/// behind its first one.
struct EquationBias {
    std::string axes;  ///< in the order of the result
    std::vector<std::uint64_t> file_shape;
};

std::optional<EquationBias> read_bias_axes(const ir::LayerReader& layer, const Equation& equation,
                                           const AxisExtents& extents) {
    constexpr const char* key = "bias_axes";
    const std::string given = layer.text(key, "");
    if (given.empty()) return std::nullopt;
    EquationBias bias;
    for (const char axis : equation.result) {
        const bool has = names_axis(given, axis);
        if (has) bias.axes += axis;
        if (!bias.axes.empty()) bias.file_shape.push_back(has ? extents.at(axis) : 1);
    }
    for (const char axis : given) {
        const bool is_digit = axis >= '0' && axis <= '9';
        if (is_digit || axis == equation.result.front() || !names_axis(bias.axes, axis)) {
            layer.fail(key, "it must be of axes of the result behind the batch");
        }
    }
    return bias;
}

/// The weights as [shared][summed][columns], read in the order of the file.
ir::ValueId append_equation_weights(ir::LayerReader& layer, const Equation& equation,
                                    const EquationAxes& axes, const AxisExtents& extents,
                                    const ir::Shape& shape) {
    const std::string order = axes.shared + axes.summed + axes.columns;
    std::vector<std::uint64_t> file_shape;
    for (const char axis : equation.weights) file_shape.push_back(extents.at(axis));
    const bool is_in_order = equation.weights == order;
    const ir::Shape stored =
        is_in_order ? shape : shape_from(layer, extents_by_axis(equation.weights, extents));
    const ir::ValueId weights =
        layer.weight({.roles = {"kernel"}, .file_shape = file_shape, .shape = stored});
    return append_shape(layer, append_order(layer, weights, equation.weights, order), shape);
}

ir::ValueId read_einsum_dense(ir::LayerReader& layer) {
    const ir::Shape input_shape = layer.value(layer.input()).shape;
    const Equation equation = read_equation(layer, input_shape.rank());
    const EquationAxes axes = sorted_axes(layer, equation);
    const AxisExtents extents = extents_of_axes(layer, equation, axes, input_shape);
    const auto bias = read_bias_axes(layer, equation, extents);
    const std::string batch(1, equation.input.front());
    const std::int64_t rows = product_of(axes.rows, extents);
    const std::int64_t summed = product_of(axes.summed, extents);
    const std::int64_t columns = product_of(axes.columns, extents);
    const std::int64_t shared = product_of(axes.shared, extents);
    const ir::ValueId input =
        append_order(layer, layer.input(), equation.input, batch + axes.shared + axes.rows + axes.summed);
    // A function of lines cannot come before the last axis is there.
    const bool has_last_axis = axes.columns.size() == 1 && equation.result.back() == axes.columns.front();
    bool has_bias = !bias.has_value();
    bool has_function = false;
    ir::ValueId product = ir::no_value;
    if (axes.shared.empty()) {
        const ir::ValueId lines =
            append_shape(layer, input, shape_from(layer, {input_shape[0], rows, summed}));
        const std::uint32_t units = shape_from(layer, {columns})[0];
        std::vector<ir::ValueId> parameters{
            lines,
            append_equation_weights(layer, equation, axes, extents, last_axis_weights(layer, lines, units))};
        if (bias && bias->axes == axes.columns) {
            parameters.push_back(
                layer.weight({.roles = {"bias"}, .file_shape = bias->file_shape, .shape = {units}}));
            has_bias = true;
        }
        has_function = has_bias && has_last_axis;
        product = append_last_axis_product(layer, parameters, has_function ? "activation" : nullptr);
    } else {
        const ir::ValueId matrices =
            append_shape(layer, input, shape_from(layer, {input_shape[0], shared, rows, summed}));
        const ir::ValueId weights = append_equation_weights(layer, equation, axes, extents,
                                                            shape_from(layer, {shared, summed, columns}));
        product = append_matrix_product(layer, {matrices, weights});
    }
    const std::string order = batch + axes.shared + axes.rows + axes.columns;
    product = append_shape(layer, product, shape_from(layer, extents_by_axis(order, extents)));
    product = append_order(layer, product, order, equation.result);
    if (!has_bias) {
        const std::vector<std::int64_t> shape(bias->file_shape.begin(), bias->file_shape.end());
        const ir::ValueId addend = layer.weight(
            {.roles = {"bias"}, .file_shape = bias->file_shape, .shape = shape_from(layer, shape)});
        product = layer.append("add", {}, {product, addend});
    }
    return has_function ? product : layer.append_function("activation", product);
}

}  // namespace

std::vector<ir::LayerKind> keras_product_layers() {
    return {{.format = ir::Format::Keras,
             .name = "Dot",
             .keys = {{"axes", "the axis of the products' elements, or one for each input"},
                      {"normalize", "whether the inputs are divided by their norms along it"}},
             .build = read_dot},
            {.format = ir::Format::Keras,
             .name = "EinsumDense",
             .keys = {{equation_key,
                       "the axes of input, weights and result; without axes of all three, the layer is a "
                       "`dense` or `convolution`"},
                      {"output_shape", "the extents of the axes that are the weights' and the result's"},
                      {"bias_axes", "the axes of the bias; absent: there is none"},
                      {"activation", "a function of the result"}},
             .build = read_einsum_dense}};
}

}  // namespace systole::operators
