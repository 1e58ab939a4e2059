// The recurrent layers of ONNX, step by step.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/message_text.h"
#include "compiler/ir/graph.h"
#include "compiler/operators/dense/recurrence.h"
#include "compiler/operators/dense/row_product.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/onnx_images.h"

namespace systole::operators {
namespace {

using Integers = std::vector<std::int64_t>;
using ir::ValueId;

// The inputs of a node.
constexpr std::size_t sequence_input = 0;
constexpr std::size_t weights_input = 1;
constexpr std::size_t state_weights_input = 2;
constexpr std::size_t bias_input = 3;
constexpr std::size_t lengths_input = 4;
constexpr std::size_t hidden_input = 5;
constexpr std::size_t memory_input = 6;
constexpr std::size_t peephole_input = 7;

struct OnnxCell {
    RecurrentKind cell = RecurrentKind::Simple;
    const char* name = "";
    /// By gate of the cell: where the file has its weights.
    std::vector<std::size_t> order = {};
    std::vector<std::string> functions = {};  ///< of a direction, by default
};

/// A function by its name in a file, and its numbers unless the node gives others.
struct NamedFunction {
    const char* name = "";
    const char* op = "";
    std::optional<float> alpha = {};
    std::optional<float> beta = {};
};
constexpr std::array<NamedFunction, 9> functions{{{"Sigmoid", "sigmoid"},
                                                  {"Tanh", "tanh"},
                                                  {"Relu", "relu"},
                                                  {"Softsign", "softsign"},
                                                  {"Softplus", "softplus"},
                                                  {"LeakyRelu", "leaky_relu", 0.01F},
                                                  {"Elu", "elu", 1.0F},
                                                  {"ThresholdedRelu", "thresholded_relu", 1.0F},
                                                  {"HardSigmoid", "hard_sigmoid", 0.2F, 0.5F}}};

class RecurrentNode {
public:
    RecurrentNode(ir::LayerReader& layer, const OnnxCell& kind)
        : layer_(layer), kind_(kind), batch_is_first_(integer("layout", 0) == 1) {
        read_directions();
        read_sizes();
        read_functions();
    }

    ir::Results append() {
        const ValueId sequence = sequence_with_batch_first();
        std::vector<ValueId> all;
        std::vector<ValueId> hidden;
        std::vector<ValueId> memory;
        for (std::size_t direction = 0; direction < directions_.size(); ++direction) {
            const RecurrentResult made = append_recurrence(
                layer_, cell(direction), sequence,
                {initial(hidden_input, direction), initial(memory_input, direction)}, directions_[direction]);
            all.push_back(with_direction(append_sequence(layer_, made.steps)));
            hidden.push_back(state_of_direction(*made.last.hidden));
            if (made.last.memory) memory.push_back(state_of_direction(*made.last.memory));
        }
        const std::size_t direction_axis = batch_is_first_ ? 2 : 1;
        const std::size_t axis_of_state = batch_is_first_ ? 1 : 0;
        std::vector<ValueId> results{all_directions(std::move(all), direction_axis),
                                     all_directions(std::move(hidden), axis_of_state)};
        if (!memory.empty()) results.push_back(all_directions(std::move(memory), axis_of_state));
        results.resize(std::max(layer_.result_count(), std::size_t{1}), ir::no_value);
        return results;
    }

private:
    std::int64_t integer(const char* key, std::int64_t absent) const {
        return integer_of(layer_, key, absent);
    }
    const ir::Shape& shape(ValueId value) const { return layer_.value(value).shape; }

    void read_directions() {
        const std::string direction = layer_.text("direction", "forward");
        if (direction == "forward") {
            directions_ = {false};
        } else if (direction == "reverse") {
            directions_ = {true};
        } else if (direction == "bidirectional") {
            directions_ = {false, true};
        } else {
            layer_.fail("direction", "it must be \"forward\", \"reverse\" or \"bidirectional\"");
        }
    }

