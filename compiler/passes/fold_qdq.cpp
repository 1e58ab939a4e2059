// Turns float work between a `dequantize` and a `quantize` into work on integers.
#include "compiler/passes/fold_qdq.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "base/conversion.h"
#include "base/rounding.h"
#include "compiler/ir/border_values.h"
#include "compiler/ir/encoding.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/window.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/operator.h"

namespace systole::passes {
namespace {

using ir::ValueId;

/// Whether a value is an activation of integers with one scale.
bool is_stored(const ir::Value& value) {
    return !value.constant && is_integer(value.type) && value.type != DataType::Int32 && value.quantization &&
           !value.quantization->axis;
}

bool same_storage(const ir::Value& a, const ir::Value& b) {
    return a.type == b.type && a.quantization == b.quantization;
}

/// Whether a node only moves elements, so that it may as well move integers.
bool moves_integers(const ir::Node& node) {
    static const std::set<std::string_view> names{
        "concat", "depth_to_space", "expand",        "gather", "identity",  "max_pool",    "pad", "reshape",
        "slice",  "space_to_depth", "strided_slice", "tile",   "transpose", "zero_padding"};
    return names.contains(node.op->name());
}

/// Whether a node is work on two tensors that the chip does.
bool is_pair(const ir::Node& node) {
    return node.is("add") || node.is("multiply");
}

/// Builds the nodes anew, in order.
class Folder {
public:
    explicit Folder(ir::Graph graph)
        : graph_(std::move(graph)),
          border_(graph_),
          readers_(ir::readers(graph_)),
          makers_(graph_.values.size()) {}

    ir::Graph fold() && {
        std::vector<ir::Node> old;
        old.swap(graph_.nodes);
        for (ir::Node& node : old) {
            for (ValueId& input : node.inputs) {
                if (const auto found = replaced_.find(input); found != replaced_.end()) input = found->second;
            }
            if (node.is("quantize") && fold_quantize(node)) continue;
            if (moves_integers(node) && move_before_dequantize(node)) continue;
            add(std::move(node));
        }
        ir::remove_unread(graph_);
        return std::move(graph_);
    }

private:
    ir::Value& value(ValueId id) { return graph_.values[id]; }
    const ir::Value& value(ValueId id) const { return graph_.values[id]; }

    void add(ir::Node node) {
        for (const ValueId output : node.outputs) {
            makers_.resize(graph_.values.size());
            makers_[output] = graph_.nodes.size();
        }
        graph_.nodes.push_back(std::move(node));
    }
    const ir::Node* maker(ValueId id) const {
        return id < makers_.size() && makers_[id] ? &graph_.nodes[*makers_[id]] : nullptr;
    }

    /// The integers that a `dequantize` turns into a value, if they have one scale.
    std::optional<ValueId> integers_of(ValueId id) const {
        const ir::Node* const node = maker(id);
        if (node == nullptr || !node->is("dequantize") || !is_stored(value(node->inputs.front()))) {
            return std::nullopt;
        }
        return node->inputs.front();
    }

    /// Whether the operator accepts a node as it is.
    bool is_accepted(const ir::Node& node) const {
        try {
            const ir::NodeView view(graph_, node);
            const std::vector<ir::Shape> shapes = node.op->output_shapes(view);
            for (std::size_t i = 0; i < shapes.size(); ++i) {
                if (shapes[i] != view.output(i).shape) return false;
            }
            node.op->check_types(view);
            return true;
        } catch (const ModelError&) {
            return false;
        }
    }

    ValueId add_value(ir::Value new_value) {
        graph_.values.push_back(std::move(new_value));
        return static_cast<ValueId>(graph_.values.size() - 1);
    }

