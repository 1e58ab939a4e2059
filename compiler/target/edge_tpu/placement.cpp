#include "compiler/target/edge_tpu/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/data_type.h"
#include "base/limits.h"
#include "base/message_text.h"
#include "compiler/ir/window.h"
#include "compiler/operators/axis_lines.h"
#include "compiler/operators/concat/concat.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/pairwise.h"
#include "compiler/operators/reduction.h"
#include "compiler/operators/weighted.h"
#include "compiler/target/edge_tpu/moves.h"
#include "compiler/target/edge_tpu/parameters.h"
#include "hw/isa/instructions/tile_vector.h"
#include "hw/isa/rows.h"

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

/// Element by element of two operands.
std::optional<std::string> rule_of_pair(const ir::NodeView& node) {
    const ir::FeatureMap result = node.output_map();
    for (std::size_t i = 0; i < node.node().inputs.size(); ++i) {
        // A constant is repeated before it is sent.
        if (node.input(i).constant) continue;
        if (repetition(node.input_map(i), result)) continue;
        return "its inputs have several numbers of channels, or one is no part of the other's image";
    }
    return std::nullopt;
}

std::optional<std::string> rule_of_slopes(const ir::NodeView& node) {
    if (!node.input(1).constant) return "its slopes are computed";
    return rule_of_pair(node);
}

std::optional<std::string> rule_of_choice(const ir::NodeView& node) {
    if (auto rule = rule_of_pair(node)) return rule;
    if (operators::is_stored_alike(node.input(0), node.input(1)) &&
        operators::is_stored_alike(node.input(0), node.output())) {
        return std::nullopt;
    }
    return "its inputs and its result have several scales";
}

/// Operators that only put elements elsewhere.
std::optional<std::string> rule_of_move(const ir::NodeView& node) {
    return moves_of(node).reason;
}

std::optional<std::string> rule_of_concat(const ir::NodeView& node) {
    if (!operators::is_along_channels(node)) return rule_of_move(node);
    for (std::size_t i = 0; i < node.node().inputs.size(); ++i) {
        if (operators::is_stored_alike(node.input(i), node.output())) continue;
        return "its inputs and its result have several scales";
    }
    return std::nullopt;
}

std::optional<std::string> rule_of_transposed(const ir::NodeView& node) {
    if (node.node().integer("groups") != 1) return "its channels are in groups";
    return rule_of_weights(node);
}

/// Sums, means and the largest, over all lines, all columns or all channels.
std::optional<std::string> rule_of_reduction(const ir::NodeView& node) {
    const std::size_t rank = node.input().shape.rank();
    const std::vector<std::size_t> axes = operators::reduced_axes(node);
    if (operators::reduced_elements(node) > largest_pooling_window) {
        return fmt::format("it reduces {} elements; the most are {}", operators::reduced_elements(node),
                           largest_pooling_window);
    }
    std::uint64_t height = node.input_map().height;
    std::uint64_t width = node.input_map().width;
    for (const std::size_t axis : axes) {
        if (axis == 0) return "it reduces the batch";
        if (axis + 1 < rank) (axis + 2 == rank ? width : height) = 1;
    }
    if (axes.back() + 1 == rank) {
        if (!turned_reduction(node)) return "it reduces lines, columns and channels together";
        const std::uint64_t channels = node.input_map().channels;  // they become columns
        if (channels > largest_extent) {
            return fmt::format("it reduces {} channels; the most are {}", channels, largest_extent);
        }
        // Published: the chip's own compiler maps a mean over channels where they are a multiple of 4.
        constexpr std::uint64_t group = 4;
        if (node.node().is("reduce_mean") && channels % group != 0) {
            return fmt::format("it is a mean of {} channels; they must be a multiple of {}", channels, group);
        }
        return std::nullopt;
    }
    const ir::FeatureMap result = node.output_map();
    if (result.height != height || result.width != width || result.channels != node.input_map().channels) {
        return "its result is another image than what is left of its input";
    }
    return std::nullopt;
}

/// The largest or the least.
std::optional<std::string> rule_of_largest(const ir::NodeView& node) {
    if (!operators::is_stored_alike(node.input(), node.output())) {
        return "its input and its result have several scales";
    }
    return rule_of_reduction(node);
}

