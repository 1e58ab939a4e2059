#include "compiler/operators/sequence_lstm/form.h"

#include <fmt/format.h>

#include <vector>

#include "compiler/ir/model_error.h"

namespace systole::operators::sequence_lstm {
namespace {

struct Part {
    const char* attribute = "";
    bool Form::*is_there = nullptr;
    const char* meaning = "";
};
constexpr std::array<Part, 5> parts{
    {{"input_gate", &Form::has_input_gate,
      "1: the input gate has weights; 0: it is 1 less the forget gate (CIFG)"},
     {"peepholes", &Form::has_peepholes, "1: the gates, but not the candidate, also read the cell"},
     {"projection", &Form::projects, "1: the results are a product of what the output gate lets out"},
     {"projection_bias", &Form::has_projection_bias, "1: this product has a bias"},
     {"normalization", &Form::normalizes,
      "1: the sums of each gate get mean 0 and variance 1, and a factor each, before the bias is added"}}};

/// Throws ModelError unless an input has the shape that the others ask for.
void check_shape(const ir::NodeView& node, std::size_t number, const char* role, const ir::Shape& wanted) {
    const ir::Shape& given = node.input(number).shape;
    if (given == wanted) return;
    throw ModelError(fmt::format("{} are {}; by its sequence and its other weights they must be {}", role,
                                 to_text(given), to_text(wanted)));
}

void check_shapes(const ir::NodeView& node, const ByGate& numbers, const char* role,
                  const ir::Shape& wanted) {
    for (const auto& number : numbers) {
        if (number) check_shape(node, *number, role, wanted);
    }
}

}  // namespace

std::vector<ir::NamedAttribute> attributes_of(const Form& form) {
    std::vector<ir::NamedAttribute> attributes;
    attributes.reserve(parts.size());
    for (const Part& part : parts) {
        attributes.emplace_back(part.attribute, std::int64_t{form.*part.is_there ? 1 : 0});
    }
    return attributes;
}

std::vector<ir::AttributeDeclaration> form_declarations() {
    std::vector<ir::AttributeDeclaration> declarations;
    declarations.reserve(parts.size());
    for (const Part& part : parts) {
        declarations.push_back({.name = part.attribute,
                                .meaning = part.meaning,
                                .absent = std::int64_t{Form{}.*part.is_there ? 1 : 0},
                                .minimum = 0,
                                .maximum = 1});
    }
    return declarations;
}

Form form_of(const ir::Node& node) {
    Form form;
    for (const Part& part : parts) form.*part.is_there = node.integer(part.attribute) != 0;
    if (form.has_projection_bias && !form.projects) {
        throw ModelError("it has a bias of its projection, and no projection; it must have both");
    }
    return form;
}

InputNumbers input_numbers(const Form& form) {
    InputNumbers numbers;
    const auto add = [&](ByGate& by_gate, bool has_candidate) {
        for (std::size_t gate = 0; gate < gate_count; ++gate) {
            if (gate == input_gate && !form.has_input_gate) continue;
            if (gate == candidate && !has_candidate) continue;
            by_gate.at(gate) = numbers.count++;
        }
    };
    add(numbers.input_weights, true);
    add(numbers.state_weights, true);
    if (form.has_peepholes) add(numbers.peepholes, false);
    add(numbers.biases, true);
    if (form.projects) numbers.projection = numbers.count++;
    if (form.has_projection_bias) numbers.projection_bias = numbers.count++;
    if (form.normalizes) add(numbers.normalization, true);
    return numbers;
}

LstmExtents extents_of_node(const ir::NodeView& node) {
    constexpr std::size_t sequence_axes = 3;
    const InputNumbers numbers = input_numbers(form_of(node.node()));
    if (node.node().inputs.size() != numbers.count) {
        throw ModelError(fmt::format("it has {} inputs; with its parts, it must have {}",
                                     node.node().inputs.size(), numbers.count));
    }
    const ir::Shape& sequence = node.input(0).shape;
    if (sequence.rank() != sequence_axes) {
        throw ModelError(fmt::format("its sequence is {}; it must have 3 axes: of images, steps and elements",
                                     to_text(sequence)));
    }
    const ir::Shape& of_state = node.input(*numbers.state_weights[output_gate]).shape;
    if (of_state.rank() != 2) {
        throw ModelError(
            fmt::format("the weights of its state are {}; they must be matrices", to_text(of_state)));
    }
    const std::uint32_t cells = of_state[0];
    const std::uint32_t results = of_state[1];
    check_shapes(node, numbers.input_weights, "the weights of its input", {cells, sequence[2]});
    check_shapes(node, numbers.state_weights, "the weights of its state", {cells, results});
    check_shapes(node, numbers.peepholes, "its peepholes", {cells});
    check_shapes(node, numbers.biases, "its biases", {cells});
    check_shapes(node, numbers.normalization, "the factors of its normalization", {cells});
    if (numbers.projection) {
        check_shape(node, *numbers.projection, "the weights of its projection", {results, cells});
    } else if (results != cells) {
        throw ModelError(
            fmt::format("it has {} cells and {} results; without a projection, they must be as "
                        "many",
                        cells, results));
    }
    if (numbers.projection_bias) {
        check_shape(node, *numbers.projection_bias, "the biases of its projection", {results});
    }
    const bool is_time_major = node.node().integer("time_major") != 0;
    return {.steps = sequence[is_time_major ? 0 : 1],
            .rows = sequence[is_time_major ? 1 : 0],
            .inputs = sequence[2],
            .cells = cells,
            .results = results,
            .is_time_major = is_time_major};
}

}  // namespace systole::operators::sequence_lstm
