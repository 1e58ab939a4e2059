#include "compiler/target/edge_tpu/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/arithmetic.h"
#include "base/message_text.h"
#include "compiler/ir/border_values.h"
#include "compiler/ir/encoding.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/concat/concat.h"
#include "compiler/target/edge_tpu/instructions.h"
#include "compiler/target/edge_tpu/moves.h"
#include "hw/isa/interpolation.h"
#include "hw/isa/tile_layout.h"
#include "hw/timing/tiles.h"

namespace systole::edge_tpu {
namespace {

using ir::Node;
using ir::NodeId;
using ir::ValueId;

/// The margins that windows over an image need on one side and the other, over all tiles of one direction.
struct Margins {
    std::int32_t before = 0;
    std::int32_t behind = 0;
    bool outside = false;  ///< some pixels lie outside the image, perhaps in what is cut off from a patch
};

/// One direction of an area under windows, relative to patches of `own` pixels. `end`: where the last window
/// of the image ends.
Margins margins_of(std::int64_t first, std::uint64_t count, std::uint64_t own, std::uint64_t end,
                   std::uint64_t inputs) {
    const std::int64_t behind = first + static_cast<std::int64_t>(count) - static_cast<std::int64_t>(own);
    return {.before = static_cast<std::int32_t>(std::max<std::int64_t>(-first, 0)),
            .behind = static_cast<std::int32_t>(std::max<std::int64_t>(behind, 0)),
            .outside = first < 0 || end > inputs};
}

/// Where the last window ends in the padded image, less the padding in front.
std::uint64_t end_of_windows(std::uint64_t outputs, std::uint64_t stride, std::uint64_t kernel,
                             std::uint64_t dilation, std::uint64_t pad) {
    const std::uint64_t end = (outputs - 1) * stride + (kernel - 1) * dilation + 1;
    return end > pad ? end - pad : 0;
}

class Builder {
public:
    Builder(const ir::Graph& graph, const machine::MachineConfig& machine, const Refusals& refused)
        : graph_(graph),
          grid_(timing::grid_of(machine)),
          narrow_bytes_(machine.narrow_memory.bytes),
          is_for_chip_alone_(machine.program.placement == machine::TilePlacement::ChipAlone),
          border_(graph),
          readers_(ir::readers(graph)),
          producers_(ir::producers(graph)),
          parts_(graph.values.size()) {
        network_.graph = &graph;
        network_.grid = grid_;
        network_.placements = place(graph, machine, refused);
        std::vector<bool> on_chip;
        for (const Placement& placement : network_.placements) on_chip.push_back(placement.on_chip);
        network_.host = operators::find_host_segments(graph, std::move(on_chip));
        // Nothing needs a segment whose results nothing reads.
        std::vector<operators::HostNodes> segments = std::move(network_.host.segments);
        std::vector<operators::SegmentGraph> cut = operators::segment_graphs(graph, segments);
        network_.host.segments.clear();
        for (std::size_t i = 0; i < segments.size(); ++i) {
            if (cut[i].outputs.empty()) continue;
            network_.host.segments.push_back(std::move(segments[i]));
            network_.segments.push_back(std::move(cut[i]));
        }
    }

    Network build() {
        if (std::ranges::none_of(network_.placements, &Placement::on_chip)) {
            throw ModelError(
                fmt::format("{}: the chip computes none of its layers; the first, {}, is not mapped: {}",
                            graph_.name, graph_.nodes.empty() ? "none" : in_quotes(graph_.nodes.front().name),
                            graph_.nodes.empty() ? "there is no layer" : network_.placements.front().reason));
        }
        if (is_for_chip_alone_) require_all_on_chip();
        place_joined();
        part_from_operands();
        read_inputs();
        for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
            if (network_.host.on_chip[id]) add_node(id);
        }
        write_results();
        for (const Step& step : network_.steps) reach(step);
        return std::move(network_);
    }

private:
    bool on_chip(NodeId id) const { return network_.host.on_chip[id]; }
    /// Whether a node is a concatenation whose inputs may be computed in its result.
    bool joins_channels(NodeId id) const {
        const Node& node = graph_.nodes[id];
        return on_chip(id) && node.is("concat") && operators::is_along_channels({graph_, node});
    }