std::optional<std::string> rule_of_softmax(const ir::NodeView& node) {
    constexpr std::uint64_t most = 16000;
    const ir::FeatureMap map = node.output_map();
    if (!map.is_vector()) return "it is over an image; it must be over one vector";
    if (map.channels <= most) return std::nullopt;
    return fmt::format("its vector has {} elements; the most are {}", map.channels, most);
}

std::optional<std::string> rule_of_resize(const ir::NodeView& node) {
    const std::string& mode = node.node().text("mode");
    if (mode == "nearest") return rule_of_move(node);
    if (mode != "linear") return fmt::format("it resizes by {} interpolation", mode);
    if (!operators::is_stored_alike(node.input(), node.output())) {
        return "its input and its result have several scales";
    }
    const std::string& coordinates = node.node().text("coordinates");
    if (coordinates == "asymmetric" || coordinates == "half_pixel" || coordinates == "align_corners") {
        return std::nullopt;
    }
    return fmt::format("its coordinates are {}", coordinates);
}

std::optional<std::string> rule_of_norm(const ir::NodeView& node) {
    constexpr std::uint64_t most = 33000;  // the sum of their squares has 31 bits
    if (operators::axis_of_attribute(node) + 1 != node.input().shape.rank()) return "it is not over channels";
    const std::uint64_t channels = node.input_map().channels;
    if (channels <= most) return std::nullopt;
    return fmt::format("it is over {} channels; the most are {}", channels, most);
}

/// Operators that the chip's own compiler maps, and this one does not.
constexpr std::array<std::string_view, 1> mapped_by_the_chips_compiler{"rsqrt"};

struct OperatorRule {
    std::string_view op;
    Rule rule;
    bool takes_constants = false;  ///< operands may be constants
};

constexpr std::array<OperatorRule, 30> rules{{{"add", rule_of_pair, true},
                                              {"average_pool", rule_of_pooling},
                                              {"concat", rule_of_concat},
                                              {"convolution", rule_of_convolution},
                                              {"dense", rule_of_weights},
                                              {"depth_to_space", rule_of_move},
                                              {"depthwise_convolution", rule_of_windows},
                                              {"integer_softmax", rule_of_softmax},
                                              {"lookup", no_rule},
                                              {"max_pool", rule_of_pooling},
                                              {"maximum", rule_of_choice, true},
                                              {"minimum", rule_of_choice, true},
                                              {"multiply", rule_of_pair, true},
                                              {"normalize", rule_of_norm},
                                              {"pad", rule_of_move},
                                              {"prelu", rule_of_slopes, true},
                                              {"reduce_max", rule_of_largest},
                                              {"reduce_mean", rule_of_reduction},
                                              {"reduce_min", rule_of_largest},
                                              {"reduce_sum", rule_of_reduction},
                                              {"reshape", no_rule},
                                              {"resize", rule_of_resize},
                                              {"slice", rule_of_move},
                                              {"space_to_depth", rule_of_move},
                                              {"squared_difference", rule_of_pair, true},
                                              {"strided_slice", rule_of_move},
                                              {"subtract", rule_of_pair, true},
                                              {"transpose", no_rule},
                                              {"transposed_convolution", rule_of_transposed},
                                              {"zero_padding", rule_of_move}}};

/// Numbers of 8 bits with one scale, in images or vectors; all of one type.
std::optional<std::string> rule_of_values(const ir::NodeView& node, bool takes_constants) {
    std::optional<DataType> type;
    const auto broken = [&](const ir::Value& value) -> std::optional<std::string> {
        if (value.constant && !takes_constants) {
            return fmt::format("{} is a constant", in_quotes(value.name));
        }
        if (!is_integer(value.type) || bytes_of(value.type) != 1) {
            return fmt::format("{} is {}; it must have 8 bits", in_quotes(value.name), name_of(value.type));
        }
        if (!value.quantization || value.quantization->axis) {
            return fmt::format("{} has no single scale", in_quotes(value.name));
        }
        if (!value.constant && !ir::is_feature_map(value.shape)) {
            return fmt::format("{} is no image and no vector", in_quotes(value.name));
        }
        if (!value.constant) {
            const ir::FeatureMap map = ir::feature_map(value.shape);
            if (map.height > largest_extent || map.width > largest_extent) {
                return fmt::format("{} has {} lines and {} columns; the most are {}", in_quotes(value.name),
                                   map.height, map.width, largest_extent);
            }
        }
        // A table's entries may have the other sign.
        if (type && *type != value.type && !node.node().is("lookup")) {
            return fmt::format("it has numbers of {} and of {}", name_of(*type), name_of(value.type));
        }
        type = value.type;
        return std::nullopt;
    };
    const std::size_t count = takes_constants ? node.node().inputs.size() : node.data_inputs();
    for (std::size_t i = 0; i < count; ++i) {
        if (auto rule = broken(node.input(i))) return rule;
    }
    return broken(node.output());
}

