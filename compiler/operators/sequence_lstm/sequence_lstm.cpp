// An LSTM that goes through a sequence, called once: its states are 0 before the first step.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/sequence_lstm/form.h"
#include "compiler/operators/sequence_lstm/steps.h"
#include "compiler/operators/sequence_lstm/tflite.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace sequence_lstm {
namespace {

/// Throws ModelError unless an input of integers has a type and, where it is scaled, one scale and zero point
/// 0.
void check_parameter(const ir::NodeView& node, const std::optional<std::size_t>& number, const char* role,
                     DataType type) {
    if (!number) return;
    const ir::Value& value = node.input(*number);
    if (value.type != type) {
        throw ModelError(fmt::format("{} are {}; they must be {}", role, name_of(value.type), name_of(type)));
    }
    if (type == DataType::Int32) return;
    const auto& given = value.quantization;
    if (!given || given->axis || given->zero_points.front() != 0) {
        throw ModelError(fmt::format("{} must have one scale, and the zero point 0", role));
    }
}

void check_parameters(const ir::NodeView& node, const ByGate& numbers, const char* role, DataType type) {
    for (const auto& number : numbers) check_parameter(node, number, role, type);
}

/// Throws ModelError unless the cell's scale is a power of two that leaves its tanh 0 to 6 integer bits.
void check_cell_scale(double scale) {
    constexpr int least = -15;
    constexpr int most = -9;
    const int exponent = scale > 0.0 && std::isfinite(scale) ? std::ilogb(scale) : 0;
    if (exponent >= least && exponent <= most && std::ldexp(1.0, exponent) == scale) return;
    throw ModelError(fmt::format("the scale of its cell is {}; it must be a power of two, 2^{} to 2^{}",
                                 scale, least, most));
}

void check_integers(const ir::NodeView& node) {
    const ir::Node& own = node.node();
    const Form form = form_of(own);
    const InputNumbers numbers = input_numbers(form);
    for (const ir::Value* const value : {&node.input(0), &node.output()}) {
        if (value->type == DataType::Int8 && value->quantization && !value->quantization->axis) continue;
        throw ModelError("its sequence and its result must both be float32, or int8 with one scale each");
    }
    check_parameters(node, numbers.input_weights, "the weights of its input", DataType::Int8);
    check_parameters(node, numbers.state_weights, "the weights of its state", DataType::Int8);
    check_parameters(node, numbers.peepholes, "its peepholes", DataType::Int16);
    check_parameters(node, numbers.biases, "its biases", DataType::Int32);
    check_parameters(node, numbers.normalization, "the factors of its normalization", DataType::Int16);
    check_parameter(node, numbers.projection, "the weights of its projection", DataType::Int8);
    check_parameter(node, numbers.projection_bias, "the biases of its projection", DataType::Int32);
    check_cell_scale(own.real("cell_scale"));
    for (const char* const attribute : scale_attributes) {
        if (form.normalizes || own.real(attribute) == function_scale) continue;
        throw ModelError(fmt::format("{} is {}; without a normalization, it must be 1/4096", attribute,
                                     own.real(attribute)));
    }
    if (own.text("function") != "tanh") {
        throw ModelError(
            fmt::format("its function is {}; on integers, it must be tanh", own.text("function")));
    }
    const LstmExtents extents = extents_of_node(node);
    if (form.has_peepholes && extents.results != extents.cells) {
        throw ModelError(
            fmt::format("it has peepholes, {} cells and {} results; on integers, with "
                        "peepholes, they must be as many",
                        extents.cells, extents.results));
    }
    check_integer_scales(node);
}

class SequenceLstm final : public Operator {
public:
    std::string_view name() const override { return "sequence_lstm"; }
    std::string_view summary() const override {
        return "An LSTM (Hochreiter and Schmidhuber 1997, with a forget gate) that goes through a sequence, "
               "from states of 0. Its inputs, of which its form may lack some: the sequence; for input gate, "
               "forget gate, candidate and output gate the weights of the input, [cell][input], and those of "
               "the state, [cell][result]; the peepholes of the gates, [cell]; the four biases; weights, "
               "[result][cell], and biases of the projection; the four normalizations' factors. It computes "
               "in float32, or in TFLite's fixed-point arithmetic: int8 with a cell of int16.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations = [] {
            std::vector<ir::AttributeDeclaration> all = form_declarations();
            all.push_back({.name = "time_major",
                           .meaning = "1: the steps are the first axis; 0: the images of the batch are",
                           .absent = std::int64_t{0},
                           .minimum = 0,
                           .maximum = 1});
            all.push_back({.name = "function",
                           .meaning = "the function of the candidate, and of the cell before the output gate",
                           .absent = std::string("tanh"),
                           .choices = {"tanh", "relu", "relu6", "relu_n1_to_1"}});
            for (const char* const clip : {"cell_clip", "projection_clip"}) {
                all.push_back({.name = clip,
                               .meaning =
                                   "the real number to which, and to whose negative, it is clamped; 0: "
                                   "no limit",
                               .absent = 0.0,
                               .minimum = 0.0});
            }
            all.push_back({.name = "cell_scale",
                           .meaning = "of integers: the scale of the cell, a power of two",
                           .absent = std::ldexp(1.0, -15)});
            all.push_back({.name = "hidden_scale",
                           .meaning = "of integers: the scale of what the output gate lets out",
                           .absent = 1.0});
            all.push_back({.name = "hidden_zero_point",
                           .meaning = "its zero point",
                           .absent = std::int64_t{0},
                           .minimum = lowest_of(DataType::Int8),
                           .maximum = highest_of(DataType::Int8)});
            for (const char* const scale : scale_attributes) {
                all.push_back({.name = scale,
                               .meaning = "of integers, with a normalization: the scale of the gate's sums",
                               .absent = function_scale});
            }
            return all;
        }();
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override { return {tflite_sequence_lstm()}; }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return kept_batch(node, has_batch, node.node().integer("time_major") == 0);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        const auto results = static_cast<std::uint32_t>(extents_of_node(node).results);
        const ir::Shape& sequence = node.input(0).shape;
        return {ir::Shape{sequence[0], sequence[1], results}};
    }
    Placement placement() const override { return {.where = "host", .formats = "float32, int8"}; }
    std::uint64_t macs(const ir::NodeView& node) const override {
        const Form form = form_of(node.node());
        const LstmExtents extents = extents_of_node(node);
        const std::uint64_t gates = form.has_input_gate ? gate_count : gate_count - 1;
        const std::uint64_t of_gates = gates * extents.cells * (extents.inputs + extents.results);
        const std::uint64_t of_projection = form.projects ? extents.cells * extents.results : 0;
        return extents.steps * extents.rows * (of_gates + of_projection);
    }
    std::uint64_t operations(const ir::NodeView& node) const override {
        // A bias and a function for each gate; then two products and a sum for the cell, its function, and
        // the product of the output gate.
        constexpr std::uint64_t of_cell = 2 * gate_count + 5;
        const LstmExtents extents = extents_of_node(node);
        return 2 * macs(node) + of_cell * extents.steps * extents.rows * extents.cells;
    }
    void check_types(const ir::NodeView& node) const override {
        const auto is_float = [](const ir::Value& value) { return value.type == DataType::Float32; };
        if (is_float(node.input(0)) && is_float(node.output())) {
            Operator::check_types(node);
        } else {
            check_integers(node);
        }
    }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override {
        builder.set(node.output(), steps_in_words(node, builder));
    }
    void evaluate(const FloatCall& call) const override { compute_in_float(call); }
    void compute(const TensorCall& call) const override {
        if (call.node.output().type == DataType::Float32) {
            Operator::compute(call);
        } else {
            compute_on_integers(call);
        }
    }
};

std::unique_ptr<ir::Operator> make() {
    return std::make_unique<SequenceLstm>();
}

}  // namespace
}  // namespace sequence_lstm

std::unique_ptr<ir::Operator> make_sequence_lstm() {
    return sequence_lstm::make();
}

}  // namespace systole::operators
