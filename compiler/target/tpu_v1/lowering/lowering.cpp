#include "compiler/target/tpu_v1/lowering/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include "base/message_text.h"
#include "compiler/ir/encoding.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/target/tpu_v1/lowering/interleave_repeats.h"
#include "compiler/target/tpu_v1/lowering/lowerings.h"
#include "compiler/target/tpu_v1/network/repeats.h"

namespace systole::tpu_v1 {

using ir::Node;
using ir::ValueId;
using operators::HostNodes;
using operators::SegmentGraph;

namespace {

/// What is no image takes rows as a vector; nodes that read or write such values are the host's.
ir::FeatureMap shape_on_chip(const ir::Shape& shape) {
    if (ir::is_feature_map(shape)) return ir::feature_map(shape);
    return {.height = 1, .width = 1, .channels = static_cast<std::uint32_t>(shape.elements())};
}

/// [height, width, channels] of an image; of any other value its extents, without a first one of 1.
std::vector<std::uint32_t> shape_of_inference(const ir::Shape& shape) {
    if (ir::is_feature_map(shape)) {
        const ir::FeatureMap map = ir::feature_map(shape);
        return {map.height, map.width, map.channels};
    }
    const auto extents = shape.extents();
    std::vector<std::uint32_t> kept(extents.begin(), extents.end());
    if (kept.size() > 1 && kept.front() == 1) kept.erase(kept.begin());
    if (kept.empty()) kept.push_back(1);  // a number
    return kept;
}

}  // namespace

Lowering::Lowering(const ir::Graph& graph, const ChipAbilities& chip)
    : graph_(graph),
      plan_(operators::find_host_segments(graph, nodes_on_chip(graph, chip))),
      border_(graph),
      readers_(ir::readers(graph)),
      tensors_(graph.values.size()) {
    network_.name = graph.name;
    network_.has_weights = graph.has_weights;
}

const Node* Lowering::lookup_after(ValueId id) const {
    if (readers_[id].size() != 1 || border_.is_output(id)) return nullptr;
    const Node& reader = graph_.nodes[readers_[id][0]];
    return reader.is("lookup") ? &reader : nullptr;
}

void Lowering::fail(const Node& node, const std::string& rule) const {
    throw ModelError(fmt::format("{}: layer {}: {}", graph_.name, in_quotes(node.name), rule));
}

TensorId Lowering::tensor_of(ValueId id) const {
    const ir::Value& value = graph_.values[id];
    if (value.constant) {
        throw ModelError(
            fmt::format("{}: layer {}: it is a constant; the chip takes constants as weights alone",
                        graph_.name, in_quotes(value.name)));
    }
    return tensors_[id].value();
}

void Lowering::require_tensors(const Node& node) const {
    for (const ValueId input : node.inputs) tensor_of(input);
}

TensorId Lowering::add_tensor(ValueId id) {
    const ir::Value& value = graph_.values[id];
    const ir::Encoding encoding = encoding_of(value);
    const auto tensor = static_cast<TensorId>(network_.tensors.size());
    network_.tensors.push_back({.name = value.name,
                                .shape = shape_on_chip(value.shape),
                                .scale = encoding.scale,
                                .zero_point = encoding.zero_point,
                                .type = encoding.type,
                                .conversion = value.conversion});
    share_tensor(id, tensor);
    return tensor;
}

void Lowering::add_layer(const Node& node, ValueId result, Work work) {
    const ir::NodeView view(graph_, node);
    Layer layer{
        .name = node.name, .inputs = {}, .output = 0, .work = std::move(work), .macs = node.op->macs(view)};
    for (std::size_t i = 0, count = view.data_inputs(); i < count; ++i)
        layer.inputs.push_back(tensor_of(node.inputs[i]));
    layer.output = add_tensor(result);
    share_tensor(node.output(), layer.output);
    network_.layers.push_back(std::move(layer));
}

void Lowering::add_positions(const Node& node) {
    add_layer(node, node.output(), Concatenation{.axis = Concatenation::Axis::Lines});
    const TensorId lines = tensor_of(node.output());
    ir::FeatureMap& shape = network_.tensors[lines].shape;
    std::swap(shape.height, shape.width);
    if (!is_read(node.output())) return;  // the host gets the same bytes
    const TensorId positions = add_tensor(node.output());
    network_.layers.push_back({.name = node.name,
                               .inputs = {lines},
                               .output = positions,
                               .work = Slice{.first_element = 0},
                               .part_of = static_cast<std::uint32_t>(network_.layers.size() - 1)});
}

void Lowering::add_host_operation(const Node& node) {
    share_tensor(node.output(), tensor_of(node.inputs.front()));
    network_.host_operations.push_back({.kind = std::string(node.op->name()), .layer = node.name});
}

TensorId Lowering::add_host_tensor(ValueId id) {
    const auto on_chip = [&](ir::NodeId node) { return plan_.on_chip[node]; };
    const ir::Value& value = graph_.values[id];
    if (std::ranges::any_of(readers_[id], on_chip)) {
        if (!is_integer(value.type) || !value.quantization) {
            throw ModelError(fmt::format("{}: {} is {}; the chip reads only integers that have a scale",
                                         graph_.name, in_quotes(value.name), name_of(value.type)));
        }
        return add_tensor(id);
    }
    const auto tensor = static_cast<TensorId>(network_.tensors.size());
    Tensor added{.name = value.name, .shape = {}, .type = value.type, .conversion = value.conversion};
    added.shape = {.height = 1, .width = 1, .channels = static_cast<std::uint32_t>(value.shape.elements())};
    if (value.quantization && value.quantization->scales.size() == 1) {
        added.scale = value.quantization->scales.front();
        added.zero_point = value.quantization->zero_points.front();
    }
    network_.tensors.push_back(std::move(added));
    share_tensor(id, tensor);
    return tensor;
}

void Lowering::add_segment(const HostNodes& nodes, const SegmentGraph& segment) {
    const operators::SegmentCost cost = operators::segment_cost(segment.graph);
    std::shared_ptr<const std::string> text;
    if (graph_.has_weights) text = std::make_shared<const std::string>(ir::to_text(segment.graph));
    HostSegment work{.layers = {},
                     .graph = std::move(text),
                     .operations = cost.operations,
                     .bytes = cost.bytes,
                     .constant_bytes = cost.constant_bytes};
    std::map<std::string_view, std::size_t> places;  // in work.layers, by name
    for (const ir::NodeId id : nodes) {
        const Node& node = graph_.nodes[id];
        const auto [found, is_new] = places.try_emplace(node.name, work.layers.size());
        if (is_new) {
            work.layers.push_back(node.name);
            work.macs.push_back(0);
        }
        work.macs[found->second] += node.op->macs({graph_, node});
    }
    if (std::ranges::count(work.macs, 0U) == std::ssize(work.macs)) work.macs.clear();
    Layer layer{.name = segment.name, .inputs = {}, .output = 0, .work = std::move(work)};
    for (const ValueId input : segment.inputs) layer.inputs.push_back(tensor_of(input));
    for (const ValueId output : segment.outputs) layer.outputs.push_back(add_host_tensor(output));
    layer.output = layer.outputs.front();
    network_.layers.push_back(std::move(layer));
}

Network Lowering::finish() && {
    network_.inputs.clear();
    network_.outputs.clear();
    network_.output_shapes.clear();
    for (const ValueId input : graph_.inputs) network_.inputs.push_back(tensor_of(input));
    std::vector<bool> is_output(network_.tensors.size(), false);
    for (const ValueId output : graph_.outputs) {
        const TensorId tensor = tensor_of(output);
        if (is_output[tensor]) {
            throw ModelError(
                fmt::format("{}: output {} has the elements of an output before it; give one of them",
                            graph_.name, in_quotes(graph_.values[output].name)));
        }
        is_output[tensor] = true;
        network_.outputs.push_back(tensor);
        network_.output_shapes.push_back(shape_of_inference(graph_.values[output].shape));
    }
    return std::move(network_);
}

namespace {

/// Work that waits for values. What is ready is taken round by round, in each round in ascending order.
class WaitingWork {
public:
    WaitingWork(std::size_t values, std::size_t count) : readers_(values), missing_(count, 0) {}