    /// Adds a node on integers and a `dequantize` behind it for a node that moves what is dequantized.
    bool move_before_dequantize(const ir::Node& node) {
        // Integers cannot express every number that is added.
        if (node.is("pad") && node.real("value") != 0.0) return false;
        ir::Node added = node;
        std::optional<ValueId> first;
        for (ValueId& input : added.inputs) {
            if (value(input).constant && first) continue;
            const auto integers = integers_of(input);
            if (!integers || (first && !same_storage(value(*first), value(*integers)))) return false;
            if (!first) first = integers;
            input = *integers;
        }
        if (!first) return false;
        const std::size_t values = graph_.values.size();
        for (ValueId& output : added.outputs) {
            ir::Value moved = value(output);
            moved.type = value(*first).type;
            moved.quantization = value(*first).quantization;
            moved.file_axes.clear();
            moved.before.reset();
            output = add_value(std::move(moved));
        }
        if (!is_accepted(added)) {
            graph_.values.resize(values);
            return false;
        }
        const ir::Operator& dequantize = operators::registry().at("dequantize");
        const std::vector<ValueId> moved = added.outputs;
        add(std::move(added));
        for (std::size_t i = 0; i < moved.size(); ++i) {
            add({.name = node.name,
                 .op = &dequantize,
                 .attributes = ir::complete_attributes(dequantize, {}),
                 .inputs = {moved[i]},
                 .outputs = {node.outputs[i]}});
        }
        return true;
    }

    bool is_read_once(ValueId id) const {
        return id < readers_.size() && readers_[id].size() == 1 && !border_.is_output(id);
    }

    /// Adds a node on integers that computes the result of a `quantize` together with what comes before it.
    bool fold_quantize(const ir::Node& quantize) {
        const ValueId real = quantize.inputs.front();
        const ValueId result = quantize.output();
        if (!is_stored(value(result))) return false;
        if (const auto integers = integers_of(real)) return convert(quantize, *integers, {});
        const ir::Node* node = maker(real);
        if (node == nullptr || node->outputs.size() != 1 || !is_read_once(real)) return false;
        if (node->is("reshape") || node->is("transpose")) return fold_before_move(quantize, *node);
        const operators::Operator& op = operators::operator_of(*node);
        const auto function = op.function(*node);
        if (function) {
            if (const auto integers = integers_of(node->inputs.front())) {
                return convert(quantize, *integers, *function);
            }
        }
        // Other formats define float work between the two as float work; only ONNX means integers by it.
        if (quantize.integer("half_to_even") == 0) return false;
        // A ReLU between the work and its rounding becomes the work's clamp.
        std::optional<float> limit;
        if (function && (limit = op.clamp_limit(*node))) {
            const ValueId inner = node->inputs.front();
            node = maker(inner);
            if (node == nullptr || node->outputs.size() != 1 || !is_read_once(inner)) return false;
        }
        ir::Node work = *node;
        if (work.is("concat") && !limit) return fold_concat(work, result);
        if (work.is("average_pool")) return fold_average(work, result, limit);
        // Float32 has fewer bits than products and sums of 16 bits, so that the runtime's results are those
        // of its own roundings: the host has them.
        if (is_pair(work) && bytes_of(value(result).type) != 1) return false;
        if (!work.op->has_weights() && !is_pair(work) && !(moves_integers(work) && !limit)) {
            return false;
        }
        return fold_work(work, result, limit);
    }

    /// Stores real numbers before they are moved, where work and its rounding can meet, and moves the
    /// integers.
    bool fold_before_move(const ir::Node& quantize, ir::Node move) {
        const ValueId result = quantize.output();
        ir::Value stored = value(move.inputs.front());
        if (stored.constant) return false;
        stored.type = value(result).type;
        stored.quantization = value(result).quantization;
        stored.range.reset();
        stored.file_axes.clear();
        stored.before.reset();
        const std::size_t values = graph_.values.size();
        ir::Node earlier = quantize;
        earlier.inputs = {move.inputs.front()};
        earlier.outputs = {add_value(std::move(stored))};
        if (!fold_quantize(earlier)) {
            graph_.values.resize(values);
            return false;
        }
        // Where nothing is converted, the integers are others'.
        const auto same = replaced_.find(earlier.output());
        move.inputs = {same == replaced_.end() ? earlier.output() : same->second};
        move.outputs = {result};
        add(std::move(move));
        return true;
    }

