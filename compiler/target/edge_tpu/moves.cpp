#include "compiler/target/edge_tpu/moves.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "compiler/ir/encoding.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/reduction.h"
#include "compiler/operators/resize/resize.h"

namespace systole::edge_tpu {
namespace {

using ir::NodeView;
using Integers = std::vector<std::int64_t>;

/// The axes of an image of a rank; those that it does not have are behind the last.
struct Axes {
    explicit Axes(std::size_t rank)
        : channels(rank - 1), columns(rank >= 3 ? rank - 2 : rank), lines(rank >= 4 ? rank - 3 : rank) {}

    std::size_t channels;
    std::size_t columns;
    std::size_t lines;
};

std::int64_t at(const Integers& numbers, std::size_t axis, std::int64_t absent) {
    return axis < numbers.size() ? numbers[axis] : absent;
}

Moves refused(std::string reason) {
    return {.all = {}, .reason = std::move(reason)};
}

/// All channels of the only input, with what lies outside as zeros.
PixelMove whole_image(const NodeView& node) {
    return {.channels = node.output_map().channels,
            .pixels = {},
            .outside = ir::encoding_of(node.input()).zero_point};
}

Moves one(PixelMove move) {
    return {.all = {move}};
}

Moves moves_of_zero_padding(const NodeView& node) {
    const Integers& padding = node.node().integers("padding");
    PixelMove move = whole_image(node);
    move.pixels.lines.pad = padding[0];
    move.pixels.columns.pad = padding[1];
    return one(move);
}

Moves moves_of_pad(const NodeView& node) {
    if (node.node().text("mode") != "constant") {
        return refused(fmt::format("it pads by {}", node.node().text("mode")));
    }
    const Integers& before = node.node().integers("before");
    const Integers& after = node.node().integers("after");
    const Axes axes(before.size());
    for (std::size_t axis = 0; axis < before.size(); ++axis) {
        if (axis == axes.lines || axis == axes.columns || (before[axis] == 0 && after[axis] == 0)) continue;
        return refused("it pads channels");
    }
    PixelMove move = whole_image(node);
    move.pixels.lines.pad = at(before, axes.lines, 0);
    move.pixels.columns.pad = at(before, axes.columns, 0);
    move.outside = ir::encoding_of(node.input()).stored(node.node().real("value"));
    return one(move);
}

Moves moves_of_slice(const NodeView& node) {
    PixelMove move = whole_image(node);
    move.first_source_channel = static_cast<std::uint32_t>(node.node().integer("first"));
    return one(move);
}

Moves moves_of_strided_slice(const NodeView& node) {
    const Integers& first = node.node().integers("first");
    const Integers& step = node.node().integers("step");
    if (std::ranges::any_of(step, [](std::int64_t each) { return each != 1; })) {
        return refused("its steps are not 1");
    }
    const Axes axes(first.size());
    PixelMove move = whole_image(node);
    move.first_source_channel = static_cast<std::uint32_t>(first[axes.channels]);
    move.pixels.lines.pad = -at(first, axes.lines, 0);
    move.pixels.columns.pad = -at(first, axes.columns, 0);
    return one(move);
}

/// The rule of one axis that gives these elements, of those that places of the nearest element follow.
std::optional<isa::MovedAxis> rule_for(const std::vector<std::size_t>& elements, std::uint64_t inputs) {
    const auto outputs = static_cast<std::int64_t>(elements.size());
    const auto extent = static_cast<std::int64_t>(inputs);
    // asymmetric; half a pixel behind borders; corners on corners, rounded down and to nearest
    const std::array<isa::MovedAxis, 4> rules{
        {{.stride = extent, .dilation = outputs, .pad = 0},
         {.stride = 2 * extent, .dilation = 2 * outputs, .pad = -extent},
         {.stride = extent - 1, .dilation = outputs - 1, .pad = 0},
         {.stride = 2 * (extent - 1), .dilation = 2 * (outputs - 1), .pad = 1 - outputs}}};
    for (isa::MovedAxis rule : rules) {
        const auto is_allowed = [](std::int64_t number) {
            return number >= 1 && number <= static_cast<std::int64_t>(largest_extent);
        };
        if (!is_allowed(rule.stride) || !is_allowed(rule.dilation)) continue;
        rule.repeats = true;
        bool fits = true;
        for (std::size_t i = 0; i < elements.size() && fits; ++i) {
            fits = rule.source_of(i, inputs) == std::uint64_t{elements[i]};
        }
        if (fits) return rule;
    }
    return std::nullopt;
}

Moves moves_of_resize(const NodeView& node) {
    const ir::Shape& shape = node.input().shape;
    const Axes axes(shape.rank());
    PixelMove move = whole_image(node);
    move.pixels.lines.repeats = move.pixels.columns.repeats = true;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        const std::vector<std::size_t> elements = operators::nearest_elements(node, axis);
        const bool is_same =
            elements.size() == shape[axis] &&
            std::ranges::all_of(
                elements, [&, i = std::size_t{0}](std::size_t element) mutable { return element == i++; });
        if (is_same) continue;
        if (axis != axes.lines && axis != axes.columns) return refused("it resizes channels or the batch");
        const auto rule = rule_for(elements, shape[axis]);
        if (!rule) return refused("its places are at no even distances in the input");
        (axis == axes.lines ? move.pixels.lines : move.pixels.columns) = *rule;
    }
    return one(move);
}

/// Both directions between pixels and channels: `block` x `block` images that are one pixel apart.
Moves moves_of_blocks(const NodeView& node, bool to_depth) {
    if (node.node().integers("axes") != Integers{1, 2, 3} || node.input().shape.rank() != 4) {
        return refused("its channels are not the last axis");
    }
    const std::int64_t block = node.node().integer("block");
    const std::uint32_t channels = to_depth ? node.input_map().channels : node.output_map().channels;
    if (!to_depth && node.node().integer("channel_first") != 0 && channels > 1) {
        return refused("blocks of a channel lie beside each other");
    }
    Moves moves;
    for (std::int64_t y = 0; y < block; ++y) {
        for (std::int64_t x = 0; x < block; ++x) {
            PixelMove move{.channels = channels, .keeps = true};
            const auto first = static_cast<std::uint32_t>(y * block + x) * channels;
            isa::MovedAxis& lines = move.pixels.lines;
            isa::MovedAxis& columns = move.pixels.columns;
            if (to_depth) {
                move.first_result_channel = first;
                lines = {.stride = block, .pad = -y};
                columns = {.stride = block, .pad = -x};
            } else {
                move.first_source_channel = first;
                lines = {.dilation = block, .pad = y};
                columns = {.dilation = block, .pad = x};
            }
            moves.all.push_back(move);
        }
    }
    return moves;
}

/// A concatenation of lines or columns.
Moves moves_of_concat(const NodeView& node) {
    if (node.data_inputs() != node.node().inputs.size()) return refused("one of its inputs is a constant");
    const std::size_t rank = node.input().shape.rank();
    const Axes axes(rank);
    const auto axis = static_cast<std::size_t>(node.node().integer("axis"));
    if (axis != axes.lines && axis != axes.columns) return refused("it joins no channels, lines or columns");
    Moves moves;
    std::int64_t first = 0;
    for (std::size_t i = 0; i < node.node().inputs.size(); ++i) {
        PixelMove move{.input = i, .channels = node.output_map().channels, .keeps = true};
        (axis == axes.lines ? move.pixels.lines : move.pixels.columns).pad = first;
        first += node.input(i).shape[axis];
        moves.all.push_back(move);
    }
    return moves;
}

struct MoveRule {
    std::string_view op;
    Moves (*moves)(const NodeView& node);
};

constexpr std::array<MoveRule, 8> move_rules{
    {{"concat", moves_of_concat},
     {"depth_to_space", [](const NodeView& node) { return moves_of_blocks(node, false); }},
     {"pad", moves_of_pad},
     {"resize", moves_of_resize},
     {"slice", moves_of_slice},
     {"space_to_depth", [](const NodeView& node) { return moves_of_blocks(node, true); }},
     {"strided_slice", moves_of_strided_slice},
     {"zero_padding", moves_of_zero_padding}}};

/// Elements keep their bits.
std::optional<std::string> reason_of_scales(const NodeView& node) {
    for (std::size_t i = 0; i < node.node().inputs.size(); ++i) {
        if (operators::is_stored_alike(node.input(i), node.output())) continue;
        return "its inputs and its result have several scales";
    }
    return std::nullopt;
}

}  // namespace