    void read_sizes() {
        constexpr std::size_t rank = 3;
        const ir::Shape& given = shape(input_of(layer_, sequence_input));
        if (given.rank() != rank) {
            layer_.fail(fmt::format("its input is {}; it must have 3 axes: steps, batch and elements",
                                    to_text(given)));
        }
        steps_ = given[batch_is_first_ ? 1 : 0];
        batch_ = given[batch_is_first_ ? 0 : 1];
        inputs_ = given[2];
        if (steps_ == 1 && !batch_is_first_ && layer_.has_open_batch()) {
            layer_.fail(
                "its sequence has 1 step, as the first axis of the network's input has no size and counts as "
                "the "
                "batch; its length must be given with --input-shape");
        }
        weights_ = constant_input(layer_, weights_input, "weights");
        state_weights_ = constant_input(layer_, state_weights_input, "weights of the state");
        const ir::Shape& of_state = shape(state_weights_);
        if (of_state.rank() != rank) {
            layer_.fail(
                fmt::format("its weights of the state are {}; they must have 3 axes: directions, gates "
                            "and elements",
                            to_text(of_state)));
        }
        hidden_ = of_state[2];
        check_shapes();
        if (const auto stated = integer("hidden_size", static_cast<std::int64_t>(hidden_));
            stated != static_cast<std::int64_t>(hidden_)) {
            layer_.fail("hidden_size", fmt::format("its weights are for {}", hidden_));
        }
        if (layer_.input_if_any(lengths_input)) {
            const Integers lengths = constant_integers(layer_, lengths_input);
            if (lengths.size() != batch_) {
                layer_.fail(fmt::format("it has {} for a batch of {}; there must be one for each",
                                        counted(lengths.size(), "length"), batch_));
            }
            const bool are_full = std::ranges::all_of(
                lengths, [&](std::int64_t length) { return length == static_cast<std::int64_t>(steps_); });
            if (!are_full) {
                layer_.fail(fmt::format("its sequences have {} steps of {}; all must have all of them",
                                        systole::joined(lengths), steps_));
            }
        }
    }

    /// Throws unless all inputs have the shapes that follow from the sequence, the directions and the state.
    void check_shapes() const {
        const auto extent = [](std::size_t value) { return static_cast<std::uint32_t>(value); };
        const std::uint32_t count = extent(directions_.size());
        const std::uint32_t rows = extent(kind_.order.size() * hidden_);
        const ir::Shape state = batch_is_first_ ? ir::Shape{extent(batch_), count, extent(hidden_)}
                                                : ir::Shape{count, extent(batch_), extent(hidden_)};
        check_shape(weights_input, "weights", {count, rows, extent(inputs_)});
        check_shape(state_weights_input, "weights of the state", {count, rows, extent(hidden_)});
        check_shape(bias_input, "biases", {count, 2 * rows});
        check_shape(hidden_input, "state", state);
        if (kind_.cell != RecurrentKind::Lstm) return;
        check_shape(memory_input, "memory", state);
        check_shape(peephole_input, "peepholes", {count, 3 * extent(hidden_)});
    }
    void check_shape(std::size_t input, const char* role, const ir::Shape& wanted) const {
        const auto given = layer_.input_if_any(input);
        if (!given || shape(*given) == wanted) return;
        layer_.fail(fmt::format("its input {} ({}) is {}; for its sequence and direction it must be {}",
                                input, role, to_text(shape(*given)), to_text(wanted)));
    }