    /// The value whose elements a value has in the same order: the one before its reshapes.
    ValueId root_of(ValueId value) const {
        for (;;) {
            const auto producer = producers_[value];
            if (!producer || !on_chip(*producer) || !graph_.nodes[*producer].is("reshape")) return value;
            value = graph_.nodes[*producer].inputs.front();
        }
    }

    Tensor tensor_for(ValueId value, Form form) const {
        const ir::Value& stored = graph_.values[value];
        return {.name = stored.name,
                .form = form,
                .shape = ir::feature_map(stored.shape),
                .zero_point = ir::encoding_of(stored).zero_point};
    }

    Part whole(TensorId tensor) const {
        return {.tensor = tensor, .first_channel = 0, .shape = network_.tensors[tensor].shape};
    }

    TensorId add_tensor(Tensor tensor) {
        network_.tensors.push_back(std::move(tensor));
        return static_cast<TensorId>(network_.tensors.size() - 1);
    }

    void require_all_on_chip() const {
        for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
            if (network_.placements[id].on_chip) continue;
            throw ModelError(
                fmt::format("{}: layer {} is not mapped: {}; with program.placement {} it must be",
                            graph_.name, in_quotes(graph_.nodes[id].name), network_.placements[id].reason,
                            name_of(machine::TilePlacement::ChipAlone)));
        }
    }

    /// Inputs of a concatenation are computed where they lie in its result, from the last one backwards.
    void place_joined() {
        for (auto id = static_cast<NodeId>(graph_.nodes.size()); id-- > 0;) {
            const Node& node = graph_.nodes[id];
            if (!joins_channels(id)) continue;
            if (!parts_[node.output()])
                parts_[node.output()] = whole(add_tensor(tensor_for(node.output(), Form::Image)));
            Part part = *parts_[node.output()];
            std::uint32_t channel = part.first_channel;
            for (const ValueId input : node.inputs) {
                const ir::FeatureMap shape = ir::feature_map(graph_.values[input].shape);
                if (can_lie_in(input)) {
                    parts_[input] = {.tensor = part.tensor, .first_channel = channel, .shape = shape};
                }
                channel += shape.channels;
            }
        }
    }

