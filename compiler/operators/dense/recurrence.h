#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/layer_kind.h"

/// Recurrent layers, written out step by step: each step has nodes of its own, and all steps the same
/// weights. Each part of a step has a name, "lstm/forget_gate/sum", which it has in all steps
/// (ir::Graph::repeated).
namespace systole::operators {

enum class RecurrentKind : std::uint8_t {
    Simple,  ///< h = f(x W + h R + b)
    Gru,     ///< Cho et al. 2014, arXiv:1406.1078
    Lstm,    ///< Hochreiter and Schmidhuber 1997, with a forget gate
};

/// The gates of a kind in the order of RecurrentCell's lists.
namespace gates {
inline constexpr std::size_t update = 0, reset = 1;              // of a GRU
inline constexpr std::size_t input = 0, forget = 1, output = 2;  // of an LSTM
}  // namespace gates
/// The number of gates with weights; the last one is the candidate.
constexpr std::size_t gate_count(RecurrentKind kind) {
    switch (kind) {
        case RecurrentKind::Simple:
            return 1;
        case RecurrentKind::Gru:
            return 3;
        case RecurrentKind::Lstm:
            return 4;
    }
    return 0;
}

/// Appends the nodes of a function and returns its result.
using AppendFunction = std::function<ir::ValueId(ir::LayerReader&, ir::ValueId)>;

/// A cell in one direction. Its lists have an entry for each gate, the candidate last.
struct RecurrentCell {
    RecurrentKind kind = RecurrentKind::Simple;
    std::string direction = {};                   ///< in the names of its parts; empty: its layer has one
    std::vector<ir::ValueId> input_weights = {};  ///< [inputs][hidden], constants
    std::vector<ir::ValueId> state_weights = {};  ///< [hidden][hidden], constants
    std::vector<ir::ValueId> biases = {};         ///< [hidden]; none: no bias
    AppendFunction gate_function = {};
    AppendFunction candidate_function = {};
    AppendFunction result_function = {};  ///< LSTM: of the memory, before the output gate
    /// GRU: the reset gate meets the product of the state, and not the state itself.
    bool resets_product = false;
    std::optional<ir::ValueId> product_bias = {};  ///< with `resets_product`: added to that product
    std::vector<ir::ValueId> peepholes = {};       ///< LSTM: [hidden] for input, forget, output; or none
    bool couples_gates = false;                    ///< LSTM: the forget gate is 1 less the input gate
    std::optional<float> clip = {};                ///< sums are clamped to it and its negative
};

/// What a cell has before its first step, and after its last one; absent: zeros.
struct RecurrentState {
    std::optional<ir::ValueId> hidden = {};  ///< [batch][hidden]
    std::optional<ir::ValueId> memory = {};  ///< LSTM: the same shape
};

struct RecurrentResult {
    std::vector<ir::ValueId> steps;  ///< the hidden state after each step, [batch][hidden], in time's order
    RecurrentState last;             ///< after the last step that was made
};

/// Appends a cell that goes through a sequence [batch][steps][inputs]. The products of the inputs are one for
/// all steps. Fails for so many steps that a small file would take all memory.
RecurrentResult append_recurrence(ir::LayerReader& layer, const RecurrentCell& cell, ir::ValueId sequence,
                                  const RecurrentState& initial, bool goes_backwards);

/// Results of all steps as one value [batch][steps][hidden].
ir::ValueId append_sequence(ir::LayerReader& layer, const std::vector<ir::ValueId>& steps);

/// The columns of one gate in a constant whose last axis has those of all gates, as long as each other.
ir::ValueId gate_columns(ir::LayerReader& layer, ir::ValueId constant, std::size_t gate, std::size_t gates);

/// Gives a cell the biases of its input's products, of all gates, and those of its state's, behind each other
/// in one constant. `order`: by gate of the cell, where the constant has it.
void add_two_biases(ir::LayerReader& layer, RecurrentCell& cell, ir::ValueId biases,
                    const std::vector<std::size_t>& order);

/// LSTM, GRU and RNN of ONNX.
std::vector<ir::LayerKind> onnx_recurrences();
/// LSTM, GRU and SimpleRNN of Keras. A Bidirectional layer is two of them, which the reader builds and
/// combines.
std::vector<ir::LayerKind> keras_recurrences();

/// nullopt for a constant of zeros, else the value.
std::optional<ir::ValueId> unless_zero(const ir::LayerReader& layer, ir::ValueId value);

}  // namespace systole::operators