    void read_functions() {
        const std::size_t own = kind_.functions.size();
        std::vector<std::string> names;
        for (std::size_t i = 0; i < directions_.size(); ++i)
            names.insert(names.end(), kind_.functions.begin(), kind_.functions.end());
        if (const auto given = layer_.texts("activations")) {
            if (given->size() != names.size()) {
                layer_.fail("activations", fmt::format("it has {}; it must have {} for each direction",
                                                       counted(given->size(), "name"), own));
            }
            names = *given;
        }
        // The numbers are those of the functions that take some, in their order.
        std::vector<double> alphas = layer_.numbers("activation_alpha").value_or(std::vector<double>{});
        std::vector<double> betas = layer_.numbers("activation_beta").value_or(std::vector<double>{});
        std::ranges::reverse(alphas);
        std::ranges::reverse(betas);
        const auto take = [](std::vector<double>& numbers, float absent) {
            if (numbers.empty()) return double{absent};
            const double number = numbers.back();
            numbers.pop_back();
            return number;
        };
        for (const std::string& name : names) {
            const auto* const known = std::ranges::find_if(
                functions, [&](const NamedFunction& function) { return name == function.name; });
            if (known == functions.end()) {
                layer_.fail("activations",
                            fmt::format("{} is not supported: docs/operators.md lists those that are",
                                        in_quotes(name)));
            }
            std::vector<ir::NamedAttribute> attributes;
            if (known->alpha) attributes.emplace_back("alpha", take(alphas, *known->alpha));
            if (known->beta) attributes.emplace_back("beta", take(betas, *known->beta));
            functions_.emplace_back([op = known->op, attributes](ir::LayerReader& layer, ValueId value) {
                return layer.append(op, attributes, {value});
            });
        }
    }

    ValueId sequence_with_batch_first() {
        const ValueId given = input_of(layer_, sequence_input);
        return batch_is_first_ ? given : exchanged(given);
    }

    /// The first two axes in the other order.
    ValueId exchanged(ValueId value) {
        const ir::Shape& from = shape(value);
        Integers extents = extents_of(from);
        std::swap(extents[0], extents[1]);
        if (from[0] == 1 || from[1] == 1) return reshaped(layer_, value, extents);
        Integers permutation;
        for (std::size_t axis = 0; axis < from.rank(); ++axis)
            permutation.push_back(axis < 2 ? static_cast<std::int64_t>(1 - axis)
                                           : static_cast<std::int64_t>(axis));
        return append_same(layer_, "transpose", {{"permutation", permutation}}, {value});
    }

    /// The part of a constant or a state for one direction, without that axis.
    ValueId of_direction(ValueId value, std::size_t direction, std::size_t axis = 0) {
        Integers count = extents_of(shape(value));
        Integers kept = count;
        kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(axis));
        if (directions_.size() > 1) {
            Integers first(count.size(), 0);
            first[axis] = static_cast<std::int64_t>(direction);
            count[axis] = 1;
            const Integers step(count.size(), 1);
            value = append_same(layer_, "strided_slice", {{"first", first}, {"step", step}, {"count", count}},
                                {value});
        }
        return reshaped(layer_, value, kept);
    }

    RecurrentCell cell(std::size_t direction) {
        const std::size_t count = kind_.order.size();
        RecurrentCell cell{.kind = kind_.cell};
        if (directions_.size() > 1) cell.direction = direction == 0 ? "forward" : "backward";
        const ValueId weights = permuted_constant(layer_, of_direction(weights_, direction), {1, 0});
        const ValueId of_state = permuted_constant(layer_, of_direction(state_weights_, direction), {1, 0});
        cell.resets_product = kind_.cell == RecurrentKind::Gru && integer("linear_before_reset", 0) != 0;
        for (const std::size_t place : kind_.order) {
            cell.input_weights.push_back(gate_columns(layer_, weights, place, count));
            cell.state_weights.push_back(gate_columns(layer_, of_state, place, count));
        }
        if (layer_.input_if_any(bias_input)) {
            const ValueId biases = constant_input(layer_, bias_input, "biases");
            add_two_biases(layer_, cell, of_direction(biases, direction), kind_.order);
        }
        const std::size_t own = kind_.functions.size();
        const auto function = [&](std::size_t index) { return functions_[direction * own + index]; };
        cell.gate_function = function(0);
        cell.candidate_function = function(kind_.cell == RecurrentKind::Simple ? 0 : 1);
        if (kind_.cell == RecurrentKind::Lstm) {
            cell.result_function = function(2);
            cell.couples_gates = integer("input_forget", 0) != 0;
            if (layer_.input_if_any(peephole_input)) add_peepholes(cell, direction);
        }
        if (const float clip = layer_.number("clip", 0.0F); clip > 0.0F) cell.clip = clip;
        return cell;
    }

