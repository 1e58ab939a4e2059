#include "compiler/operators/dense/recurrence.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "compiler/ir/graph.h"
#include "compiler/operators/dense/row_product.h"
#include "compiler/operators/file_nodes.h"

namespace systole::operators {
namespace {

using Integers = std::vector<std::int64_t>;
using ir::ValueId;

/// One index, or some, along an axis, which stays.
ValueId part_along(ir::LayerReader& layer, ValueId value, std::size_t axis, std::int64_t first,
                   std::int64_t length) {
    Integers count = extents_of(layer.value(value).shape);
    if (count[axis] == length) return value;
    Integers begin(count.size(), 0);
    const Integers step(count.size(), 1);
    begin[axis] = first;
    count[axis] = length;
    return append_same(layer, "strided_slice", {{"first", begin}, {"step", step}, {"count", count}}, {value});
}

/// The steps of a cell, each after the one before it.
class Recurrence {
public:
    Recurrence(ir::LayerReader& layer, const RecurrentCell& cell, ValueId sequence,
               const RecurrentState& state)
        : layer_(layer), cell_(cell), state_(state) {
        const ir::Shape& shape = layer.value(sequence).shape;
        batch_ = shape[0];
        steps_ = shape[1];
        for (std::size_t gate = 0; gate < gate_count(cell.kind); ++gate) {
            const auto bias = cell.biases.empty() ? std::nullopt : std::optional(cell.biases[gate]);
            inputs_.push_back(append_row_product(layer, {sequence, cell.input_weights[gate]}, bias));
        }
    }

    std::int64_t steps() const { return steps_; }
    const RecurrentState& state() const { return state_; }

    ValueId step(std::int64_t index) {
        step_ = index;
        switch (cell_.kind) {
            case RecurrentKind::Simple:
                state_.hidden = cell_.candidate_function(layer_, clipped(sum(0, state_.hidden)));
                break;
            case RecurrentKind::Gru:
                state_.hidden = gru_step();
                break;
            case RecurrentKind::Lstm:
                lstm_step();
                break;
        }
        return *state_.hidden;
    }

private:
    ValueId pair(const char* op, ValueId a, ValueId b) { return layer_.append(op, {}, {a, b}); }

    /// What the inputs of this step add to a gate.
    ValueId of_inputs(std::size_t gate) {
        const ValueId part = part_along(layer_, inputs_[gate], 1, step_, 1);
        const std::int64_t hidden = layer_.value(part).shape[2];
        return reshaped(layer_, part, {batch_, hidden});
    }

    /// The sum of a gate: what inputs and a state add.
    ValueId sum(std::size_t gate, const std::optional<ValueId>& state) {
        const ValueId inputs = of_inputs(gate);
        if (!state) return inputs;
        return pair("add", inputs, append_row_product(layer_, {*state, cell_.state_weights[gate]}));
    }

    ValueId clipped(ValueId sum) {
        if (!cell_.clip) return sum;
        const double limit = *cell_.clip;
        return layer_.append("clip", {{"minimum", -limit}, {"maximum", limit}}, {sum});
    }

    ValueId gate(ValueId sum) { return cell_.gate_function(layer_, clipped(sum)); }

    /// (1 - z) n + z h, as n + z (h - n).
    ValueId gru_step() {
        const std::size_t last = gate_count(cell_.kind) - 1;
        const std::optional<ValueId> hidden = state_.hidden;
        const ValueId candidate = cell_.candidate_function(layer_, clipped(gru_candidate(last)));
        const ValueId update = gate(sum(gates::update, hidden));
        if (!hidden) return pair("subtract", candidate, pair("multiply", update, candidate));
        return pair("add", candidate, pair("multiply", update, pair("subtract", *hidden, candidate)));
    }

    ValueId gru_candidate(std::size_t candidate) {
        const std::optional<ValueId> hidden = state_.hidden;
        if (!hidden && !cell_.product_bias) return of_inputs(candidate);
        const ValueId reset = gate(sum(gates::reset, hidden));
        if (!cell_.resets_product) {
            return sum(candidate, pair("multiply", reset, *hidden));
        }
        const ValueId product =
            hidden ? append_row_product(layer_, {*hidden, cell_.state_weights[candidate]}, cell_.product_bias)
                   : *cell_.product_bias;
        return pair("add", of_inputs(candidate), pair("multiply", reset, product));
    }

    /// A sum with what the memory adds to a gate.
    ValueId with_peephole(ValueId sum, std::size_t gate, const std::optional<ValueId>& memory) {
        if (cell_.peepholes.empty() || !memory) return sum;
        return pair("add", sum, pair("multiply", *memory, cell_.peepholes[gate]));
    }

