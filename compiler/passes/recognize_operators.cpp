// Replaces the groups of nodes in which files write layer normalization, RMS normalization, GELU, swish,
// softmax and log softmax by one node of the operator.
#include "compiler/passes/recognize_operators.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/operators/normalization.h"
#include "compiler/operators/operator.h"
#include "compiler/passes/value_pattern.h"

namespace systole::passes {
namespace {

using Attributes = std::vector<ir::NamedAttribute>;

const ir::Shape& shape_of_x(const ir::Graph& graph, const Match& match) {
    return graph.values[match.values.at("x")].shape;
}

/// The extents of the normalized axes.
ir::Shape normalized_shape(const ir::Graph& graph, const Match& match) {
    return operators::shape_from_axis(shape_of_x(graph, match), match.axes->front());
}

/// An attribute `axis`, in which -1 is the last one.
ir::NamedAttribute first_axis(const ir::Graph& graph, const Match& match) {
    const std::size_t axis = match.axes->front();
    const bool is_last = axis + 1 == shape_of_x(graph, match).rank();
    return {"axis", is_last ? std::int64_t{-1} : static_cast<std::int64_t>(axis)};
}

std::optional<Attributes> no_attributes(const ir::Graph& /*graph*/, const Match& /*match*/) {
    return Attributes{};
}

std::optional<Attributes> one_axis(const ir::Graph& graph, const Match& match) {
    if (match.axes->size() != 1) return std::nullopt;
    return Attributes{first_axis(graph, match)};
}

std::optional<Attributes> last_axes_and_epsilon(const ir::Graph& graph, const Match& match) {
    // The axes ascend: if there are as many as x has from the first one on, they are its last ones.
    if (match.axes->empty() || match.axes->size() != normalized_shape(graph, match).rank()) {
        return std::nullopt;
    }
    const float epsilon = operators::known_floats(graph.values[match.values.at("epsilon")]).front();
    if (!(epsilon >= 0.0F)) return std::nullopt;
    return Attributes{first_axis(graph, match), {"epsilon", double{epsilon}}};
}

/// A way in which files write an operator. The pattern names its input "x" and its parameters "scale" and
/// "offset".
struct Form {
    std::string_view op;
    Pattern pattern;
    /// Of the operator; nullopt if it does not compute what has matched.
    std::optional<Attributes> (*attributes)(const ir::Graph& graph, const Match& match);
};

Pattern negated(const Pattern& p) {
    return any_of({result_of("negative", {p}), product({p, constant_number(-1.0)})});
}

Pattern difference(const Pattern& a, const Pattern& b) {
    return any_of({result_of("subtract", {a, b}), result_of("add", {a, negated(b)})});
}

/// The square of a value that one node makes, which is no product.
Pattern square_node(const Pattern& p) {
    return any_of({result_of("square", {p}), result_of("power", {p, constant_number(2.0)})});
}

Pattern squared(const Pattern& p) {
    return any_of({product({p, p}), square_node(p)});
}

Pattern inverse_root(const Pattern& p) {
    const Pattern root = any_of({result_of("sqrt", {p}), result_of("power", {p, constant_number(0.5)})});
    return any_of({inverse(root), result_of("rsqrt", {p}), result_of("power", {p, constant_number(-0.5)})});
}

/// 1 / sqrt(mean of squares + epsilon).
Pattern inverse_deviation(const Pattern& squares) {
    const Pattern mean = result_of("reduce_mean", {squares});
    return inverse_root(result_of("add", {mean, any_number("epsilon")}));
}

/// The factors, and the scale if there is one.
std::vector<Pattern> scaled(std::vector<Pattern> factors, bool has_scale) {
    if (has_scale) factors.push_back(constant("scale"));
    return factors;
}

Pattern layer_normalization(bool has_scale, bool has_offset) {
    const Pattern x = activation("x");
    const Pattern offset = constant("offset");
    const Pattern mean = result_of("reduce_mean", {x});
    const Pattern centered = difference(x, mean);
    const Pattern deviation =
        inverse_deviation(any_of({squared(centered), result_of("squared_difference", {x, mean})}));
    const Pattern normalized = product(scaled({centered, deviation}, has_scale));
    // TensorFlow and Keras multiply x and its mean one by one, and add the offset to the smaller of them.
    const Pattern moved = product(scaled({x, deviation}, has_scale));
    const Pattern moved_mean = product(scaled({mean, deviation}, has_scale));
    const Pattern minus_mean =
        any_of({negated(moved_mean), product(scaled({negated(mean), deviation}, has_scale))});
    if (!has_offset) {
        return any_of(
            {normalized, result_of("subtract", {moved, moved_mean}), result_of("add", {moved, minus_mean})});
    }
    const Pattern shift =
        any_of({result_of("subtract", {offset, moved_mean}), result_of("add", {offset, minus_mean})});
    return any_of({result_of("add", {normalized, offset}), result_of("add", {moved, shift})});
}

Pattern rms_normalization(bool has_scale) {
    const Pattern x = activation("x");
    return product(scaled({x, inverse_deviation(squared(x))}, has_scale));
}

Pattern gelu() {
    const Pattern x = activation("x");
    const Pattern error = result_of("erf", {product({x, constant_number(std::sqrt(0.5))})});
    return product({x, constant_number(0.5), result_of("add", {constant_number(1.0), error})});
}

Pattern gelu_tanh() {
    constexpr double root_of_two_over_pi = 0.7978845608028654;
    const Pattern x = activation("x");
    const Pattern cubic = constant_number(0.044715);
    const Pattern square = any_of({product({cubic, x, x}), product({cubic, square_node(x)})});
    const Pattern cube = any_of({product({cubic, x, x, x}), product({cubic, x, square_node(x)}),
                                 product({cubic, result_of("power", {x, constant_number(3.0)})})});
    const Pattern root = constant_number(root_of_two_over_pi);
    const Pattern inner = any_of({product({root, result_of("add", {x, cube})}),
                                  product({root, x, result_of("add", {constant_number(1.0), square})})});
    return product(
        {x, constant_number(0.5), result_of("add", {constant_number(1.0), result_of("tanh", {inner})})});
}

Pattern swish() {
    const Pattern x = activation("x");
    const Pattern one_and_power = result_of("add", {constant_number(1.0), result_of("exp", {negated(x)})});
    return product({x, any_of({result_of("sigmoid", {x}), inverse(one_and_power)})});
}

/// x less its largest element, so that no power overflows.
Pattern below_largest() {
    const Pattern x = activation("x");
    return difference(x, result_of("reduce_max", {x}));
}

Pattern softmax() {
    const Pattern power = result_of("exp", {below_largest()});
    return product({power, inverse(result_of("reduce_sum", {power}))});
}

Pattern log_softmax() {
    const Pattern shares = any_of({result_of("softmax", {activation("x")}), softmax()});
    const Pattern sum = result_of("reduce_sum", {result_of("exp", {below_largest()})});
    return any_of({result_of("log", {shares}), difference(below_largest(), result_of("log", {sum}))});
}

/// Of the forms that a node fits, the first one counts: one that takes in more nodes comes before others.
const std::vector<Form>& forms() {
    static const std::vector<Form> all{
        {"layer_normalization", layer_normalization(true, true), last_axes_and_epsilon},
        {"layer_normalization", layer_normalization(false, true), last_axes_and_epsilon},
        {"layer_normalization", layer_normalization(true, false), last_axes_and_epsilon},
        {"layer_normalization", layer_normalization(false, false), last_axes_and_epsilon},
        {"rms_normalization", rms_normalization(true), last_axes_and_epsilon},
        {"rms_normalization", rms_normalization(false), last_axes_and_epsilon},
        {"gelu", gelu(), no_attributes},
        {"gelu_tanh", gelu_tanh(), no_attributes},
        {"swish", swish(), no_attributes},
        {"softmax", softmax(), one_axis},
        {"log_softmax", log_softmax(), one_axis}};
    return all;
}

/// Whether two shapes are the same, but for leading axes of extent 1.
bool are_same_but_for_leading_ones(const ir::Shape& a, const ir::Shape& b) {
    const auto extent = [](const ir::Shape& shape, std::size_t from_last) {
        return from_last < shape.rank() ? shape[shape.rank() - 1 - from_last] : 1;
    };
    for (std::size_t i = 0; i < std::max(a.rank(), b.rank()); ++i) {
        if (extent(a, i) != extent(b, i)) return false;
    }
    return true;
}

constexpr std::array parameter_names{"scale", "offset"};

/// Whether the operator takes the parameters of a match: one number for each element of the normalized axes.
bool parameters_fit(const ir::Graph& graph, const Match& match) {
    return std::ranges::all_of(parameter_names, [&](const char* name) {
        const auto parameter = match.values.find(name);
        return parameter == match.values.end() ||
               are_same_but_for_leading_ones(graph.values[parameter->second].shape,
                                             normalized_shape(graph, match));
    });
}

/// A node of an operator in place of others.
struct Replacement {
    std::string_view op;
    Attributes attributes;
    Match match;
};

std::optional<Replacement> replacement_of(const ir::Graph& graph, const PatternMatcher& matcher,
                                          ir::NodeId id) {
    const ir::Shape& result = graph.values[graph.nodes[id].output()].shape;
    for (const Form& form : forms()) {
        for (Match& match : matcher.matches(form.pattern, id)) {
            // Broadcasting only adds axes and elements. So if the result has the shape of x, all values
            // between them have its axes.
            if (shape_of_x(graph, match) != result) continue;
            auto attributes = form.attributes(graph, match);
            if (!attributes || !parameters_fit(graph, match)) continue;
            return Replacement{form.op, *std::move(attributes), std::move(match)};
        }
    }
    return std::nullopt;
}

/// The parameters of a match with the normalized axes. The offset is the second one, so that it needs a
/// scale.
std::vector<ir::ValueId> add_parameters(ir::Graph& graph, const std::string& layer, const Match& match) {
    std::vector<ir::ValueId> parameters;
    for (const char* const name : parameter_names) {
        const auto found = match.values.find(name);
        if (found != match.values.end()) {
            const ir::Value parameter = graph.values[found->second];
            const ir::Shape shape = normalized_shape(graph, match);
            parameters.push_back(
                parameter.shape == shape
                    ? found->second
                    : graph.add_constant(parameter.name, shape, parameter.type, *parameter.constant));
        } else if (match.values.contains("offset")) {
            const ir::Shape shape = normalized_shape(graph, match);
            parameters.push_back(graph.add_constant(layer + "/scale", shape, DataType::Float32,
                                                    std::vector<float>(shape.elements(), 1.0F)));
        }
    }
    return parameters;
}

void replace(ir::Graph& graph, ir::NodeId id, Replacement by) {
    ir::Node& node = graph.nodes[id];
    node.op = &operators::registry().at(by.op);
    node.attributes = ir::complete_attributes(*node.op, std::move(by.attributes));
    node.inputs = {by.match.values.at("x")};
    const std::vector<ir::ValueId> parameters = add_parameters(graph, node.name, by.match);
    node.inputs.insert(node.inputs.end(), parameters.begin(), parameters.end());
    node.stated_data.reset();
}

}  // namespace

ir::Graph recognize_operators(ir::Graph graph) {
    // The authors of a quantized network have chosen what is rounded.
    if (ir::is_quantized(graph)) return graph;
    const PatternMatcher matcher(graph);
    std::vector<bool> is_replaced(graph.nodes.size(), false);
    for (auto id = static_cast<ir::NodeId>(graph.nodes.size()); id-- > 0;) {
        if (is_replaced[id]) continue;
        auto replacement = replacement_of(graph, matcher, id);
        if (!replacement) continue;
        for (const ir::NodeId node : replacement->match.nodes) is_replaced[node] = true;
        replace(graph, id, *std::move(replacement));
    }
    ir::remove_unread(graph);
    return graph;
}

}  // namespace systole::passes