std::optional<std::string> broken_rule(const ir::Graph& graph, const ir::Node& node) {
    if (node.is("softmax")) return "its shares are real numbers; tiles compute softmax of 8 bits to 8 bits";
    const auto found = std::ranges::find(rules, node.op->name(), &OperatorRule::op);
    if (found == rules.end()) {
        const bool is_mapped_elsewhere = std::ranges::find(mapped_by_the_chips_compiler, node.op->name()) !=
                                         mapped_by_the_chips_compiler.end();
        return fmt::format("{} is not among the operators of the tiles{}", node.op->name(),
                           is_mapped_elsewhere ? ", though the chip's own compiler maps it" : "");
    }
    const ir::NodeView view(graph, node);
    if (auto rule = rule_of_values(view, found->takes_constants)) return rule;
    return found->rule(view);
}

/// Reshapes whose result is read as another image than the input is.
std::optional<std::string> broken_rule_of_readers(const ir::Graph& graph, const ir::Node& node,
                                                  const std::vector<std::vector<ir::NodeId>>& readers) {
    if (!node.is("reshape")) return std::nullopt;
    const ir::NodeView view(graph, node);
    const ir::FeatureMap from = view.input_map();
    const ir::FeatureMap to = view.output_map();
    if (from == to || to.is_vector()) return std::nullopt;
    for (const ir::NodeId reader : readers[node.output()]) {
        const ir::Node& next = graph.nodes[reader];
        if (next.is("dense") || next.is("reshape")) continue;
        return fmt::format("{} reads another image than was computed", in_quotes(next.name));
    }
    return std::nullopt;
}

std::uint64_t table_units_of(const ir::Node& node) {
    using enum isa::TileOperation;
    if (node.is("lookup") || node.is("reduce_min")) return isa::TileVector{.operation = Lookup}.table_units();
    return node.is("integer_softmax") ? isa::TileVector{.operation = Softmax}.table_units() : 0;
}

}  // namespace

bool has_one_number_by_channel(const ir::Value& constant, const ir::FeatureMap& image) {
    const ir::Shape& shape = constant.shape;
    if (shape.elements() == 1) return true;
    return shape.elements() == image.channels && shape[shape.rank() - 1] == image.channels;
}

std::string_view place_of(const ir::Operator& op) {
    const auto found = std::ranges::find(rules, op.name(), &OperatorRule::op);
    if (found == rules.end()) return "host";
    return found->rule == no_rule ? "chip" : "chip, some nodes";
}

std::vector<Placement> place(const ir::Graph& graph, const machine::MachineConfig& machine,
                             const Refusals& refused) {
    const auto readers = ir::readers(graph);
    // Tables lie in the wide memory of each tile.
    const std::uint64_t units_of_tile =
        cache_bytes(machine) / (std::uint64_t{isa::tile_unit_bytes} * machine.tile_array.tiles());
    std::uint64_t table_units = 0;
    std::vector<Placement> placements;
    std::optional<std::string> first;  // node that is not mapped
    for (const ir::Node& node : graph.nodes) {
        std::optional<std::string> rule = broken_rule(graph, node);
        if (!rule) rule = broken_rule_of_readers(graph, node, readers);
        if (!rule) {
            table_units += table_units_of(node);
            if (table_units > units_of_tile) rule = "its table does not fit a tile's wide memory";
        }
        const auto id = static_cast<ir::NodeId>(placements.size());
        if (const auto known = refused.find(id); !rule && known != refused.end()) rule = known->second;
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