bool is_move(const ir::Node& node) {
    if (node.is("resize")) return node.text("mode") == "nearest";
    return std::ranges::find(move_rules, node.op->name(), &MoveRule::op) != move_rules.end();
}

Moves moves_of(const NodeView& node) {
    if (auto reason = reason_of_scales(node)) return refused(std::move(*reason));
    return std::ranges::find(move_rules, node.node().op->name(), &MoveRule::op)->moves(node);
}

SpreadImage spread_image(const NodeView& node) {
    const Integers& kernel = node.node().integers("kernel");
    const Integers& stride = node.node().integers("stride");
    const Integers& dilation = node.node().integers("dilation");
    const Integers& cut = node.node().integers("cut");
    const ir::FeatureMap result = node.output_map();
    // Line r of the result is the sum over j of line r + j * dilation, where line (kernel - 1) * dilation -
    // cut is the input's first one.
    const auto axis = [&](std::size_t i) {
        return isa::MovedAxis{.dilation = stride[i], .pad = (kernel[i] - 1) * dilation[i] - cut[i]};
    };
    const auto extent = [&](std::uint32_t outputs, std::size_t i) {
        return outputs + static_cast<std::uint32_t>((kernel[i] - 1) * dilation[i]);
    };
    return {.shape = {.height = extent(result.height, 0),
                      .width = extent(result.width, 1),
                      .channels = node.input_map().channels},
            .pixels = {.lines = axis(0), .columns = axis(1)}};
}

