#include "compiler/target/edge_tpu/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/data_type.h"
#include "base/message_text.h"
#include "compiler/ir/window.h"
#include "compiler/operators/concat/concat.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/pairwise.h"
#include "compiler/operators/weighted.h"

namespace systole::edge_tpu {
namespace {

/// The reason why the tiles do not compute a node; nullopt if they do.
using Rule = std::optional<std::string> (*)(const ir::NodeView& node);

std::optional<std::string> no_rule(const ir::NodeView& /*node*/) {
    return std::nullopt;
}

std::optional<std::string> rule_of_weights(const ir::NodeView& node) {
    if (node.data_inputs() != 1) return "it multiplies several inputs";
    if (const auto role = node.computed_parameter()) return fmt::format("its {} are computed", *role);
    if (node.constant(0)->type != DataType::Int8) {
        return fmt::format("its weights are {}; they must have 8 bits", name_of(node.constant(0)->type));
    }
    if (operators::has_wide_sums(node.node())) return "its sums are wide";
    return std::nullopt;
}

std::optional<std::string> rule_of_windows(const ir::NodeView& node) {
    if (auto rule = rule_of_weights(node)) return rule;
    const ir::Window window = ir::window_of(node.node());
    if (window.dilation_y == window.dilation_x) return std::nullopt;
    return fmt::format("its dilation is {}x{}; it must be alike in both directions", window.dilation_y,
                       window.dilation_x);
}

std::optional<std::string> rule_of_convolution(const ir::NodeView& node) {
    if (node.node().integer("groups") != 1) return "its channels are in groups";
    return rule_of_windows(node);
}

std::optional<std::string> rule_of_pooling(const ir::NodeView& node) {
    if (ir::window_of(node.node()).is_dilated()) return "its windows are dilated";
    return std::nullopt;
}

std::optional<std::string> rule_of_pair(const ir::NodeView& node) {
    if (operators::pairs_activations(node)) return std::nullopt;
    return "it does not pair two tensors of one shape";
}

std::optional<std::string> rule_of_choice(const ir::NodeView& node) {
    if (auto rule = rule_of_pair(node)) return rule;
    if (operators::is_stored_alike(node.input(0), node.input(1)) &&
        operators::is_stored_alike(node.input(0), node.output())) {
        return std::nullopt;
    }
    return "its inputs and its result have several scales";
}

std::optional<std::string> rule_of_concat(const ir::NodeView& node) {
    if (!operators::is_along_channels(node)) return "it does not join channels";
    for (std::size_t i = 0; i < node.node().inputs.size(); ++i) {
        if (operators::is_stored_alike(node.input(i), node.output())) continue;
        return "its inputs and its result have several scales";
    }
    return std::nullopt;
}

struct OperatorRule {
    std::string_view op;
    Rule rule;
};

constexpr std::array<OperatorRule, 11> rules{{{"add", rule_of_pair},
                                              {"average_pool", rule_of_pooling},
                                              {"concat", rule_of_concat},
                                              {"convolution", rule_of_convolution},
                                              {"dense", rule_of_weights},
                                              {"depthwise_convolution", rule_of_windows},
                                              {"max_pool", rule_of_pooling},
                                              {"maximum", rule_of_choice},
                                              {"minimum", rule_of_choice},
                                              {"multiply", rule_of_pair},
                                              {"reshape", no_rule}}};

/// Numbers of 8 bits with one scale, in images or vectors; all of one type.
std::optional<std::string> rule_of_values(const ir::NodeView& node) {
    std::optional<DataType> type;
    const auto broken = [&](const ir::Value& value) -> std::optional<std::string> {
        if (value.constant) return fmt::format("{} is a constant", in_quotes(value.name));
        if (!is_integer(value.type) || bytes_of(value.type) != 1) {
            return fmt::format("{} is {}; it must have 8 bits", in_quotes(value.name), name_of(value.type));
        }
        if (!value.quantization || value.quantization->axis) {
            return fmt::format("{} has no single scale", in_quotes(value.name));
        }
        if (!ir::is_feature_map(value.shape)) {
            return fmt::format("{} is no image and no vector", in_quotes(value.name));
        }
        if (type && *type != value.type) {
            return fmt::format("it has numbers of {} and of {}", name_of(*type), name_of(value.type));
        }
        type = value.type;
        return std::nullopt;
    };
    for (std::size_t i = 0, count = node.data_inputs(); i < count; ++i) {
        if (auto rule = broken(node.input(i))) return rule;
    }
    return broken(node.output());
}

std::optional<std::string> broken_rule(const ir::Graph& graph, const ir::Node& node) {
    const auto found = std::ranges::find(rules, node.op->name(), &OperatorRule::op);
    if (found == rules.end())
        return fmt::format("{} is not among the operators of the tiles", node.op->name());
    const ir::NodeView view(graph, node);
    if (auto rule = rule_of_values(view)) return rule;
    return found->rule(view);
}

/// Reshapes whose result is read as another image than the input is.
std::optional<std::string> broken_rule_of_readers(const ir::Graph& graph, const ir::Node& node,
                                                  const std::vector<std::vector<ir::NodeId>>& readers) {
    if (!node.is("reshape")) return std::nullopt;
    const ir::NodeView view(graph, node);
    const ir::FeatureMap from = view.input_map();
    const ir::FeatureMap to = view.output_map();
    if (from == to || (from.is_vector() && to.is_vector())) return std::nullopt;
    for (const ir::NodeId reader : readers[node.output()]) {
        const ir::Node& next = graph.nodes[reader];
        if (next.is("dense") || next.is("reshape")) continue;
        return fmt::format("{} reads another image than was computed", in_quotes(next.name));
    }
    return std::nullopt;
}

}  // namespace

std::vector<Placement> place(const ir::Graph& graph) {
    const auto readers = ir::readers(graph);
    std::vector<Placement> placements;
    std::optional<std::string> first;  // node that is not mapped
    for (const ir::Node& node : graph.nodes) {
        std::optional<std::string> rule = broken_rule(graph, node);
        if (!rule) rule = broken_rule_of_readers(graph, node, readers);
        if (rule) {
            placements.push_back({.on_chip = false, .reason = *rule});
            if (!first) first = node.name;
        } else if (first) {
            placements.push_back(
                {.on_chip = false, .reason = fmt::format("it comes behind {}", in_quotes(*first))});
        } else {
            placements.push_back({.on_chip = true});
        }
    }
    return placements;
}

}  // namespace systole::edge_tpu
