// The recurrent layers of Keras, step by step.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/message_text.h"
#include "compiler/ir/graph.h"
#include "compiler/operators/dense/recurrence.h"
#include "compiler/operators/dense/row_product.h"
#include "compiler/operators/file_nodes.h"

namespace systole::operators {
namespace {

using ir::ValueId;

constexpr const char* opposite_key = "lists_opposite";

struct KerasCell {
    RecurrentKind cell = RecurrentKind::Simple;
    const char* name = "";
    const char* cell_name = "";           ///< in weights' names
    std::vector<std::size_t> order = {};  ///< by gate of the cell: where the file has its weights
    std::size_t states = 1;
};

/// A function of a gate by the key that names it.
AppendFunction function_of(const char* key) {
    return [key](ir::LayerReader& layer, ValueId value) { return layer.append_function(key, value); };
}

class RecurrentLayer {
public:
    RecurrentLayer(ir::LayerReader& layer, const KerasCell& kind)
        : layer_(layer), kind_(kind), units_(layer.positive("units")) {
        const std::vector<ValueId>& inputs = layer.inputs();
        if (inputs.size() != 1 && inputs.size() != 1 + kind.states) {
            layer.fail(fmt::format("it has {}; it must have 1, or {} with its initial state",
                                   counted(inputs.size(), "input"), 1 + kind.states));
        }
        constexpr std::size_t rank = 3;
        const ir::Shape& shape = layer.value(inputs.front()).shape;
        if (shape.rank() != rank) {
            layer.fail(fmt::format("its input is {}; it must be [batch, steps, elements]", to_text(shape)));
        }
        for (const char* const key : {"stateful", "time_major"}) {
            if (layer.boolean(key, false)) layer.fail(key, "only false is supported");
        }
        elements_ = shape[2];
    }

    ir::Results append() {
        const RecurrentCell cell = read_cell();
        const bool is_backwards = layer_.boolean("go_backwards", false);
        RecurrentResult made =
            append_recurrence(layer_, cell, layer_.inputs().front(), initial_state(), is_backwards);
        ir::Results results(*made.last.hidden);
        if (layer_.boolean("return_sequences", false)) {
            // Keras lists the steps in the order in which they are made, or in the opposite one.
            if (is_backwards != layer_.boolean(opposite_key, false)) std::ranges::reverse(made.steps);
            results.front() = append_sequence(layer_, made.steps);
        }
        if (layer_.boolean("return_state", false)) {
            results.push_back(*made.last.hidden);
            if (made.last.memory) results.push_back(*made.last.memory);
        }
        return results;
    }

private:
    RecurrentState initial_state() const {
        const std::vector<ValueId>& inputs = layer_.inputs();
        RecurrentState state;
        if (inputs.size() > 1) state.hidden = unless_zero(layer_, inputs[1]);
        if (inputs.size() > 2) state.memory = unless_zero(layer_, inputs[2]);
        return state;
    }

    ValueId weights(const char* role, const std::vector<std::uint32_t>& shape) {
        return layer_.weight({.roles = {role},
                              .file_shape = {shape.begin(), shape.end()},
                              .shape = ir::Shape(shape),
                              .is_counted = true,
                              .owner = {"cell", kind_.cell_name, ""}});
    }

    RecurrentCell read_cell() {
        const std::size_t count = kind_.order.size();
        const auto columns = static_cast<std::uint32_t>(count * units_);
        RecurrentCell cell{.kind = kind_.cell};
        cell.gate_function = function_of("recurrent_activation");
        cell.candidate_function = function_of("activation");
        cell.result_function = function_of("activation");
        cell.resets_product = kind_.cell == RecurrentKind::Gru && layer_.boolean("reset_after", false);
        const ValueId kernel = weights("kernel", {elements_, columns});
        const ValueId recurrent = weights("recurrent_kernel", {units_, columns});
        for (const std::size_t place : kind_.order) {
            cell.input_weights.push_back(gate_columns(layer_, kernel, place, count));
            cell.state_weights.push_back(gate_columns(layer_, recurrent, place, count));
        }
        if (!layer_.boolean("use_bias", true)) return cell;
        if (!cell.resets_product) {
            const ValueId bias = weights("bias", {columns});
            for (const std::size_t place : kind_.order)
                cell.biases.push_back(gate_columns(layer_, bias, place, count));
            return cell;
        }
        // Those of the input's products, then those of the state's.
        const ValueId both = weights("bias", {2, columns});
        add_two_biases(layer_, cell, reshaped(layer_, both, {2 * std::int64_t{columns}}), kind_.order);
        return cell;
    }

    ir::LayerReader& layer_;
    const KerasCell& kind_;
    std::uint32_t units_;
    std::uint32_t elements_ = 1;
};

ir::LayerKind keras_recurrence(KerasCell kind) {
    std::vector<ir::LayerKey> keys{
        {"units", "the state's elements"},
        {"activation", "the function of candidate and, of LSTM, result"},
        {"use_bias", "whether there is a bias"},
        {"return_sequences", "whether the result has the state after each step, or the last one alone"},
        {"return_state", "whether the last state is a result, too"},
        {"go_backwards", "whether the last step is the first one that is made"},
        {"stateful", "only false"},
        {"time_major", "only false"},
        {opposite_key, "of the second layer of a Bidirectional: its steps are listed in the opposite order"}};
    if (kind.cell != RecurrentKind::Simple) {
        keys.push_back({"recurrent_activation", "the function of gates"});
    }
    if (kind.cell == RecurrentKind::Gru) {
        keys.push_back(
            {"reset_after", "whether the reset gate meets the product of the state, or the state"});
    }
    const char* const name = kind.name;
    return {.format = ir::Format::Keras,
            .name = name,
            .keys = std::move(keys),
            .build = [kind = std::move(kind)](ir::LayerReader& layer) {
                return RecurrentLayer(layer, kind).append();
            }};
}

}  // namespace

std::vector<ir::LayerKind> keras_recurrences() {
    return {keras_recurrence({.cell = RecurrentKind::Simple,
                              .name = "SimpleRNN",
                              .cell_name = "simple_rnn_cell",
                              .order = {0}}),
            keras_recurrence(
                {.cell = RecurrentKind::Gru, .name = "GRU", .cell_name = "gru_cell", .order = {0, 1, 2}}),
            keras_recurrence({.cell = RecurrentKind::Lstm,
                              .name = "LSTM",
                              .cell_name = "lstm_cell",
                              .order = {0, 1, 3, 2},
                              .states = 2})};
}

}  // namespace systole::operators
