#include "compiler/operators/dense/recurrence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
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

/// The names of gates in those of parts, in the order of RecurrentCell's lists.
constexpr std::array<const char*, 1> simple_names{"state"};
constexpr std::array<const char*, 3> gru_names{"update_gate", "reset_gate", "candidate"};
constexpr std::array<const char*, 4> lstm_names{"input_gate", "forget_gate", "output_gate", "candidate"};

std::span<const char* const> gate_names(RecurrentKind kind) {
    switch (kind) {
        case RecurrentKind::Simple:
            return simple_names;
        case RecurrentKind::Gru:
            return gru_names;
        case RecurrentKind::Lstm:
            return lstm_names;
    }
    return {};
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
            layer.begin_part(name_of(gate, "inputs"));
            inputs_.push_back(append_row_product(layer, {sequence, cell.input_weights[gate]}, bias));
        }
    }

    std::int64_t steps() const { return steps_; }
    const RecurrentState& state() const { return state_; }

    ValueId step(std::int64_t index) {
        step_ = index;
        switch (cell_.kind) {
            case RecurrentKind::Simple:
                state_.hidden = candidate(0, sum(0, state_.hidden));
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
    /// What follows has the name of a part of the cell.
    void begin(const std::string& part) {
        layer_.begin_repeated_part(cell_.direction.empty() ? part : cell_.direction + "/" + part);
    }
    /// The same for a part of a gate; for its result if the part is empty.
    void begin(std::size_t gate, const char* part) { layer_.begin_repeated_part(name_of(gate, part)); }
    std::string name_of(std::size_t gate, std::string_view part) const {
        std::string name = cell_.direction.empty() ? "" : cell_.direction + "/";
        name += gate_names(cell_.kind)[gate];
        return part.empty() ? name : fmt::format("{}/{}", name, part);
    }

    ValueId pair(const char* op, ValueId a, ValueId b) { return layer_.append(op, {}, {a, b}); }
    ValueId part(const std::string& name, const char* op, ValueId a, ValueId b) {
        begin(name);
        return pair(op, a, b);
    }

    /// What the inputs of this step add to a gate.
    ValueId of_inputs(std::size_t gate) {
        begin(gate, "step");
        const ValueId part = part_along(layer_, inputs_[gate], 1, step_, 1);
        const std::int64_t hidden = layer_.value(part).shape[2];
        return reshaped(layer_, part, {batch_, hidden});
    }

    /// What a state adds to a gate.
    ValueId of_state(std::size_t gate, ValueId state, std::optional<ValueId> bias = std::nullopt) {
        begin(gate, "state");
        return append_row_product(layer_, {state, cell_.state_weights[gate]}, bias);
    }

    /// The sum of a gate: what inputs and a state add.
    ValueId sum(std::size_t gate, const std::optional<ValueId>& state) {
        const ValueId inputs = of_inputs(gate);
        if (!state) return inputs;
        const ValueId product = of_state(gate, *state);
        begin(gate, "sum");
        return pair("add", inputs, product);
    }

    ValueId clipped(std::size_t gate, ValueId sum) {
        if (!cell_.clip) return sum;
        const double limit = *cell_.clip;
        begin(gate, "clipped");
        return layer_.append("clip", {{"minimum", -limit}, {"maximum", limit}}, {sum});
    }

    ValueId gate(std::size_t gate, ValueId sum) {
        const ValueId limited = clipped(gate, sum);
        begin(gate, "");
        return cell_.gate_function(layer_, limited);
    }
    ValueId candidate(std::size_t gate, ValueId sum) {
        const ValueId limited = clipped(gate, sum);
        begin(gate, "");
        return cell_.candidate_function(layer_, limited);
    }

    /// (1 - z) n + z h, as n + z (h - n).
    ValueId gru_step() {
        const std::size_t last = gate_count(cell_.kind) - 1;
        const std::optional<ValueId> hidden = state_.hidden;
        const ValueId made = candidate(last, gru_candidate(last));
        const ValueId update = gate(gates::update, sum(gates::update, hidden));
        if (!hidden) {
            const ValueId left_out = part("result/left_out", "multiply", update, made);
            return part("result", "subtract", made, left_out);
        }
        const ValueId difference = part("result/difference", "subtract", *hidden, made);
        const ValueId kept = part("result/kept", "multiply", update, difference);
        return part("result", "add", made, kept);
    }

    ValueId gru_candidate(std::size_t candidate) {
        const std::optional<ValueId> hidden = state_.hidden;
        if (!hidden && !cell_.product_bias) return of_inputs(candidate);
        const ValueId reset = gate(gates::reset, sum(gates::reset, hidden));
        if (!cell_.resets_product) {
            return sum(candidate, part("candidate/reset", "multiply", reset, *hidden));
        }
        const ValueId product =
            hidden ? of_state(candidate, *hidden, cell_.product_bias) : *cell_.product_bias;
        const ValueId kept = part("candidate/reset", "multiply", reset, product);
        return part("candidate/sum", "add", of_inputs(candidate), kept);
    }

    /// A sum with what the memory adds to a gate.
    ValueId with_peephole(ValueId sum, std::size_t gate, const std::optional<ValueId>& memory) {
        if (cell_.peepholes.empty() || !memory) return sum;
        begin(gate, "peephole");
        const ValueId seen = pair("multiply", *memory, cell_.peepholes[gate]);
        begin(gate, "sum_with_peephole");
        return pair("add", sum, seen);
    }

    void lstm_step() {
        const std::size_t last = gate_count(cell_.kind) - 1;
        const std::optional<ValueId> hidden = state_.hidden;
        const std::optional<ValueId> memory = state_.memory;
        const ValueId input =
            gate(gates::input, with_peephole(sum(gates::input, hidden), gates::input, memory));
        const ValueId made = candidate(last, sum(last, hidden));
        ValueId next = part(memory ? "memory/added" : "memory", "multiply", input, made);
        if (memory) {
            const ValueId forget = forget_gate(input, hidden, *memory);
            const ValueId kept = part("memory/kept", "multiply", forget, *memory);
            next = part("memory", "add", kept, next);
        }
        const ValueId output =
            gate(gates::output, with_peephole(sum(gates::output, hidden), gates::output, next));
        begin("result/function");
        const ValueId seen = cell_.result_function(layer_, next);
        state_ = {part("result", "multiply", output, seen), next};
    }

    ValueId forget_gate(ValueId input, const std::optional<ValueId>& hidden, ValueId memory) {
        if (!cell_.couples_gates) {
            return gate(gates::forget, with_peephole(sum(gates::forget, hidden), gates::forget, memory));
        }
        begin(gates::forget, "");
        if (!one_) one_ = layer_.constant("one", {1}, {1.0F});
        return pair("subtract", *one_, input);
    }

    ir::LayerReader& layer_;
    const RecurrentCell& cell_;
    RecurrentState state_;
    std::vector<ValueId> inputs_;  ///< by gate: what the inputs add, [batch][steps][hidden]
    std::optional<ValueId> one_;   ///< of coupled gates
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
    constexpr std::uint64_t most_nodes = std::uint64_t{1} << 19U;  // they take about a gigabyte
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
    layer.begin_part("");
    return result;
}

ValueId append_sequence(ir::LayerReader& layer, const std::vector<ValueId>& steps) {
    std::vector<ValueId> parts;
    for (const ValueId step : steps) {
        const ir::Shape& shape = layer.value(step).shape;
        parts.push_back(reshaped(layer, step, {shape[0], 1, shape[1]}));
    }
    if (parts.size() == 1) return parts.front();
    layer.begin_repeated_part("sequence");
    const ValueId sequence = layer.append("concat", {{"axis", std::int64_t{1}}}, std::move(parts));
    layer.begin_part("");
    return sequence;
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