    void wait_for(std::size_t work, ValueId value) {
        readers_[value].push_back(work);
        ++missing_[work];
    }
    /// Work that waits for nothing.
    void add_ready(std::size_t work) {
        if (missing_[work] == 0) ready_.insert(work);
    }
    /// A value is there, for the first time.
    void provide(ValueId value) {
        for (const std::size_t work : readers_[value]) {
            if (--missing_[work] == 0) ready_.insert(work);
        }
    }
    /// Begins a round at the smallest number.
    void begin_round() { next_ = 0; }
    /// The next work that is ready, if there is some.
    std::optional<std::size_t> take() {
        if (ready_.empty()) return std::nullopt;
        auto found = ready_.lower_bound(next_);
        if (found == ready_.end()) found = ready_.begin();
        const std::size_t work = *found;
        ready_.erase(found);
        next_ = work + 1;
        return work;
    }

private:
    std::vector<std::vector<std::size_t>> readers_;  ///< by value
    std::vector<std::size_t> missing_;               ///< by work: values that are not there
    std::set<std::size_t> ready_;
    std::size_t next_ = 0;  ///< of this round
};

/// Lowers all nodes in the graph's order, with each segment of the host as soon as its operands are there:
/// nodes of the chip that read a segment's results move behind it.
class NodeOrder {
public:
    NodeOrder(const ir::Graph& graph, Lowering& lowering)
        : graph_(graph),
          lowering_(lowering),
          segments_(lowering.host_plan().segments),
          cut_(operators::segment_graphs(graph, segments_)),
          is_there_(graph.values.size(), false),
          waiting_nodes_(graph.values.size(), graph.nodes.size()),
          waiting_segments_(graph.values.size(), segments_.size()) {
        provide_placed();
        std::vector<bool> in_segment(graph.nodes.size(), false);
        for (const HostNodes& nodes : segments_) {
            for (const ir::NodeId node : nodes) in_segment[node] = true;
        }
        for (ir::NodeId id = 0; id < graph.nodes.size(); ++id) {
            if (!in_segment[id]) begin_waiting(waiting_nodes_, id, graph.nodes[id].inputs);
        }
        for (std::size_t i = 0; i < segments_.size(); ++i) {
            // Nothing needs a segment whose results nothing reads.
            if (!cut_[i].outputs.empty()) begin_waiting(waiting_segments_, i, cut_[i].inputs);
        }
    }

