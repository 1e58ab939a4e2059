// The steps in float32: gates of sums, a cell that they fill and empty, and what they let out of it.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compiler/operators/sequence_lstm/form.h"
#include "compiler/operators/sequence_lstm/steps.h"

namespace systole::operators::sequence_lstm {
namespace {

float sigmoid(float x) {
    return 1.0F / (1.0F + std::exp(-x));
}

float (*function_of(const ir::Node& node))(float) {
    const std::string& name = node.text("function");
    if (name == "tanh") return [](float x) { return std::tanh(x); };
    if (name == "relu") return [](float x) { return std::max(x, 0.0F); };
    if (name == "relu6") return [](float x) { return std::clamp(x, 0.0F, 6.0F); };
    if (name == "relu_n1_to_1") return [](float x) { return std::clamp(x, -1.0F, 1.0F); };
    throw std::logic_error("sequence_lstm has the function " + name + ", which no rule of it allows");
}

/// The numbers of an input of each gate, or null.
using FloatsByGate = std::array<const float*, gate_count>;

/// Adds the product of a matrix, a row for each sum, and a vector.
void add_product(const float* matrix, const std::vector<float>& vector, std::vector<float>& sums) {
    for (std::size_t row = 0; row < sums.size(); ++row) {
        sums[row] = std::inner_product(vector.begin(), vector.end(), matrix + row * vector.size(), sums[row]);
    }
}

/// Clamps to a limit and its negative; 0: no limit.
void clip(std::vector<float>& numbers, float limit) {
    if (limit == 0.0F) return;
    for (float& number : numbers) number = std::clamp(number, -limit, limit);
}

/// Mean 0 and variance 1, with what the runtime adds to a variance.
void normalize(std::vector<float>& numbers) {
    constexpr float epsilon = 1e-8F;
    const auto count = static_cast<float>(numbers.size());
    const float mean = std::accumulate(numbers.begin(), numbers.end(), 0.0F) / count;
    float squares = 0.0F;
    for (const float number : numbers) squares += (number - mean) * (number - mean);
    const float factor = 1.0F / std::sqrt(squares / count + epsilon);
    for (float& number : numbers) number = (number - mean) * factor;
}

class FloatLstm {
public:
    explicit FloatLstm(const FloatCall& call)
        : form_(form_of(call.node.node())),
          extents_(extents_of_node(call.node)),
          function_(function_of(call.node.node())),
          cell_clip_(static_cast<float>(call.node.node().real("cell_clip"))),
          projection_clip_(static_cast<float>(call.node.node().real("projection_clip"))) {
        const InputNumbers numbers = input_numbers(form_);
        const auto input = [&](const std::optional<std::size_t>& number) {
            return number ? call.inputs[*number] : nullptr;
        };
        for (std::size_t gate = 0; gate < gate_count; ++gate) {
            input_weights_.at(gate) = input(numbers.input_weights.at(gate));
            state_weights_.at(gate) = input(numbers.state_weights.at(gate));
            peepholes_.at(gate) = input(numbers.peepholes.at(gate));
            biases_.at(gate) = input(numbers.biases.at(gate));
            normalization_.at(gate) = input(numbers.normalization.at(gate));
        }
        projection_ = input(numbers.projection);
        projection_bias_ = input(numbers.projection_bias);
    }

    /// One sequence of the batch `from`; its results are written into the batch `to`.
    void run(const float* from, std::size_t row, float* to) {
        state_.assign(extents_.results, 0.0F);
        cell_.assign(extents_.cells, 0.0F);
        for (std::size_t step = 0; step < extents_.steps; ++step) {
            const std::size_t place = extents_.place(row, step);
            const float* const x = from + place * extents_.inputs;
            x_.assign(x, x + extents_.inputs);
            make_step();
            std::ranges::copy(state_, to + place * extents_.results);
        }
    }

private:
    void make_step() {
        const std::vector<float> forget = gate(forget_gate);
        const std::vector<float> input = form_.has_input_gate ? gate(input_gate) : std::vector<float>{};
        const std::vector<float> filling = sums(candidate);
        for (std::size_t i = 0; i < cell_.size(); ++i) {
            const float opening = form_.has_input_gate ? input[i] : 1.0F - forget[i];
            cell_[i] = forget[i] * cell_[i] + opening * function_(filling[i]);
        }
        clip(cell_, cell_clip_);
        std::vector<float> hidden = gate(output_gate);
        for (std::size_t i = 0; i < cell_.size(); ++i) hidden[i] *= function_(cell_[i]);
        if (!form_.projects) {
            state_ = std::move(hidden);
            return;
        }
        std::ranges::fill(state_, 0.0F);
        if (form_.has_projection_bias) std::copy_n(projection_bias_, state_.size(), state_.begin());
        add_product(projection_, hidden, state_);
        clip(state_, projection_clip_);
    }

    std::vector<float> gate(Gate gate) const {
        std::vector<float> opening = sums(gate);
        for (float& number : opening) number = sigmoid(number);
        return opening;
    }

    /// What a gate's function gets.
    std::vector<float> sums(Gate gate) const {
        const float* const bias = biases_.at(gate);
        std::vector<float> sums(extents_.cells, 0.0F);
        if (!form_.normalizes) std::copy_n(bias, sums.size(), sums.begin());
        add_product(input_weights_.at(gate), x_, sums);
        add_product(state_weights_.at(gate), state_, sums);
        for (std::size_t i = 0; peepholes_.at(gate) != nullptr && i < sums.size(); ++i)
            sums[i] += peepholes_.at(gate)[i] * cell_[i];
        if (form_.normalizes) {
            normalize(sums);
            for (std::size_t i = 0; i < sums.size(); ++i)
                sums[i] = sums[i] * normalization_.at(gate)[i] + bias[i];
        }
        return sums;
    }

    Form form_;
    LstmExtents extents_;
    float (*function_)(float);
    float cell_clip_ = 0.0F;
    float projection_clip_ = 0.0F;
    FloatsByGate input_weights_ = {};
    FloatsByGate state_weights_ = {};
    FloatsByGate peepholes_ = {};
    FloatsByGate biases_ = {};
    FloatsByGate normalization_ = {};
    const float* projection_ = nullptr;
    const float* projection_bias_ = nullptr;
    std::vector<float> x_;
    std::vector<float> state_;
    std::vector<float> cell_;
};

}  // namespace

void compute_in_float(const FloatCall& call) {
    const LstmExtents extents = extents_of_node(call.node);
    const std::size_t inputs = call.node.input(0).shape.elements();
    const std::size_t results = call.node.output().shape.elements();
    FloatLstm lstm(call);
    for (std::size_t inference = 0; inference < call.batch; ++inference) {
        for (std::size_t row = 0; row < extents.rows; ++row) {
            lstm.run(call.inputs[0] + inference * inputs, row, call.output + inference * results);
        }
    }
}

}  // namespace systole::operators::sequence_lstm