    /// An instruction may not write a tensor that it reads: results whose operands lie in the same one get a
    /// tensor of their own, and are copied.
    void part_from_operands() {
        for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
            const Node& node = graph_.nodes[id];
            if (!on_chip(id) || joins_channels(id) || !parts_[node.output()]) continue;
            const bool reads_it = std::ranges::any_of(node.inputs, [&](ValueId input) {
                if (graph_.values[input].constant) return false;
                const std::optional<Part>& part = parts_[root_of(input)];
                return part && part->tensor == parts_[node.output()]->tensor;
            });
            if (reads_it) parts_[node.output()].reset();
        }
    }

    /// Whether a value may be computed as a part of another tensor: an image that a step writes.
    bool can_lie_in(ValueId value) const {
        if (parts_[value] || border_.is_input(value)) return false;
        const auto producer = producers_[value];
        if (!producer || !on_chip(*producer)) return false;
        const Node& node = graph_.nodes[*producer];
        return !node.is("dense") && !node.is("reshape") && !joins_channels(*producer) &&
               !border_.is_output(value);
    }

    void read_inputs() {
        for (const ValueId input : graph_.inputs) {
            const bool is_read = std::ranges::any_of(readers_[input], [&](NodeId id) { return on_chip(id); });
            if (!is_read) continue;
            parts_[input] = whole(add_tensor(tensor_for(input, Form::Image)));
            network_.reads.push_back({.value = input, .part = *parts_[input]});
        }
    }

    std::uint32_t layer_of(const Node& node) {
        const std::uint64_t macs = node.op->macs({graph_, node});
        network_.layers.push_back({.name = node.name, .kind = std::string(node.op->name()), .macs = macs});
        return static_cast<std::uint32_t>(network_.layers.size() - 1);
    }

    void add_step(const Step& step) {
        const auto number = static_cast<std::uint32_t>(network_.steps.size());
        const auto read = [&](const Part& part) { network_.tensors[part.tensor].last = number; };
        read(step.source);
        if (step.other) read(*step.other);
        Tensor& result = network_.tensors[step.result.tensor];
        if (!written_.contains(step.result.tensor)) {
            result.first = number;
            written_.insert(step.result.tensor);
        }
        result.last = std::max(result.last, number);
        network_.steps.push_back(step);
    }

    /// The part of a value, as an image or spread over lanes, as it was computed.
    Part computed(ValueId value) const { return parts_[root_of(value)].value(); }

    /// A value as a vector in every tile.
    Part in_every_tile(ValueId value, NodeId node, std::uint32_t layer) {
        const ValueId root = root_of(value);
        const Part source = parts_[root].value();
        if (network_.tensors[source.tensor].form == Form::EveryTile) return source;
        if (const auto found = collected_.find(root); found != collected_.end()) return whole(found->second);
        Tensor tensor = tensor_for(root, Form::EveryTile);
        tensor.shape = {
            .height = 1, .width = 1, .channels = static_cast<std::uint32_t>(source.shape.elements())};
        const TensorId id = add_tensor(std::move(tensor));
        add_step(
            {.kind = StepKind::Collect, .node = node, .layer = layer, .source = source, .result = whole(id)});
        collected_.emplace(root, id);
        return whole(id);
    }

    /// A value as an image: a vector over lanes, or one that was computed as another image, is first
    /// collected; every tile has it then, and the first works on it.
    Part as_image(ValueId value, NodeId node, std::uint32_t layer) {
        const Part part = computed(value);
        const bool is_vector = ir::feature_map(graph_.values[value].shape).is_vector();
        const bool becomes_vector = is_vector && !part.shape.is_vector();
        return network_.tensors[part.tensor].form == Form::OverLanes || becomes_vector
                   ? in_every_tile(value, node, layer)
                   : part;
    }

    Part result_of(const Node& node, Form form) {
        const ValueId value = node.output();
        if (!parts_[value]) parts_[value] = whole(add_tensor(tensor_for(value, form)));
        return *parts_[value];
    }

    void add_node(NodeId id) {
        const Node& node = graph_.nodes[id];
        if (node.is("reshape")) return;
        const std::uint32_t layer = layer_of(node);
        if (joins_channels(id)) return copy_inputs(id, layer);
        if (is_move(node)) return add_moves(id, layer);
        if (node.is("dense")) {
            const Part source = in_every_tile(node.inputs.front(), id, layer);
            return add_step({.kind = StepKind::Multiply,
                             .node = id,
                             .layer = layer,
                             .product = isa::TileProduct::Dense,
                             .source = source,
                             .result = result_of(node, Form::OverLanes)});
        }
        if (node.is("prelu")) return add_prelu(id, layer);
        if (node.is("transpose")) return add_transposed(id, layer);
        Step step{.node = id, .layer = layer, .source = {}, .result = {}};
        if (const auto pair = operation_of_pair(node)) {
            const ir::FeatureMap shape = ir::feature_map(graph_.values[node.output()].shape);
            step.kind = StepKind::Vector;
            step.operation = *pair;
            step.other = operand(step, 1, shape);
            step.source = operand(step, 0, shape);
            step.result = result_of(node, Form::Image);
            return add_step(step);
        }
        step.source = as_image(node.inputs.front(), id, layer);
        if (node.is("transposed_convolution")) {
            step.source = spread(id, layer, step.source);
            step.kind = StepKind::Multiply;
            step.product = isa::TileProduct::Convolve;
            step.window = window_over_spread(node);
        } else if (node.is("convolution") || node.is("depthwise_convolution")) {
            step.kind = StepKind::Multiply;
            step.product = node.is("convolution") ? isa::TileProduct::Convolve : isa::TileProduct::Depthwise;
            step.window = ir::window_of(node);
        } else {
            step.kind = StepKind::Vector;
            step.operation = operation_of(node);
            if (isa::TileVector{.operation = step.operation}.is_pooling()) {
                if (is_reduction(node)) {
                    if (const auto turned = turned_reduction({graph_, node})) {
                        return add_turned_reduction(step, *turned);
                    }
                }
                step.window = pooling_window(node);
            }
            // The least is the largest of the numbers in reversed order.
            if (node.is("reduce_min")) step.source = reversed(step, step.source);
        }
        step.result = node.is("reduce_min") ? whole(add_tensor(tensor_for(node.output(), Form::Image)))
                                            : result_of(node, Form::Image);
        if (step.reads_around() && network_.tensors[step.source.tensor].form != Form::Image &&
            margins(step).any()) {
            // A vector has no margins: the first tile copies it to where it has some.
            Tensor tensor = tensor_for(root_of(node.inputs.front()), Form::Image);
            tensor.shape = step.source.shape;
            const Part image = whole(add_tensor(std::move(tensor)));
            copy(id, layer, step.source, image);
            step.source = image;
        }
        if (step.kind == StepKind::Vector && step.window) {
            pool(step);
            if (node.is("reduce_min")) reverse(step, step.result, result_of(node, Form::Image));
            return;
        }
        add_step(step);
    }

    static bool is_reduction(const Node& node) { return !node.is("max_pool") && !node.is("average_pool"); }

    void permute(const Step& of, const Part& from, isa::AxisOrder order, const Part& to) {
        add_step({.kind = StepKind::Permute,
                  .node = of.node,
                  .layer = of.layer,
                  .source = from,
                  .result = to,
                  .order = order});
    }

    /// Channels become columns, and are pooled as these.
    void add_turned_reduction(Step step, const TurnedReduction& reduction) {
        const Node& node = graph_.nodes[step.node];
        if (network_.tensors[step.source.tensor].form != Form::Image) {
            step.source.shape = ir::feature_map(graph_.values[node.inputs.front()].shape);
        }
        const auto tensor_of = [&](ValueId value, const ir::FeatureMap& shape) {
            Tensor tensor = tensor_for(value, Form::Image);
            tensor.shape = shape;
            return whole(add_tensor(std::move(tensor)));
        };
        const Part turned = tensor_of(node.inputs.front(), reduction.turned);
        permute(step, step.source, reduction.before, turned);
        const bool is_least = node.is("reduce_min");
        step.source = is_least ? reversed(step, turned) : turned;
        const std::uint32_t height = reduction.turned.height / reduction.pooled.height;
        step.window = ir::Window{.kernel_height = height,
                                 .kernel_width = reduction.turned.width,
                                 .stride_y = height,
                                 .stride_x = reduction.turned.width};
        const bool turns = reduction.after != isa::AxisOrder::LinesColumnsChannels;
        const Part pooled = turns ? tensor_of(node.output(), reduction.pooled) : result_of(node, Form::Image);
        step.result = is_least ? tensor_of(node.output(), reduction.pooled) : pooled;
        pool(step);
        if (is_least) reverse(step, step.result, pooled);
        if (turns) permute(step, pooled, reduction.after, result_of(node, Form::Image));
    }

    void reverse(const Step& of, const Part& from, const Part& to) {
        add_step({.kind = StepKind::Vector,
                  .node = of.node,
                  .layer = of.layer,
                  .operation = isa::TileOperation::Lookup,
                  .piece = Piece::Reversed,
                  .source = from,
                  .result = to});
    }

    Part reversed(const Step& of, const Part& from) {
        Tensor tensor = network_.tensors[from.tensor];
        tensor.form = Form::Image;
        tensor.shape = from.shape;
        const Part result = whole(add_tensor(std::move(tensor)));
        reverse(of, from, result);
        return result;
    }

    /// An operand of an element-wise node as an image of the result's extents.
    Part operand(const Step& of, std::size_t index, const ir::FeatureMap& shape) {
        const Node& node = graph_.nodes[of.node];
        const auto image = [&](std::size_t input) {
            return as_image(node.inputs.at(input), of.node, of.layer);
        };
        const ValueId value = node.inputs.at(index);
        if (!graph_.values[value].constant) return repeated(of, value, image(index), shape);
        Tensor tensor{.name = graph_.values[value].name, .form = Form::Image, .shape = shape};
        tensor.zero_point = ir::encoding_of(graph_.values[value]).zero_point;
        const Part result = whole(add_tensor(std::move(tensor)));
        if (!has_one_number_by_channel(graph_.values[value], shape)) {
            add_step({.kind = StepKind::Read,
                      .node = of.node,
                      .layer = of.layer,
                      .piece = Piece::Constant,
                      .operand = index,
                      .source = result,
                      .result = result});
            return result;
        }
        // A product with weights of 0 leaves its biases at each pixel of the other operand.
        add_step({.kind = StepKind::Multiply,
                  .node = of.node,
                  .layer = of.layer,
                  .product = isa::TileProduct::Depthwise,
                  .piece = Piece::Constant,
                  .operand = index,
                  .window = ir::Window{},
                  .source = image(1 - index),
                  .result = result});
        return result;
    }

    /// Both sides of 0 one after the other, since no instruction chooses between two multipliers.
    void add_prelu(NodeId id, std::uint32_t layer) {
        const Node& node = graph_.nodes[id];
        const ir::FeatureMap shape = ir::feature_map(graph_.values[node.output()].shape);
        const Step step{.node = id, .layer = layer, .source = {}, .result = {}};
        const Part slopes = operand(step, 1, shape);
        const Part x = operand(step, 0, shape);
        const auto add = [&](isa::TileOperation operation, Piece piece, const Part& source,
                             const std::optional<Part>& other, const Part& result) {
            add_step({.kind = StepKind::Vector,
                      .node = id,
                      .layer = layer,
                      .operation = operation,
                      .piece = piece,
                      .source = source,
                      .other = other,
                      .result = result});
        };
        const auto like = [&](ValueId value) { return whole(add_tensor(tensor_for(value, Form::Image))); };
        const Part negative = like(node.inputs.front());
        const Part below = like(node.output());
        const Part above = like(node.output());
        add(isa::TileOperation::Requantize, Piece::AtMostZero, x, std::nullopt, negative);
        add(isa::TileOperation::Multiply, Piece::Below, negative, slopes, below);
        add(isa::TileOperation::Requantize, Piece::Above, x, std::nullopt, above);
        add(isa::TileOperation::Add, Piece::Together, above, below, result_of(node, Form::Image));
    }

    /// A node that only puts elements elsewhere.
    void add_moves(NodeId id, std::uint32_t layer) {
        const Node& node = graph_.nodes[id];
        const Part result = result_of(node, Form::Image);
        for (const PixelMove& move : moves_of({graph_, node}).all) {
            Step step{.kind = StepKind::Move,
                      .node = id,
                      .layer = layer,
                      .source = as_image(node.inputs.at(move.input), id, layer),
                      .result = result,
                      .moved = move.pixels,
                      .keeps = move.keeps,
                      .outside = move.outside};
            step.source.first_channel += move.first_source_channel;
            step.source.shape.channels = move.channels;
            step.result.first_channel += move.first_result_channel;
            step.result.shape.channels = move.channels;
            if (network_.tensors[step.source.tensor].form != Form::Image) {
                step.source.shape = {.height = 1, .width = 1, .channels = move.channels};
            }
            add_step(step);
        }
    }

    void add_transposed(NodeId id, std::uint32_t layer) {
        const Node& node = graph_.nodes[id];
        const Part result = result_of(node, Form::Image);
        Step step{.kind = StepKind::Permute,
                  .node = id,
                  .layer = layer,
                  .source = as_image(node.inputs.front(), id, layer),
                  .result = result,
                  .order = axis_order({graph_, node}).value()};
        if (network_.tensors[step.source.tensor].form != Form::Image) {
            step.source.shape = ir::feature_map(graph_.values[node.inputs.front()].shape);
        }
        add_step(step);
    }

    /// The input of a transposed convolution, with pixels apart.
    Part spread(NodeId id, std::uint32_t layer, const Part& source) {
        const Node& node = graph_.nodes[id];
        const SpreadImage image = spread_image({graph_, node});
        Tensor tensor = tensor_for(root_of(node.inputs.front()), Form::Image);
        tensor.shape = image.shape;
        const std::int32_t zero_point = tensor.zero_point;
        const Part result = whole(add_tensor(std::move(tensor)));
        add_step({.kind = StepKind::Move,
                  .node = id,
                  .layer = layer,
                  .source = source,
                  .result = result,
                  .moved = image.pixels,
                  .outside = zero_point});
        return result;
    }

    static ir::Window window_over_spread(const Node& node) {
        const std::vector<std::int64_t>& kernel = node.integers("kernel");
        const std::vector<std::int64_t>& dilation = node.integers("dilation");
        return {.kernel_height = static_cast<std::uint32_t>(kernel[0]),
                .kernel_width = static_cast<std::uint32_t>(kernel[1]),
                .dilation_y = static_cast<std::uint32_t>(dilation[0]),
                .dilation_x = static_cast<std::uint32_t>(dilation[1])};
    }

    /// An operand with the lines and columns of the result.
    Part repeated(const Step& of, ValueId value, const Part& operand, const ir::FeatureMap& shape) {
        if (operand.shape.elements() == shape.elements()) return operand;
        const auto pixels = repetition(ir::feature_map(graph_.values[value].shape), shape);
        Tensor tensor = tensor_for(value, Form::Image);
        tensor.shape = shape;
        const Part result = whole(add_tensor(std::move(tensor)));
        add_step({.kind = StepKind::Move,
                  .node = of.node,
                  .layer = of.layer,
                  .source = operand,
                  .result = result,
                  .moved = pixels.value()});
        return result;
    }

    /// Of pooling, and of reductions over lines and columns.
    ir::Window pooling_window(const Node& node) const {
        if (node.is("max_pool") || node.is("average_pool")) return ir::window_of(node);
        const ir::FeatureMap from = ir::feature_map(graph_.values[node.inputs.front()].shape);
        const ir::FeatureMap to = ir::feature_map(graph_.values[node.output()].shape);
        const std::uint32_t height = from.height / to.height;
        const std::uint32_t width = from.width / to.width;
        return {.kernel_height = height, .kernel_width = width, .stride_y = height, .stride_x = width};
    }

    /// Adds a step of pooling. Windows over much more than a patch, as those of a global mean, would have
    /// each tile keep the image: where that takes half of narrow memory, parts of the channels are copied and
    /// pooled one after the other.
    void pool(const Step& step) {
        const ir::FeatureMap shape = step.source.shape;
        const AllMargins around = margins(step);
        const std::uint64_t lines = divide_up(shape.height, grid_.lines);
        const std::uint64_t columns = divide_up(shape.width, grid_.columns);
        const auto stored = [](std::uint64_t own, const Margins& margin) {
            return own + static_cast<std::uint64_t>(margin.before) +
                   static_cast<std::uint64_t>(margin.behind);
        };
        const std::uint64_t pixels = stored(lines, around.lines) * stored(columns, around.columns);
        if (pixels < 2 * lines * columns || pixels * shape.channels <= narrow_bytes_ / 2) {
            return add_step(step);
        }
        const std::uint64_t room = std::max<std::uint64_t>(narrow_bytes_ / 8 / pixels, 1);
        const auto most =
            static_cast<std::uint32_t>(room > grid_.lanes ? room / grid_.lanes * grid_.lanes : room);
        for (std::uint32_t first = 0; first < shape.channels; first += most) {
            const std::uint32_t count = std::min(most, shape.channels - first);
            Tensor tensor = network_.tensors[step.source.tensor];
            tensor.shape = {.height = shape.height, .width = shape.width, .channels = count};
            const auto part_of = [&](const Part& all) {
                Part part = all;
                part.first_channel += first;
                part.shape.channels = count;
                return part;
            };
            Step part = step;
            part.source = whole(add_tensor(std::move(tensor)));
            part.result = part_of(step.result);
            copy(step.node, step.layer, part_of(step.source), part.source);
            add_step(part);
        }
    }

    /// Of a node that combines two operands element by element.
    static std::optional<isa::TileOperation> operation_of_pair(const Node& node) {
        static const std::map<std::string_view, isa::TileOperation> operations{
            {"add", isa::TileOperation::Add},
            {"multiply", isa::TileOperation::Multiply},
            {"maximum", isa::TileOperation::Maximum},
            {"minimum", isa::TileOperation::Minimum},
            {"squared_difference", isa::TileOperation::SquaredDifference},
            {"subtract", isa::TileOperation::Subtract}};
        const auto found = operations.find(node.op->name());
        if (found == operations.end()) return std::nullopt;
        return found->second;
    }

    isa::TileOperation operation_of(const Node& node) const {
        if (node.is("reduce_sum") && graph_.values[node.output()].type == DataType::Int8) {
            return isa::TileOperation::BiasedSumPool;
        }
        static const std::map<std::string_view, isa::TileOperation> operations{
            {"max_pool", isa::TileOperation::MaxPool},
            {"average_pool", isa::TileOperation::AveragePool},
            {"lookup", isa::TileOperation::Lookup},
            {"normalize", isa::TileOperation::Normalize},
            {"integer_softmax", isa::TileOperation::Softmax},
            {"resize", isa::TileOperation::Interpolate},
            {"reduce_mean", isa::TileOperation::SumPool},
            {"reduce_sum", isa::TileOperation::SumPool},
            {"reduce_max", isa::TileOperation::MaxPool},
            {"reduce_min", isa::TileOperation::MaxPool}};
        return operations.at(node.op->name());
    }

    /// Inputs of a concatenation that do not lie in its result.
    void copy_inputs(NodeId id, std::uint32_t layer) {
        const Node& node = graph_.nodes[id];
        const Part joined = parts_[node.output()].value();
        std::uint32_t channel = joined.first_channel;
        for (const ValueId input : node.inputs) {
            const ir::FeatureMap shape = ir::feature_map(graph_.values[input].shape);
            const Part place{.tensor = joined.tensor, .first_channel = channel, .shape = shape};
            channel += shape.channels;
            const Part source = as_image(input, id, layer);
            if (source.tensor == place.tensor && source.first_channel == place.first_channel) continue;
            if (source.tensor != place.tensor) {
                copy(id, layer, source, place);
                continue;
            }
            // An instruction may not write what it reads: through a tensor of its own.
            const Part between = whole(add_tensor(tensor_for(input, Form::Image)));
            copy(id, layer, source, between);
            copy(id, layer, between, place);
        }
    }

    /// The larger of each number and itself.
    void copy(NodeId node, std::uint32_t layer, const Part& from, const Part& to) {
        add_step({.kind = StepKind::Vector,
                  .node = node,
                  .layer = layer,
                  .operation = isa::TileOperation::Maximum,
                  .source = from,
                  .other = from,
                  .result = to});
    }

    void write_results() {
        const auto end = static_cast<std::uint32_t>(network_.steps.size());
        std::set<ValueId> written;
        const auto write = [&](ValueId value) {
            if (!written.insert(value).second) return;
            const Part part = computed(value);
            network_.tensors[part.tensor].last = end;
            network_.writes.push_back({.value = value, .part = part});
        };
        const auto is_of_chip = [&](ValueId value) {
            const auto producer = producers_[value];
            return producer && on_chip(*producer);
        };
        for (const ValueId output : graph_.outputs) {
            // What the host computes at the end starts from what the program computes last.
            const ValueId value = network_.host.at_end.empty() ? output : operators::program_output(graph_);
            if (is_of_chip(value)) write(value);
        }
        for (const operators::SegmentGraph& segment : network_.segments) {
            for (const ValueId input : segment.inputs) {
                if (is_of_chip(input)) write(input);
            }
        }
    }

    struct AllMargins {
        Margins lines;
        Margins columns;

        bool any() const {
            return lines.before + lines.behind + columns.before + columns.behind > 0 || lines.outside ||
                   columns.outside;
        }
    };
    AllMargins margins(const Step& step) const {
        const auto layout = [&](const ir::FeatureMap& shape) {
            return isa::TileLayout{.grid = grid_,
                                   .lines = shape.height,
                                   .columns = shape.width,
                                   .channels = shape.channels,
                                   .pixel_bytes = shape.channels};
        };
        const isa::TileLayout from = layout(step.source.shape);
        const isa::TileLayout to = layout(step.result.shape);
        if (!step.window) {
            const isa::TileArea area =
                isa::corners_under(from, to, isa::own_area(to), interpolation_of(graph_, step));
            return {
                .lines = margins_of(area.first_line, area.lines, from.own_lines(), 0, from.lines),
                .columns = margins_of(area.first_column, area.columns, from.own_columns(), 0, from.columns)};
        }
        const ir::FeatureMap& source = step.source.shape;
        const ir::FeatureMap& result = step.result.shape;
        const ir::Window& window = *step.window;
        const isa::TileArea area = isa::windows_under(from, to, isa::own_area(to), tile_window(window));
        return {.lines = margins_of(area.first_line, area.lines, from.own_lines(),
                                    end_of_windows(result.height, window.stride_y, window.kernel_height,
                                                   window.dilation_y, window.pad_top),
                                    source.height),
                .columns = margins_of(area.first_column, area.columns, from.own_columns(),
                                      end_of_windows(result.width, window.stride_x, window.kernel_width,
                                                     window.dilation_x, window.pad_left),
                                      source.width)};
    }

    void reach(const Step& step) {
        if (!step.reads_around()) return;
        const AllMargins needed = margins(step);
        Tensor& source = network_.tensors[step.source.tensor];
        source.top = std::max(source.top, needed.lines.before);
        source.bottom = std::max(source.bottom, needed.lines.behind);
        source.left = std::max(source.left, needed.columns.before);
        source.right = std::max(source.right, needed.columns.behind);
        source.reaches_out = source.reaches_out || needed.any();
    }

    const ir::Graph& graph_;
    const isa::TileGrid grid_;
    const std::uint64_t narrow_bytes_;
    const bool is_for_chip_alone_;
    const ir::BorderValues border_;
    const std::vector<std::vector<NodeId>> readers_;
    const std::vector<std::optional<NodeId>> producers_;
    Network network_;
    std::vector<std::optional<Part>> parts_;  ///< by value
    std::set<TensorId> written_;
    std::map<ValueId, TensorId> collected_;  ///< the vector in every tile, by value
};

}  // namespace