    /// Adds the conversion of integers to others, through a function, as a lookup; or none if they are the
    /// same.
    bool convert(const ir::Node& quantize, ValueId from, const operators::ElementFunction& function) {
        const ValueId to = quantize.output();
        if (!function && same_storage(value(from), value(to))) {
            if (border_.is_output(to) || border_.is_input(from)) {
                const ir::Operator& identity = operators::registry().at("identity");
                ir::Node added{.name = quantize.name,
                               .op = &identity,
                               .attributes = ir::complete_attributes(identity, {}),
                               .inputs = {from},
                               .outputs = {to}};
                if (!is_accepted(added)) return false;
                add(std::move(added));
                return true;
            }
            replace(to, from);
            return true;
        }
        return add_lookup(quantize.name, from, to, function, quantize.integer("half_to_even") != 0);
    }

    /// Adds a lookup of what a `dequantize`, a function and a `quantize` make of bytes; false if they are
    /// none.
    bool add_lookup(const std::string& name, ValueId from, ValueId to,
                    const operators::ElementFunction& function, bool half_to_even) {
        if (bytes_of(value(from).type) != 1 || bytes_of(value(to).type) != 1) return false;
        const ir::Encoding in = ir::encoding_of(value(from));
        const ir::Encoding out = ir::encoding_of(value(to));
        const Storage to_storage{.scale = out.scale,
                                 .zero_point = out.zero_point,
                                 .type = out.type,
                                 .conversion = half_to_even ? Conversion::HalfToEven : Conversion::HalfAway};
        constexpr std::size_t entries = 256;
        std::vector<std::uint8_t> table(entries);
        for (std::size_t i = 0; i < entries; ++i) {
            const auto byte = static_cast<std::uint8_t>(i);
            const std::int32_t stored =
                value(from).type == DataType::Int8 ? std::int32_t{static_cast<std::int8_t>(byte)} : byte;
            // As the two nodes compute it.
            const float real = real_number(stored, in.scale, in.zero_point);
            const float result = function ? function(real) : real;
            table[i] = static_cast<std::uint8_t>(stored_number(double{result}, to_storage));
        }
        const ValueId constant =
            graph_.add_constant(name + "/table", {entries}, out.type, ir::Constant::of(std::move(table)));
        const ir::Operator& lookup = operators::registry().at("lookup");
        add({.name = name,
             .op = &lookup,
             .attributes = ir::complete_attributes(lookup, {}),
             .inputs = {from, constant},
             .outputs = {to}});
        return true;
    }

    /// Lets later nodes read another value; earlier ones do not read it.
    void replace(ValueId id, ValueId by) { replaced_[id] = by; }

    /// The stored numbers between 0 and a limit, if they are less than all of the type.
    static std::vector<std::int64_t> clamp_of(const ir::Encoding& encoding, std::optional<float> limit) {
        if (!limit) return {};
        return {encoding.zero_point, encoding.stored(double{*limit})};
    }

    /// Adds work with the data inputs before their `dequantize`, and with its constants as integers.
    bool fold_work(ir::Node work, ValueId result, std::optional<float> limit) {
        const ir::NodeView old(graph_, work);
        const std::size_t data = old.data_inputs();
        const bool has_weights = work.op->has_weights();
        if (data == 0 || (!has_weights && data != work.inputs.size())) return false;
        if (old.computed_parameter()) return false;
        for (std::size_t i = 0; i < data; ++i) {
            const auto integers = integers_of(work.inputs[i]);
            if (!integers) return false;
            work.inputs[i] = *integers;
        }
        const std::size_t values = graph_.values.size();
        const auto give_up = [&] {
            graph_.values.resize(values);
            return false;
        };
        if (has_weights) {
            if (data != 1 || !integer_constants(work) || !sums_fit(work)) return give_up();
        }
        if (has_weights || is_pair(work))
            work.set("rounding", operators::rounding_value(Rounding::HalfToEven));
        if (limit) work.set("clamp", clamp_of(ir::encoding_of(value(result)), limit));
        work.outputs = {result};
        if (!is_accepted(work)) return give_up();
        add(std::move(work));
        return true;
    }