    void add_peepholes(RecurrentCell& cell, std::size_t direction) {
        // In the file for input, output and forget.
        constexpr std::array<std::size_t, 3> order{0, 2, 1};
        const ValueId all = of_direction(constant_input(layer_, peephole_input, "peepholes"), direction);
        for (const std::size_t place : order)
            cell.peepholes.push_back(gate_columns(layer_, all, place, order.size()));
    }

    std::optional<ValueId> initial(std::size_t input, std::size_t direction) {
        if (input == memory_input && kind_.cell != RecurrentKind::Lstm) return std::nullopt;
        const auto given = layer_.input_if_any(input);
        if (!given) return std::nullopt;
        const ValueId state = batch_is_first_ ? exchanged(*given) : *given;
        return unless_zero(layer_, of_direction(state, direction));
    }

    /// [batch][steps][hidden] with an axis for the direction, in the file's order.
    ValueId with_direction(ValueId sequence) {
        const auto [steps, batch, hidden] = extents();
        if (batch_is_first_) return reshaped(layer_, sequence, {batch, steps, 1, hidden});
        return reshaped(layer_, exchanged(sequence), {steps, 1, batch, hidden});
    }
    ValueId state_of_direction(ValueId state) {
        const auto [steps, batch, hidden] = extents();
        return batch_is_first_ ? reshaped(layer_, state, {batch, 1, hidden})
                               : reshaped(layer_, state, {1, batch, hidden});
    }
    std::array<std::int64_t, 3> extents() const {
        return {static_cast<std::int64_t>(steps_), static_cast<std::int64_t>(batch_),
                static_cast<std::int64_t>(hidden_)};
    }

    ValueId all_directions(std::vector<ValueId> directions, std::size_t axis) {
        if (directions.size() == 1) return directions.front();
        return layer_.append("concat", {{"axis", static_cast<std::int64_t>(axis)}}, std::move(directions));
    }

    ir::LayerReader& layer_;
    const OnnxCell& kind_;
    bool batch_is_first_;
    std::vector<bool> directions_;  ///< whether each goes backwards
    std::size_t steps_ = 1;
    std::size_t batch_ = 1;
    std::size_t inputs_ = 1;
    std::size_t hidden_ = 1;
    ValueId weights_ = 0;                    ///< [direction][gates * hidden][inputs]
    ValueId state_weights_ = 0;              ///< [direction][gates * hidden][hidden]
    std::vector<AppendFunction> functions_;  ///< those of each direction
};

ir::LayerKind onnx_recurrence(OnnxCell kind, std::vector<ir::LayerKey> own_keys) {
    std::vector<ir::LayerKey> keys{
        {"direction", "\"forward\", \"reverse\" or \"bidirectional\""},
        {"hidden_size", "the state's elements"},
        {"activations", "the functions of gates, candidate and, of LSTM, result, for each direction"},
        {"activation_alpha", "numbers of functions that have them, in their order"},
        {"activation_beta", "likewise"},
        {"clip", "sums before a function are clamped to it and its negative"},
        {"layout", "0: the steps are the first axis; 1: the batch is"}};
    keys.insert(keys.end(), own_keys.begin(), own_keys.end());
    const char* const name = kind.name;
    return {.format = ir::Format::Onnx,
            .name = name,
            .keys = std::move(keys),
            .build = [kind = std::move(kind)](ir::LayerReader& layer) {
                return RecurrentNode(layer, kind).append();
            }};
}

}  // namespace

std::vector<ir::LayerKind> onnx_recurrences() {
    return {
        onnx_recurrence({.cell = RecurrentKind::Simple, .name = "RNN", .order = {0}, .functions = {"Tanh"}},
                        {}),
        onnx_recurrence(
            {.cell = RecurrentKind::Gru, .name = "GRU", .order = {0, 1, 2}, .functions = {"Sigmoid", "Tanh"}},
            {{"linear_before_reset", "1: the reset gate meets the product of the state; 0: the state"}}),
        onnx_recurrence({.cell = RecurrentKind::Lstm,
                         .name = "LSTM",
                         .order = {0, 2, 1, 3},
                         .functions = {"Sigmoid", "Tanh", "Tanh"}},
                        {{"input_forget", "1: the forget gate is 1 less the input gate"}})};
}

}  // namespace systole::operators
