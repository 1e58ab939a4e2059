#include "compiler/passes/value_pattern.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "compiler/operators/axis_lines.h"
#include "compiler/operators/reduction.h"

namespace systole::passes {
namespace {

/// Numbers of files are rounded to float32, and some are written with few digits.
constexpr double number_tolerance = 1e-6;

bool is_float(const ir::Value& value) {
    return value.type == DataType::Float32 && !value.quantization;
}

/// The number of a known constant of one element.
std::optional<double> number_of(const ir::Value& value) {
    if (!is_float(value) || !value.constant || !value.constant->is_known() || value.shape.elements() != 1) {
        return std::nullopt;
    }
    return value.constant->values<float>().front();
}

bool are_equal_constants(const ir::Value& a, const ir::Value& b) {
    return a.constant && b.constant && a.constant->is_known() && a.type == b.type && a.shape == b.shape &&
           a.constant == b.constant;
}

bool is_commutative(std::string_view op) {
    return op == "add" || op == "squared_difference";
}

void add_new(std::vector<Match>& matches, std::vector<Match> found) {
    for (Match& match : found) {
        // Equal factors match in several orders, and all are the same match.
        if (std::ranges::find(matches, match) == matches.end()) matches.push_back(std::move(match));
    }
}

}  // namespace

Pattern activation(std::string_view name) {
    return {.kind = Pattern::Kind::Activation, .name = name};
}
Pattern constant(std::string_view name) {
    return {.kind = Pattern::Kind::Constant, .name = name};
}
Pattern any_number(std::string_view name) {
    return {.kind = Pattern::Kind::AnyNumber, .name = name};
}
Pattern constant_number(double value) {
    return {.kind = Pattern::Kind::Number, .number = value};
}
Pattern result_of(std::string_view op, std::vector<Pattern> operands) {
    return {.kind = Pattern::Kind::Node, .name = op, .parts = std::move(operands)};
}
Pattern product(std::vector<Pattern> factors) {
    return {.kind = Pattern::Kind::Product, .parts = std::move(factors)};
}
Pattern inverse(Pattern divisor) {
    return {.kind = Pattern::Kind::Inverse, .parts = {std::move(divisor)}};
}
Pattern any_of(std::vector<Pattern> alternatives) {
    return {.kind = Pattern::Kind::AnyOf, .parts = std::move(alternatives)};
}

PatternMatcher::PatternMatcher(const ir::Graph& graph)
    : graph_(graph), border_(graph), producers_(ir::producers(graph)), readers_(ir::readers(graph)) {}

std::vector<Match> PatternMatcher::matches(const Pattern& pattern, ir::NodeId node) const {
    Matches found = with_pattern(pattern, graph_.nodes[node].output(), {});
    std::erase_if(found, [&](const Match& match) { return !is_closed(match, node); });
    return found;
}

PatternMatcher::Matches PatternMatcher::with_pattern(const Pattern& pattern, ir::ValueId value,
                                                     const Match& match) const {
    switch (pattern.kind) {
        case Pattern::Kind::Activation:
        case Pattern::Kind::Constant:
        case Pattern::Kind::AnyNumber:
            return with_name(pattern, value, match);
        case Pattern::Kind::Number:
            return is_number(value, pattern.number) ? Matches{match} : Matches{};
        case Pattern::Kind::Node:
            return with_operands(pattern, value, match);
        case Pattern::Kind::Product: {
            Factors factors;
            for (const Pattern& factor : pattern.parts) factors.push_back(&factor);
            return with_product(factors, value, match);
        }
        case Pattern::Kind::Inverse:
            return with_inverse(pattern.parts.front(), value, match);
        case Pattern::Kind::AnyOf: {
            Matches found;
            for (const Pattern& part : pattern.parts) add_new(found, with_pattern(part, value, match));
            return found;
        }
    }
    throw std::logic_error("a pattern has no kind");
}

PatternMatcher::Matches PatternMatcher::with_name(const Pattern& pattern, ir::ValueId id, Match match) const {
    const ir::Value& value = graph_.values[id];
    const bool wants_constant = pattern.kind != Pattern::Kind::Activation;
    if (!is_float(value) || value.constant.has_value() != wants_constant) return {};
    if (pattern.kind == Pattern::Kind::AnyNumber && !number_of(value)) return {};
    const ir::ValueId named = match.values.try_emplace(pattern.name, id).first->second;
    if (named != id && !are_equal_constants(graph_.values[named], value)) return {};
    return {std::move(match)};
}

PatternMatcher::Matches PatternMatcher::with_operands(const Pattern& pattern, ir::ValueId value,
                                                      const Match& match) const {
    const ir::Node* const node = maker(value);
    if (node == nullptr || !node->is(pattern.name) || node->inputs.size() != pattern.parts.size()) return {};
    const auto begun = with_node(match, *producers_[value]);
    if (!begun) return {};
    const auto in_order = [&](const std::vector<ir::ValueId>& operands) {
        Matches found{*begun};
        for (std::size_t i = 0; i < operands.size(); ++i) {
            Matches extended;
            for (const Match& so_far : found) {
                add_new(extended, with_pattern(pattern.parts[i], operands[i], so_far));
            }
            found = std::move(extended);
        }
        return found;
    };
    Matches found = in_order(node->inputs);
    if (is_commutative(pattern.name)) add_new(found, in_order({node->inputs[1], node->inputs[0]}));
    return found;
}

PatternMatcher::Matches PatternMatcher::with_product(const Factors& factors, ir::ValueId value,
                                                     const Match& match) const {
    if (factors.size() == 1) return with_pattern(*factors.front(), value, match);
    const ir::Node* const node = maker(value);
    if (node == nullptr || (!node->is("multiply") && !node->is("divide"))) return {};
    const auto begun = with_node(match, *producers_[value]);
    if (!begun) return {};
    Matches found;
    if (node->is("divide")) {
        for (std::size_t i = 0; i < factors.size(); ++i) {
            Factors others = factors;
            others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
            for (const Match& divided : with_divisor(*factors[i], node->inputs[1], *begun)) {
                add_new(found, with_product(others, node->inputs[0], divided));
            }
        }
        return found;
    }
    // Some of the factors, but not all, make the first operand. The bits of a number choose them.
    const std::size_t choices = std::size_t{1} << factors.size();
    for (std::size_t choice = 1; choice + 1 < choices; ++choice) {
        Factors first;
        Factors second;
        for (std::size_t i = 0; i < factors.size(); ++i) {
            ((choice >> i & 1U) != 0 ? first : second).push_back(factors[i]);
        }
        for (const Match& half : with_product(first, node->inputs[0], *begun)) {
            add_new(found, with_product(second, node->inputs[1], half));
        }
    }
    return found;
}

PatternMatcher::Matches PatternMatcher::with_inverse(const Pattern& divisor, ir::ValueId value,
                                                     const Match& match) const {
    const ir::Node* const node = maker(value);
    if (node == nullptr) return {};
    const bool is_quotient = node->is("divide") && is_number(node->inputs[0], 1.0);
    if (!is_quotient && !node->is("reciprocal")) return {};
    const auto begun = with_node(match, *producers_[value]);
    return begun ? with_pattern(divisor, node->inputs.back(), *begun) : Matches{};
}

PatternMatcher::Matches PatternMatcher::with_divisor(const Pattern& factor, ir::ValueId value,
                                                     const Match& match) const {
    if (factor.kind == Pattern::Kind::Inverse) return with_pattern(factor.parts.front(), value, match);
    if (factor.kind == Pattern::Kind::Number) {
        return is_number(value, 1.0 / factor.number) ? Matches{match} : Matches{};
    }
    if (factor.kind != Pattern::Kind::AnyOf) return {};
    Matches found;
    for (const Pattern& part : factor.parts) add_new(found, with_divisor(part, value, match));
    return found;
}

std::optional<Match> PatternMatcher::with_node(Match match, ir::NodeId id) const {
    const ir::NodeView view(graph_, graph_.nodes[id]);
    const ir::Node& node = view.node();
    if (!is_float(view.output())) return std::nullopt;
    std::optional<std::vector<std::size_t>> axes;
    if (node.op->name().starts_with("reduce_")) {
        // What is reduced meets the whole tensor again, so that it needs its axes.
        if (node.integer("keep") == 0 || node.op->reduces_batch(node)) return std::nullopt;
        axes = operators::reduced_axes(view);
    } else if (node.is("softmax")) {
        axes = std::vector{operators::axis_of_attribute(view)};
    }
    if (axes && match.axes && axes != match.axes) return std::nullopt;
    if (axes) match.axes = std::move(axes);
    match.nodes.insert(id);
    return match;
}

const ir::Node* PatternMatcher::maker(ir::ValueId value) const {
    return producers_[value] ? &graph_.nodes[*producers_[value]] : nullptr;
}

bool PatternMatcher::is_number(ir::ValueId value, double wanted) const {
    const auto found = number_of(graph_.values[value]);
    return found && std::abs(*found - wanted) <= number_tolerance * std::abs(wanted);
}

bool PatternMatcher::is_closed(const Match& match, ir::NodeId result) const {
    return std::ranges::all_of(match.nodes, [&](ir::NodeId id) {
        const ir::ValueId value = graph_.nodes[id].output();
        return id == result ||
               (!border_.is_output(value) && std::ranges::all_of(readers_[value], [&](ir::NodeId reader) {
                   return match.nodes.contains(reader);
               }));
    });
}

}  // namespace systole::passes