    void lower_all() {
        lower_segments();
        while (const auto id = waiting_nodes_.take()) {
            const Node& node = graph_.nodes[*id];
            // The work of an earlier node may include this one.
            if (lowering_.has_tensor(node.output())) continue;
            if (lowering_.host_plan().on_chip[*id]) {
                lower_node(ir::NodeView(graph_, node), lowering_);
            } else {
                lowering_.add_host_operation(node);
            }
            provide_placed();
            lower_segments();
        }
    }

private:
    void begin_waiting(WaitingWork& waiting, std::size_t work, std::span<const ValueId> reads) const {
        for (const ValueId value : reads) {
            if (!graph_.values[value].constant && !is_there_[value]) waiting.wait_for(work, value);
        }
        waiting.add_ready(work);
    }

    void provide_placed() {
        for (const ValueId value : lowering_.take_placed()) {
            if (is_there_[value]) continue;
            is_there_[value] = true;
            waiting_nodes_.provide(value);
            waiting_segments_.provide(value);
        }
    }

    void lower_segments() {
        waiting_segments_.begin_round();
        while (const auto i = waiting_segments_.take()) {
            lowering_.add_segment(segments_[*i], cut_[*i]);
            provide_placed();
        }
    }

    const ir::Graph& graph_;
    Lowering& lowering_;
    const std::vector<HostNodes>& segments_;
    const std::vector<SegmentGraph> cut_;
    std::vector<bool> is_there_;  ///< by value: it has a tensor
    WaitingWork waiting_nodes_;
    WaitingWork waiting_segments_;
};

}  // namespace

bool writes_weights(const ir::Graph& graph, const ChipAbilities& chip) {
    return nodes_on_chip(graph, chip) != nodes_on_chip(graph, {.row_sums = chip.row_sums});
}

namespace {

Network lower_in_order(const ir::Graph& graph, const ChipAbilities& chip) {
    for (const ir::Value& value : graph.values) {
        if (!graph.has_weights || !value.constant || value.constant->is_known()) continue;
        throw ModelError(
            fmt::format("{}: {} has no values; the graph must be one without weights, or have all",
                        graph.name, in_quotes(value.name)));
    }
    Lowering lowering(graph, chip);
    const auto readers = ir::readers(graph);
    for (const ValueId input : graph.inputs) {
        const ir::Value& value = graph.values[input];
        const bool read_by_host =
            !readers[input].empty() && std::ranges::none_of(readers[input], [&](ir::NodeId node) {
                return lowering.host_plan().on_chip[node];
            });
        if (read_by_host) {
            lowering.add_host_tensor(input);
        } else if (is_integer(value.type) && value.quantization) {
            lowering.add_tensor(input);
        } else {
            throw ModelError(fmt::format("{}: its input must be of integers that have a scale", graph.name));
        }
    }
    NodeOrder(graph, lowering).lower_all();
    Network network = std::move(lowering).finish();
    share_repeats(network, graph.repeated);
    return network;
}

}  // namespace

Network lower(const ir::Graph& graph, const ChipAbilities& chip) {
    if (graph.repeated.empty()) return lower_in_order(graph, chip);
    return lower_in_order(interleave_repeats(graph), chip);
}

}  // namespace systole::tpu_v1