std::optional<isa::AxisOrder> axis_order(const NodeView& node) {
    const Integers& permutation = node.node().integers("permutation");
    const ir::Shape& shape = node.input().shape;
    if (shape.rank() > 4) return std::nullopt;
    // As if there were 4 axes, the first ones with an extent of 1.
    const std::size_t absent = 4 - shape.rank();
    std::array<std::size_t, 4> from{0, 1, 2, 3};
    for (std::size_t i = 0; i < permutation.size(); ++i) {
        from.at(absent + i) = absent + static_cast<std::size_t>(permutation[i]);
    }
    // The batch may change places with another axis of extent 1.
    const auto place_of_batch = static_cast<std::size_t>(std::ranges::find(from, 0U) - from.begin());
    if (from[0] != 0 && shape[from[0] - absent] != 1) return std::nullopt;
    std::swap(from[0], from.at(place_of_batch));
    return isa::order_of({from[1] - 1, from[2] - 1, from[3] - 1});
}

namespace {

using Extents = std::array<std::uint32_t, 3>;

ir::FeatureMap in_order(const Extents& extents, isa::AxisOrder order) {
    const std::array<std::size_t, 3> axes = isa::source_axes(order);
    return {.height = extents.at(axes[0]), .width = extents.at(axes[1]), .channels = extents.at(axes[2])};
}

/// The order in which an image has these extents and its elements are those of before, one after the other.
std::optional<isa::AxisOrder> reshaping_order(const Extents& from, const ir::FeatureMap& to) {
    for (std::uint8_t i = 0; i < 6; ++i) {
        const auto order = static_cast<isa::AxisOrder>(i);
        if (in_order(from, order) != to) continue;
        std::vector<std::size_t> axes;
        for (const std::size_t axis : isa::source_axes(order)) {
            if (from.at(axis) > 1) axes.push_back(axis);
        }
        if (std::ranges::is_sorted(axes)) return order;
    }
    return std::nullopt;
}

}  // namespace

std::optional<TurnedReduction> turned_reduction(const NodeView& node) {
    const ir::FeatureMap map = node.input_map();
    const Extents extents{map.height, map.width, map.channels};
    const Axes axes(node.input().shape.rank());
    std::array<bool, 3> is_reduced{};
    for (const std::size_t axis : operators::reduced_axes(node)) {
        if (axis == axes.lines) is_reduced[0] = true;
        if (axis == axes.columns) is_reduced[1] = true;
        if (axis == axes.channels) is_reduced[2] = true;
    }
    if (!is_reduced[2]) return std::nullopt;
    // Channels become columns; what stays, or has one element, becomes channels.
    const bool keeps_columns = !is_reduced[1] || map.width == 1;
    if (!keeps_columns && is_reduced[0] && map.height > 1) return std::nullopt;
    TurnedReduction made;
    made.before = keeps_columns ? isa::AxisOrder::LinesChannelsColumns : isa::AxisOrder::ColumnsChannelsLines;
    made.turned = in_order(extents, made.before);
    const bool reduces_lines = is_reduced.at(keeps_columns ? 0 : 1);
    made.pooled = {
        .height = reduces_lines ? 1 : made.turned.height, .width = 1, .channels = made.turned.channels};
    const auto after =
        reshaping_order({made.pooled.height, made.pooled.width, made.pooled.channels}, node.output_map());
    if (!after) return std::nullopt;
    made.after = *after;
    return made;
}

std::optional<isa::MovedPixels> repetition(const ir::FeatureMap& from, const ir::FeatureMap& to) {
    const auto axis = [](std::uint32_t source, std::uint32_t result) -> std::optional<isa::MovedAxis> {
        isa::MovedAxis moved{.repeats = true};
        if (source == result) return moved;
        if (source != 1 || result > largest_extent) return std::nullopt;
        moved.dilation = result;
        return moved;
    };
    const auto lines = axis(from.height, to.height);
    const auto columns = axis(from.width, to.width);
    if (from.channels != to.channels || !lines || !columns) return std::nullopt;
    return isa::MovedPixels{.lines = *lines, .columns = *columns};
}

}  // namespace systole::edge_tpu