    /// Adds a concatenation of integers; those of other scales than the result's are converted first.
    bool fold_concat(ir::Node work, ValueId result) {
        for (ValueId& input : work.inputs) {
            const auto integers = integers_of(input);
            if (!integers || bytes_of(value(*integers).type) != 1) return false;
            input = *integers;
        }
        if (bytes_of(value(result).type) != 1) return false;
        for (ValueId& input : work.inputs) {
            if (same_storage(value(input), value(result))) continue;
            ir::Value converted = value(input);
            converted.name = work.name;
            converted.type = value(result).type;
            converted.quantization = value(result).quantization;
            converted.file_axes.clear();
            converted.before.reset();
            const ValueId to = add_value(std::move(converted));
            add_lookup(work.name, input, to, {}, true);
            input = to;
        }
        work.outputs = {result};
        add(std::move(work));
        return true;
    }

    /// Replaces weights that were integers by these, with zero point 0, and the bias by one in int32.
    bool integer_constants(ir::Node& work) {
        const ir::Value weights = value(work.inputs[1]);
        const auto& quantization = weights.quantization;
        if (weights.type != DataType::Float32 || !quantization) return false;
        const auto channels = weights.shape[weights.shape.rank() - 1];
        if (quantization->axis && *quantization->axis != weights.shape.rank() - 1) return false;
        if (weights.constant->is_known()) {
            const std::span<const float> reals = weights.constant->values<float>();
            std::vector<std::int8_t> numbers;
            numbers.reserve(reals.size());
            for (std::size_t i = 0; i < reals.size(); ++i) {
                const double scale = quantization->scales[quantization->axis ? i % channels : 0];
                const double number = std::round(reals[i] / scale);
                if (!(std::abs(number) <= 128.0) || number == 128.0) return false;
                // Work since the `dequantize` has made other numbers of them.
                if (static_cast<float>(number) * static_cast<float>(scale) != reals[i]) return false;
                numbers.push_back(static_cast<std::int8_t>(number));
            }
            work.inputs[1] = graph_.add_constant(weights.name, weights.shape, DataType::Int8,
                                                 ir::Constant::of(std::move(numbers)));
        } else {
            work.inputs[1] = graph_.add_constant(weights.name, weights.shape, DataType::Int8, ir::Constant());
        }
        ir::Quantization scales = *quantization;
        std::ranges::fill(scales.zero_points, 0);
        value(work.inputs[1]).quantization = scales;
        if (work.inputs.size() < 3) return true;
        const ir::Value bias = value(work.inputs[2]);
        if (bias.type != DataType::Float32) return false;
        ir::Constant sums;
        if (bias.constant->is_known()) {
            const double input_scale = value(work.inputs[0]).quantization->scales.front();
            std::vector<std::int32_t> numbers;
            const std::span<const float> reals = bias.constant->values<float>();
            for (std::size_t c = 0; c < reals.size(); ++c) {
                const double scale = input_scale * scales.scales[scales.axis ? c : 0];
                const double number = std::nearbyint(reals[c] / scale);
                if (!(std::abs(number) <= double{std::numeric_limits<std::int32_t>::max()})) return false;
                numbers.push_back(static_cast<std::int32_t>(number));
            }
            sums = ir::Constant::of(std::move(numbers));
        }
        work.inputs[2] = graph_.add_constant(bias.name, bias.shape, DataType::Int32, std::move(sums));
        return true;
    }

