// Moves transpositions towards the network's outputs, where they meet others and cancel.
#include "compiler/passes/move_transposes.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/conversion.h"
#include "compiler/ir/border_values.h"
#include "compiler/operators/operator.h"

namespace systole::passes {
namespace {

using Axes = std::vector<std::uint32_t>;  ///< axis i of the result is axis [i] of what is transposed
using ir::ValueId;

Axes identity_of(std::size_t rank) {
    Axes axes(rank);
    std::iota(axes.begin(), axes.end(), 0U);
    return axes;
}

bool is_identity(const Axes& axes) {
    return std::ranges::is_sorted(axes);
}

Axes inverse_of(const Axes& axes) {
    Axes inverse(axes.size());
    for (std::uint32_t i = 0; i < axes.size(); ++i) inverse[axes[i]] = i;
    return inverse;
}

/// First `first`, then `second`.
Axes composed(const Axes& first, const Axes& second) {
    Axes axes;
    for (const std::uint32_t axis : second) axes.push_back(first[axis]);
    return axes;
}

ir::Shape permuted_shape(const ir::Shape& shape, const Axes& axes) {
    std::vector<std::uint32_t> extents;
    for (const std::uint32_t axis : axes) extents.push_back(shape[axis]);
    return ir::Shape(extents);
}

/// Whether a transposition leaves every element where it is: axes of more than one element keep their order.
bool keeps_elements(const ir::Shape& shape, const Axes& axes) {
    Axes moved;
    for (const std::uint32_t axis : axes) {
        if (shape[axis] != 1) moved.push_back(axis);
    }
    return std::ranges::is_sorted(moved);
}

std::vector<std::int64_t> integers_of(std::span<const std::uint32_t> numbers) {
    return {numbers.begin(), numbers.end()};
}

Axes axes_of(const ir::Node& transpose) {
    Axes axes;
    for (const std::int64_t axis : transpose.integers("permutation")) {
        axes.push_back(static_cast<std::uint32_t>(axis));
    }
    return axes;
}

/// Whether a value has a scale for each index of an axis. No node transposes such integers.
bool has_scale_axis(const ir::Graph& graph, ValueId id) {
    const auto& quantization = graph.values[id].quantization;
    return quantization && quantization->axis;
}

/// The axis of scales of a tensor that is transposed by `axes`.
void move_scales(ir::Value& value, const Axes& axes) {
    if (!value.quantization || !value.quantization->axis) return;
    value.quantization->axis = inverse_of(axes)[*value.quantization->axis];
}

/// An activation with its axes in another order, which is another value.
ir::Value permuted_value(const ir::Value& value, const Axes& axes) {
    ir::Value result = value;
    result.shape = permuted_shape(value.shape, axes);
    move_scales(result, axes);
    result.file_axes.clear();
    result.conversion = Conversion::Nearest;
    result.before.reset();
    return result;
}

/// A constant with leading axes of extent 1, so that it has `rank` axes.
ir::Value widened(ir::Value value, std::size_t rank) {
    std::vector<std::uint32_t> extents(rank - value.shape.rank(), 1);
    const auto added = static_cast<std::uint32_t>(extents.size());
    extents.insert(extents.end(), value.shape.extents().begin(), value.shape.extents().end());
    value.shape = ir::Shape(extents);
    if (value.quantization && value.quantization->axis) *value.quantization->axis += added;
    return value;
}

/// A constant with its axes in another order.
ir::Value permuted_constant(const ir::Value& value, const Axes& axes) {
    ir::Value result = permuted_value(value, axes);
    if (!value.constant->is_known()) return result;
    ir::Graph scratch;
    const ValueId id = scratch.add_constant(value.name, value.shape, value.type, *value.constant);
    const ValueId permuted = scratch.append(value.name, operators::registry().at("transpose"),
                                            {{"permutation", integers_of(axes)}}, {id});
    scratch.fold_last_node();
    result.constant = scratch.values[permuted].constant;
    return result;
}

/// The element of a tensor that is each element of its transposition.
std::vector<std::size_t> element_order(const ir::Shape& shape, const Axes& axes) {
    std::vector<std::size_t> strides(shape.rank(), 1);
    for (std::size_t axis = shape.rank(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
    const ir::Shape to = permuted_shape(shape, axes);
    std::vector<std::size_t> order(shape.elements());
    for (std::size_t element = 0; element < order.size(); ++element) {
        std::size_t rest = element;
        for (std::size_t axis = to.rank(); axis-- > 0; rest /= to[axis]) {
            order[element] += rest % to[axis] * strides[axes[axis]];
        }
    }
    return order;
}

/// Builds the graph anew. A value of the old graph is a value of the new one (`base`), transposed by `axes`,
/// and then perhaps reshaped; transpositions and reshapes are added only where a node cannot do without.
class Mover {
public:
    explicit Mover(ir::Graph graph) : old_(std::move(graph)), views_(old_.values.size()) {
        const ir::BorderValues border(old_);
        new_.name = old_.name;
        new_.has_weights = old_.has_weights;
        new_.repeated = old_.repeated;
        new_.detours = old_.detours;
        new_.constant_outputs = std::move(old_.constant_outputs);
        for (ValueId id = 0; id < old_.values.size(); ++id) {
            if (!old_.values[id].constant && !border.is_input(id)) continue;
            set(id, add(old_.values[id]));
        }
        for (const ValueId input : old_.inputs) new_.inputs.push_back(views_[input].base);
        new_.caches = old_.caches;
        for (const ir::Graph::Cache& cache : old_.caches) grown_.insert(old_.outputs[cache.output]);
    }

    ir::Graph move() && {
        for (const ir::Node& node : old_.nodes) {
            if (node.is("transpose") && !has_scale_axis(old_, node.output())) {
                transpose(node);
            } else if (node.is("reshape")) {
                reshape(node);
            } else if (node.is("dense")) {
                append_dense(node);
            } else if (!append_permuted(node)) {
                append(node);
            }
        }
        for (const ValueId output : old_.outputs) {
            if (views_[output].materialized) whole_.insert(*views_[output].materialized);
        }
        inputs_.insert(new_.inputs.begin(), new_.inputs.end());
        for (const ValueId output : old_.outputs) set_output(output);
        ir::remove_unread(new_);
        return std::move(new_);
    }

private:
    struct View {
        ValueId base = 0;
        Axes axes;
        bool is_reshaped = false;
        std::optional<ValueId> materialized = {};
    };

    ValueId add(ir::Value value) {
        new_.values.push_back(std::move(value));
        return static_cast<ValueId>(new_.values.size() - 1);
    }
    void set(ValueId id, ValueId base) {
        views_[id] = {base, identity_of(new_.values[base].shape.rank()), false, base};
    }

    /// Adds a transpose or a reshape; the result has the type and quantization of its input.
    ValueId add_move(const ir::Value& result, const char* op, const char* attribute,
                     std::span<const std::uint32_t> numbers, ValueId from) {
        const ir::Operator& mover = operators::registry().at(op);
        ir::Value value = result;
        value.range.reset();
        const ValueId to = add(std::move(value));
        new_.nodes.push_back(
            {.name = result.name,
             .op = &mover,
             .attributes = ir::complete_attributes(mover, {{attribute, integers_of(numbers)}}),
             .inputs = {from},
             .outputs = {to}});
        return to;
    }

    /// The value of the new graph that is a value of the old one.
    ValueId materialized(ValueId id) {
        View& view = views_[id];
        if (view.materialized) return *view.materialized;
        ValueId value = view.base;
        const ir::Shape shape = new_.values[value].shape;
        const ir::Value& wanted = old_.values[id];
        ir::Value moved = wanted;
        moved.shape = permuted_shape(shape, view.axes);
        if (moved.shape != wanted.shape) {
            moved.file_axes.clear();
            moved.before.reset();
        }
        if (keeps_elements(shape, view.axes)) {
            if (shape != wanted.shape) {
                value = add_move(wanted, "reshape", "shape", wanted.shape.extents(), value);
            }
        } else {
            value = add_move(moved, "transpose", "permutation", view.axes, value);
            if (moved.shape != wanted.shape) {
                value = add_move(wanted, "reshape", "shape", wanted.shape.extents(), value);
            }
        }
        view.materialized = value;
        return value;
    }

    void transpose(const ir::Node& node) {
        const View& input = views_[node.inputs.front()];
        if (input.is_reshaped) {
            set_view(node.output(), {materialized(node.inputs.front()), axes_of(node), false, {}});
        } else {
            set_view(node.output(), {input.base, composed(input.axes, axes_of(node)), false, {}});
        }
    }

    void set_view(ValueId id, View view) {
        if (!view.is_reshaped && is_identity(view.axes)) view.materialized = view.base;
        views_[id] = std::move(view);
    }

    void reshape(const ir::Node& node) {
        View view = views_[node.inputs.front()];
        const ir::Shape& shape = old_.values[node.output()].shape;
        if (shape == permuted_shape(new_.values[view.base].shape, view.axes)) {
            // It is what it was before it was reshaped.
            if (view.is_reshaped) view.materialized.reset();
            view.is_reshaped = false;
            set_view(node.output(), std::move(view));
            return;
        }
        if (!view.is_reshaped && is_identity(view.axes)) {
            append(node);
            return;
        }
        view.is_reshaped = true;
        view.materialized.reset();
        views_[node.output()] = std::move(view);
    }

    /// A dense layer reads elements, so it may read them in another order, with its weights in the same.
    void append_dense(const ir::Node& node) {
        const ir::NodeView old(old_, node);
        // Weights that another node computes have the order that they have.
        if (old.computed_parameter()) return append(node);
        ir::Node added = node;
        std::vector<std::vector<std::size_t>> orders;
        bool is_moved = false;
        for (std::size_t i = 0, count = old.data_inputs(); i < count; ++i) {
            const View& view = views_[node.inputs[i]];
            const ir::Shape& shape = new_.values[view.base].shape;
            added.inputs[i] = view.base;
            const bool in_order = keeps_elements(shape, view.axes);
            orders.push_back(in_order ? std::vector<std::size_t>() : element_order(shape, view.axes));
            is_moved |= !in_order;
        }
        for (std::size_t i = orders.size(); i < added.inputs.size(); ++i) {
            added.inputs[i] = views_[added.inputs[i]].base;
        }
        if (is_moved) {
            ValueId& weights = added.inputs[orders.size()];
            weights = add(ordered_rows(old, orders));
        }
        finish(std::move(added));
    }

    /// The weights of a dense layer with their rows in the order in which it now reads its inputs.
    static ir::Value ordered_rows(const ir::NodeView& node,
                                  const std::vector<std::vector<std::size_t>>& orders) {
        ir::Value weights = *node.constant(0);
        if (!weights.constant->is_known()) return weights;
        const std::span<const std::uint8_t> from = weights.constant->bytes();
        std::vector<std::uint8_t> to(from.begin(), from.end());
        const std::size_t row = std::size_t{weights.shape[1]} * bytes_of(weights.type);
        std::size_t first = 0;
        for (std::size_t input = 0; input < orders.size(); ++input) {
            const std::vector<std::size_t>& order = orders[input];
            for (std::size_t i = 0; i < order.size(); ++i) {
                std::memcpy(to.data() + (first + order[i]) * row, from.data() + (first + i) * row, row);
            }
            first += node.input(input).shape.elements();
        }
        weights.constant = ir::Constant::of(std::move(to));
        return weights;
    }

    /// Adds a node as it is.
    void append(const ir::Node& node) {
        ir::Node added = node;
        for (ValueId& input : added.inputs) input = materialized(input);
        finish(std::move(added));
    }

    /// Adds a node whose results are those of the old graph.
    void finish(ir::Node node) {
        for (ValueId& output : node.outputs) {
            const ValueId old = output;
            output = add(old_.values[old]);
            set(old, output);
        }
        new_.nodes.push_back(std::move(node));
    }

    /// The order in which a node would best read its inputs: that of the first input that is transposed and
    /// would have to be moved.
    std::optional<Axes> wanted_axes(const ir::Node& node) const {
        for (const ValueId input : node.inputs) {
            const View& view = views_[input];
            if (old_.values[input].constant || view.is_reshaped || is_identity(view.axes)) continue;
            if (!keeps_elements(new_.values[view.base].shape, view.axes)) return inverse_of(view.axes);
        }
        return std::nullopt;
    }

    /// The value that is an input of the old graph with its axes in another order; nullopt if there is none
    /// without moving elements.
    std::optional<ValueId> input_in(ValueId id, const Axes& axes, std::size_t rank) {
        const ir::Value& value = old_.values[id];
        if (value.constant) {
            if (value.shape.rank() > rank) return std::nullopt;
            if (value.shape.elements() == 1) return views_[id].base;
            return add(permuted_constant(widened(value, rank), axes));
        }
        const View& view = views_[id];
        if (value.shape.elements() == 1 && value.shape.rank() < rank) return materialized(id);
        if (value.shape.rank() != rank || (value.quantization && value.quantization->axis)) {
            return std::nullopt;
        }
        if (!view.is_reshaped && composed(view.axes, axes) == identity_of(rank)) return view.base;
        // Where only an axis has elements, or they stay in order, a reshape does.
        const Axes order = view.is_reshaped ? axes : composed(view.axes, axes);
        if (view.is_reshaped && !keeps_elements(new_.values[view.base].shape, view.axes)) return std::nullopt;
        const ir::Shape& from = view.is_reshaped ? value.shape : new_.values[view.base].shape;
        if (!keeps_elements(from, order)) return std::nullopt;
        const ir::Value moved = permuted_value(value, axes);
        return add_move(moved, "reshape", "shape", moved.shape.extents(), view.base);
    }

    /// Adds a node that reads its inputs before they are transposed, if there is one.
    bool append_permuted(const ir::Node& node) {
        const auto axes = wanted_axes(node);
        if (!axes) return false;
        const ir::NodeView old(old_, node);
        const auto permuted = operators::operator_of(node).permuted(old, *axes);
        if (!permuted ||
            std::ranges::any_of(node.outputs, [&](ValueId id) { return has_scale_axis(old_, id); })) {
            return false;
        }
        ir::Node added = node;
        added.attributes = permuted->attributes;
        for (ValueId& input : added.inputs) {
            if (old_.values[input].constant && !permuted->broadcasts_constants) {
                input = views_[input].base;
                continue;
            }
            const auto moved = input_in(input, *axes, axes->size());
            if (!moved) return false;
            input = *moved;
        }
        const Axes& result_axes = permuted->result_axes;
        for (ValueId& output : added.outputs) {
            const ValueId id = output;
            const ir::Value& value = old_.values[id];
            // A number beside the tensor, such as its scale, has no axes.
            if (value.shape.rank() == 0) {
                output = add(value);
                set(id, output);
                continue;
            }
            output = add(permuted_value(value, result_axes));
            set_view(id, {output, inverse_of(result_axes), false, {}});
        }
        new_.nodes.push_back(std::move(added));
        return true;
    }

    void set_output(ValueId id) {
        const View& view = views_[id];
        const ir::Value& wanted = old_.values[id];
        ir::Value& base = new_.values[view.base];
        // Another output may be the value as it is.
        const bool is_free = !view.is_reshaped && !view.materialized && !base.constant &&
                             !whole_.contains(view.base) && !is_border(view.base) &&
                             (!grown_.contains(id) || is_identity(view.axes));
        if (!is_free) {
            ValueId value = materialized(id);
            whole_.insert(value);
            const ir::Value& found = new_.values[value];
            if (is_border(value) && (found.file_axes != wanted.file_axes || found.name != wanted.name)) {
                // A value has one name, and one order of the file's axes.
                const Axes same = identity_of(wanted.shape.rank());
                value = add_move(wanted, "transpose", "permutation", same, value);
            }
            if (!inputs_.contains(value)) new_.values[value].name = wanted.name;
            add_output(value);
            return;
        }
        base.name = wanted.name;
        base.file_axes = wanted.file_axes.empty() ? view.axes : composed(view.axes, wanted.file_axes);
        base.before = wanted.before;
        add_output(view.base);
    }

    void add_output(ValueId id) {
        new_.outputs.push_back(id);
        outputs_.insert(id);
    }
    bool is_border(ValueId id) const { return inputs_.contains(id) || outputs_.contains(id); }

    ir::Graph old_;
    ir::Graph new_;
    std::vector<View> views_;    ///< by value of the old graph
    std::set<ValueId> inputs_;   ///< of the new graph
    std::set<ValueId> outputs_;  ///< of the new graph, so far
    std::set<ValueId> whole_;    ///< of the new graph: they are outputs of the old one as they are
    std::set<ValueId> grown_;    ///< outputs of the old graph that are caches
};

/// The transposition that all readers of a value are, if it is the same.
std::optional<Axes> transposed_by_all(const ir::Graph& graph, const std::vector<ir::NodeId>& readers) {
    std::optional<Axes> axes;
    for (const ir::NodeId reader : readers) {
        const ir::Node& node = graph.nodes[reader];
        if (!node.is("transpose") || (axes && *axes != axes_of(node))) return std::nullopt;
        axes = axes_of(node);
    }
    return axes;
}

/// Moves transpositions that all readers of a node's result are before the node, so that they may reach an
/// input: from the last node on, because what has been moved may go on.
class Raiser {
public:
    explicit Raiser(ir::Graph& graph)
        : graph_(graph),
          count_(graph.nodes.size()),
          readers_(ir::readers(graph)),
          is_output_(graph.values.size(), false),
          before_(count_),
          removed_(count_, false) {
        for (const ValueId output : graph.outputs) is_output_[output] = true;
    }

    void raise_all() {
        bool has_raised = false;
        for (std::size_t position = count_; position-- > 0;) {
            while (raise(position)) has_raised = true;
        }
        if (!has_raised) return;
        std::vector<ir::Node> nodes;
        const auto keep = [&](std::size_t id) {
            if (!removed_[id]) nodes.push_back(std::move(graph_.nodes[id]));
        };
        for (std::size_t position = 0; position < count_; ++position) {
            std::ranges::for_each(before_[position], keep);
            keep(position);
        }
        graph_.nodes = std::move(nodes);
        ir::remove_unread(graph_);
    }

private:
    bool raise(std::size_t position) {
        const ir::NodeView view(graph_, graph_.nodes[position]);
        if (removed_[position] || view.node().outputs.size() != 1 || view.node().is("transpose"))
            return false;
        const ValueId result = view.node().output();
        const auto axes = transposed_by_all(graph_, readers_[result]);
        if (!axes || is_output_[result] || view.data_inputs() != 1 || view.input().constant ||
            view.input().shape.rank() != axes->size()) {
            return false;
        }
        const auto permuted = operators::operator_of(view.node()).permuted(view, *axes);
        if (!permuted || permuted->result_axes != *axes || has_scale_axis(graph_, result) ||
            has_scale_axis(graph_, view.node().inputs.front())) {
            return false;
        }
        const bool is_wider =
            permuted->broadcasts_constants && std::ranges::any_of(view.node().inputs, [&](ValueId input) {
                return graph_.values[input].shape.rank() > axes->size();
            });
        const auto makes_output = [&](ir::NodeId reader) {
            return is_output_[graph_.nodes[reader].output()];
        };
        if (is_wider ||
            (readers_[result].size() > 1 && std::ranges::any_of(readers_[result], makes_output))) {
            return false;
        }

        ir::Node node = view.node();
        node.attributes = permuted->attributes;
        ir::Node transpose = graph_.nodes[readers_[result].front()];
        for (ValueId& input : node.inputs) {
            const ir::Value& value = graph_.values[input];
            if (value.constant) {
                if (value.shape.elements() == 1 || !permuted->broadcasts_constants) continue;
                input = add(permuted_constant(widened(value, axes->size()), *axes));
                continue;
            }
            transpose.inputs = {input};
            ir::Value moved = permuted_value(value, *axes);
            const auto id = static_cast<ir::NodeId>(graph_.nodes.size());
            std::ranges::replace(readers_[input], static_cast<ir::NodeId>(position), id);
            input = add(std::move(moved));
            readers_[input] = {static_cast<ir::NodeId>(position)};
            transpose.outputs = {input};
        }
        read_directly(result, *axes);
        graph_.nodes[position] = std::move(node);
        before_[position].push_back(graph_.nodes.size());
        graph_.nodes.push_back(std::move(transpose));
        removed_.push_back(false);
        return true;
    }

    ValueId add(ir::Value value) {
        graph_.values.push_back(std::move(value));
        readers_.emplace_back();
        is_output_.push_back(false);
        return static_cast<ValueId>(graph_.values.size() - 1);
    }

    /// Removes the transpositions of a result, which now has their axes itself and takes the place of what
    /// they were.
    void read_directly(ValueId result, const Axes& axes) {
        const std::vector<ir::NodeId> all = std::exchange(readers_[result], {});
        graph_.values[result].shape = permuted_shape(graph_.values[result].shape, axes);
        graph_.values[result].before = graph_.values[graph_.nodes[all.front()].output()].before;
        for (const ir::NodeId gone : all) {
            const ValueId moved = graph_.nodes[gone].output();
            removed_[gone] = true;
            for (const ir::NodeId reader : readers_[moved]) {
                std::ranges::replace(graph_.nodes[reader].inputs, moved, result);
                readers_[result].push_back(reader);
            }
            if (!is_output_[moved]) continue;
            graph_.values[result].name = graph_.values[moved].name;
            graph_.values[result].file_axes = graph_.values[moved].file_axes;
            std::ranges::replace(graph_.outputs, moved, result);
            is_output_[result] = true;
        }
    }

    ir::Graph& graph_;
    const std::size_t count_;  ///< of nodes before the pass; those that are added lie behind them for now
    std::vector<std::vector<ir::NodeId>> readers_;  ///< by value
    std::vector<bool> is_output_;                   ///< by value
    std::vector<std::vector<std::size_t>> before_;  ///< by node: those that are added before it
    std::vector<bool> removed_;                     ///< by node
};

/// Lets inputs that are only read transposed have that order themselves.
void absorb_into_inputs(ir::Graph& graph) {
    const auto readers = ir::readers(graph);
    const ir::BorderValues border(graph);
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
        const ValueId input = graph.inputs[i];
        const auto axes = transposed_by_all(graph, readers[input]);
        const auto is_this = [&](const ir::Graph::Cache& cache) { return cache.input == i; };
        const bool is_cache = std::ranges::any_of(graph.caches, is_this);
        if (!axes || is_cache || border.is_output(input)) continue;
        ir::Value& value = graph.values[input];
        const Axes inverse = inverse_of(*axes);
        value.file_axes =
            composed(inverse, value.file_axes.empty() ? identity_of(axes->size()) : value.file_axes);
        if (is_identity(value.file_axes)) value.file_axes.clear();
        value.shape = permuted_shape(value.shape, *axes);
        for (const ir::NodeId reader : readers[input]) {
            graph.nodes[reader].set("permutation", integers_of(identity_of(axes->size())));
        }
    }
    std::vector<bool> removed;
    for (const ir::Node& node : graph.nodes) {
        const bool is_moved = node.is("transpose") && is_identity(axes_of(node)) &&
                              !(border.is_input(node.inputs.front()) && border.is_output(node.output()));
        removed.push_back(is_moved);
    }
    ir::remove_nodes(graph, removed);
}

}  // namespace

ir::Graph move_transposes(ir::Graph graph) {
    if (std::ranges::none_of(graph.nodes, [](const ir::Node& node) { return node.is("transpose"); })) {
        return graph;
    }
    graph = Mover(std::move(graph)).move();
    Raiser(graph).raise_all();
    absorb_into_inputs(graph);
    return graph;
}

}  // namespace systole::passes
