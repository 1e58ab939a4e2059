#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/graph.h"

/// The forms of a `sequence_lstm`, and where its node has what a form needs.
namespace systole::operators::sequence_lstm {

/// The gates in the order of files. The candidate is what the input gate lets into the cell.
enum Gate : std::size_t { input_gate, forget_gate, candidate, output_gate };
inline constexpr std::size_t gate_count = 4;
/// The attributes with the scales of the gates' sums, on integers.
inline constexpr std::array<const char*, gate_count> scale_attributes{"input_gate_scale", "forget_gate_scale",
                                                                      "candidate_scale", "output_gate_scale"};
/// What these are without a normalization: the gates' functions read numbers with 3 integer bits.
inline constexpr double function_scale = 1.0 / 4096.0;

/// A number for each gate; those that a form does not have are nullopt.
using ByGate = std::array<std::optional<std::size_t>, gate_count>;

/// What a node has besides the weights and biases of forget gate, candidate and output gate.
struct Form {
    bool has_input_gate = true;  ///< else the input gate is 1 less the forget gate (CIFG)
    bool has_peepholes = false;  ///< the gates also read the cell
    bool projects = false;       ///< the results are a product of what the gates let out
    bool has_projection_bias = false;
    bool normalizes = false;  ///< the sums of each gate are normalized before its bias is added
};
/// By the node's attributes. Throws ModelError for a bias of no projection.
Form form_of(const ir::Node& node);
/// The attributes of a form, each 0 or 1.
std::vector<ir::NamedAttribute> attributes_of(const Form& form);
std::vector<ir::AttributeDeclaration> form_declarations();

/// The numbers of a node's inputs. Input 0 is the sequence.
struct InputNumbers {
    ByGate input_weights = {};                        ///< [cell][input]
    ByGate state_weights = {};                        ///< [cell][result]
    ByGate peepholes = {};                            ///< [cell]
    ByGate biases = {};                               ///< [cell]
    std::optional<std::size_t> projection = {};       ///< [result][cell]
    std::optional<std::size_t> projection_bias = {};  ///< [result]
    ByGate normalization = {};                        ///< [cell]: factors of the normalized sums
    std::size_t count = 1;                            ///< of all inputs
};
InputNumbers input_numbers(const Form& form);

/// The extents of a sequence and of a layer's vectors.
struct LstmExtents {
    std::size_t steps = 1;
    std::size_t rows = 1;  ///< of a batch
    std::size_t inputs = 1;
    std::size_t cells = 1;
    std::size_t results = 1;
    bool is_time_major = false;

    /// The place of a vector of a sequence.
    std::size_t place(std::size_t row, std::size_t step) const {
        return is_time_major ? step * rows + row : row * steps + step;
    }
};
/// Throws ModelError unless all inputs are there and have shapes that fit.
LstmExtents extents_of_node(const ir::NodeView& node);

}  // namespace systole::operators::sequence_lstm