    /// Whether no sum of a layer with weights exceeds the 32 bits of an accumulator, whatever its input is.
    bool sums_fit(const ir::Node& work) const {
        const ir::Value& weights = value(work.inputs[1]);
        if (!weights.constant->is_known()) return true;
        const ir::Value& input = value(work.inputs[0]);
        const std::int64_t zero_point = input.quantization->zero_points.front();
        const std::int64_t largest_input =
            std::max(highest_of(input.type) - zero_point, zero_point - lowest_of(input.type));
        const std::span<const std::int8_t> numbers = weights.constant->values<std::int8_t>();
        std::vector<std::int64_t> largest(weights.shape[weights.shape.rank() - 1], 0);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            largest[i % largest.size()] += std::abs(std::int64_t{numbers[i]}) * largest_input;
        }
        if (work.inputs.size() > 2 && value(work.inputs[2]).constant->is_known()) {
            const std::span<const std::int32_t> bias = value(work.inputs[2]).constant->values<std::int32_t>();
            for (std::size_t c = 0; c < bias.size(); ++c) largest[c] += std::abs(std::int64_t{bias[c]});
        }
        return std::ranges::max(largest) <= std::numeric_limits<std::int32_t>::max();
    }

    /// An average is a depthwise convolution with equal weights, rounded once; or pooling where no half can
    /// occur.
    bool fold_average(const ir::Node& pool, ValueId result, std::optional<float> limit) {
        const auto integers = integers_of(pool.inputs.front());
        if (!integers) return false;
        const ir::Window window = ir::window_of(pool);
        const bool has_border =
            window.pad_top + window.pad_left + window.pad_bottom + window.pad_right != 0 ||
            window.is_dilated();
        // The chip's average pooling rounds halves away from zero. An odd number of elements has none.
        const bool has_halves = has_border || window.kernel_elements() % 2 == 0;
        if (!limit && !has_halves && same_storage(value(*integers), value(result))) {
            ir::Node moved = pool;
            moved.inputs = {*integers};
            moved.outputs = {result};
            if (is_accepted(moved)) {
                add(std::move(moved));
                return true;
            }
        }
        if (has_border) return false;
        const std::uint32_t channels = ir::feature_map(value(*integers).shape).channels;
        const ir::Shape shape{window.kernel_height, window.kernel_width, 1, channels};
        const std::size_t values = graph_.values.size();
        const ValueId weights =
            graph_.add_constant(pool.name + "/weights", shape, DataType::Int8,
                                ir::Constant::of(std::vector<std::int8_t>(shape.elements(), 1)));
        value(weights).quantization =
            ir::Quantization{{1.0 / static_cast<double>(window.kernel_elements())}, {0}, {}};
        const ir::Operator& convolution = operators::registry().at("depthwise_convolution");
        ir::Node work{.name = pool.name,
                      .op = &convolution,
                      .attributes = ir::complete_attributes(convolution, ir::attributes_of(window)),
                      .inputs = {*integers, weights},
                      .outputs = {result}};
        work.set("rounding", operators::rounding_value(Rounding::HalfToEven));
        // A third has no fixed-point number: halves of averages would not be halves.
        work.set("real_multiplier", std::int64_t{1});
        if (limit) work.set("clamp", clamp_of(ir::encoding_of(value(result)), limit));
        if (!is_accepted(work) || !sums_fit(work)) {
            graph_.values.resize(values);
            return false;
        }
        add(std::move(work));
        return true;
    }

    ir::Graph graph_;
    const ir::BorderValues border_;
    std::vector<std::vector<ir::NodeId>> readers_;  ///< of the graph before the pass
    std::vector<std::optional<std::size_t>> makers_;
    std::map<ValueId, ValueId> replaced_;
};

}  // namespace

ir::Graph fold_qdq(ir::Graph graph) {
    const auto converts = [](const ir::Node& node) { return node.is("quantize") || node.is("dequantize"); };
    if (std::ranges::none_of(graph.nodes, converts)) return graph;
    return Folder(std::move(graph)).fold();
}

}  // namespace systole::passes