    void lstm_step() {
        const std::size_t last = gate_count(cell_.kind) - 1;
        const std::optional<ValueId> hidden = state_.hidden;
        const std::optional<ValueId> memory = state_.memory;
        const ValueId input = gate(with_peephole(sum(gates::input, hidden), gates::input, memory));
        const ValueId candidate = cell_.candidate_function(layer_, clipped(sum(last, hidden)));
        ValueId next = pair("multiply", input, candidate);
        if (memory) {
            const ValueId forget =
                cell_.couples_gates ? pair("subtract", layer_.constant("one", {1}, {1.0F}), input)
                                    : gate(with_peephole(sum(gates::forget, hidden), gates::forget, memory));
            next = pair("add", pair("multiply", forget, *memory), next);
        }
        const ValueId output = gate(with_peephole(sum(gates::output, hidden), gates::output, next));
        state_ = {pair("multiply", output, cell_.result_function(layer_, next)), next};
    }

    ir::LayerReader& layer_;
    const RecurrentCell& cell_;
    RecurrentState state_;
    std::vector<ValueId> inputs_;  ///< by gate: what the inputs add, [batch][steps][hidden]
    std::int64_t batch_ = 1;
    std::int64_t steps_ = 1;
    std::int64_t step_ = 0;
};

}  // namespace

void add_two_biases(ir::LayerReader& layer, RecurrentCell& cell, ValueId biases,
                    const std::vector<std::size_t>& order) {
    const std::size_t count = order.size();
    for (std::size_t gate = 0; gate < count; ++gate) {
        const ValueId of_input = gate_columns(layer, biases, order[gate], 2 * count);
        const ValueId of_state = gate_columns(layer, biases, count + order[gate], 2 * count);
        if (cell.resets_product && gate + 1 == count) {
            cell.biases.push_back(of_input);
            cell.product_bias = unless_zero(layer, of_state);
        } else {
            cell.biases.push_back(layer.append("add", {}, {of_input, of_state}));
        }
    }
}

RecurrentResult append_recurrence(ir::LayerReader& layer, const RecurrentCell& cell, ValueId sequence,
                                  const RecurrentState& initial, bool goes_backwards) {
    // A slice, a product, an addition and a function for each gate, and what combines them.
    constexpr std::uint64_t least_nodes_of_gate = 4;
    constexpr std::uint64_t most_nodes = 65535;  // as many as a program of TPU v1 has layers
    const std::uint64_t steps = layer.value(sequence).shape[1];
    const std::uint64_t nodes = steps * gate_count(cell.kind) * least_nodes_of_gate;
    if (nodes > most_nodes) {
        layer.fail(
            fmt::format("it has {} steps, which are {} nodes or more; a recurrent layer may be at most {}",
                        steps, nodes, most_nodes));
    }
    Recurrence recurrence(layer, cell, sequence, initial);
    RecurrentResult result;
    for (std::int64_t made = 0; made < recurrence.steps(); ++made)
        result.steps.push_back(recurrence.step(goes_backwards ? recurrence.steps() - 1 - made : made));
    if (goes_backwards) std::ranges::reverse(result.steps);
    result.last = recurrence.state();
    return result;
}

ValueId append_sequence(ir::LayerReader& layer, const std::vector<ValueId>& steps) {
    std::vector<ValueId> parts;
    for (const ValueId step : steps) {
        const ir::Shape& shape = layer.value(step).shape;
        parts.push_back(reshaped(layer, step, {shape[0], 1, shape[1]}));
    }
    if (parts.size() == 1) return parts.front();
    return layer.append("concat", {{"axis", std::int64_t{1}}}, std::move(parts));
}

ValueId gate_columns(ir::LayerReader& layer, ValueId constant, std::size_t gate, std::size_t gates) {
    const ir::Shape& shape = layer.value(constant).shape;
    const std::size_t axis = shape.rank() - 1;
    const auto hidden = static_cast<std::int64_t>(shape[axis] / gates);
    return part_along(layer, constant, axis, static_cast<std::int64_t>(gate) * hidden, hidden);
}

std::optional<ValueId> unless_zero(const ir::LayerReader& layer, ValueId value) {
    const ir::Value& given = layer.value(value);
    if (!given.constant || !given.constant->is_known() || given.type != DataType::Float32) return value;
    const std::span<const float> numbers = given.constant->values<float>();
    const bool is_zero = std::ranges::all_of(numbers, [](float number) { return number == 0.0F; });
    return is_zero ? std::nullopt : std::optional(value);
}

}  // namespace systole::operators