bool Step::is_element_wise() const {
    return kind == StepKind::Vector && isa::TileVector{.operation = operation}.is_element_wise();
}

bool Step::reads_around() const {
    return window.has_value() || (kind == StepKind::Vector && operation == isa::TileOperation::Interpolate);
}

isa::TileWindow tile_window(const ir::Window& window) {
    return {.kernel_height = window.kernel_height,
            .kernel_width = window.kernel_width,
            .stride_y = window.stride_y,
            .stride_x = window.stride_x,
            .dilation_y = window.dilation_y,
            .dilation_x = window.dilation_x,
            .pad_top = window.pad_top,
            .pad_left = window.pad_left};
}

isa::TileLayout layout_of(const Network& network, const Part& part) {
    const Tensor& tensor = network.tensors[part.tensor];
    isa::TileLayout layout{.grid = network.grid,
                           .address = tensor.address + part.first_channel,
                           .lines = part.shape.height,
                           .columns = part.shape.width,
                           .channels = part.shape.channels,
                           .pixel_bytes = tensor.shape.channels,
                           .top = tensor.top,
                           .bottom = tensor.bottom,
                           .left = tensor.left,
                           .right = tensor.right};
    if (part.lines) {
        const auto first = static_cast<std::int64_t>(part.lines->first);
        layout.address = isa::address_of(layout, first, -layout.left);
        layout.top = -first;
        layout.bottom = first + static_cast<std::int64_t>(part.lines->count) -
                        static_cast<std::int64_t>(layout.own_lines());
    }
    return layout;
}

Network make_network(const ir::Graph& graph, const machine::MachineConfig& machine, const Refusals& refused) {
    return Builder(graph, machine, refused).build();
}

}  // namespace systole::edge_tpu
