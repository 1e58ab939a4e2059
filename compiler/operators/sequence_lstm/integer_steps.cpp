// The steps on integers, as TFLite's kernel of 8 and 16 bits: sums of int8 products are scaled to int16, in
// which the gates' functions, the cell and its products are computed.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "compiler/ir/encoding.h"
#include "compiler/operators/fixed_point.h"
#include "compiler/operators/fixed_point_functions.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/sequence_lstm/form.h"
#include "compiler/operators/sequence_lstm/steps.h"

namespace systole::operators::sequence_lstm {
namespace {

/// The gates' functions read numbers with 3 integer bits.
constexpr int function_bits = 3;
/// Results of the functions are q15.
constexpr int result_bits = 15;
constexpr double result_scale = 1.0 / 32768.0;

using Shorts = std::vector<std::int16_t>;

std::int16_t short_of(std::int32_t number) {
    return static_cast<std::int16_t>(
        std::clamp(number, lowest_of(DataType::Int16), highest_of(DataType::Int16)));
}

std::int32_t scaled(std::int32_t number, const FixedPoint& factor) {
    return scale(number, factor.multiplier, factor.shift);
}

double scale_of(const ir::NodeView& node, std::size_t input) {
    return encoding_of(node.input(input)).scale;
}

/// The factors of the sums of a gate.
struct GateFactors {
    FixedPoint input;
    FixedPoint state;
    FixedPoint peephole;
    FixedPoint normalization;
    std::int32_t least_variance = 1;  ///< which counts instead of a variance of 0
};

struct Factors {
    std::array<GateFactors, gate_count> gates;
    FixedPoint hidden;  ///< from a product of results of functions
    FixedPoint projection;
};

Factors factors_of(const ir::NodeView& node, const InputNumbers& numbers) {
    const ir::Node& own = node.node();
    const double state_scale = encoding_of(node.output()).scale;
    const double cell_scale = own.real("cell_scale");
    const double hidden_scale = own.real("hidden_scale");
    Factors factors;
    for (std::size_t gate = 0; gate < gate_count; ++gate) {
        if (!numbers.input_weights.at(gate)) continue;
        const double to = own.real(scale_attributes.at(gate));
        GateFactors& of_gate = factors.gates.at(gate);
        of_gate.input = fixed_point_of(
            scale_quotient(scale_of(node, *numbers.input_weights.at(gate)), scale_of(node, 0), to));
        of_gate.state =
            fixed_point_of(scale_quotient(scale_of(node, *numbers.state_weights.at(gate)), state_scale, to));
        if (const auto peephole = numbers.peepholes.at(gate))
            of_gate.peephole = fixed_point_of(scale_quotient(cell_scale, scale_of(node, *peephole), to));
        if (const auto normalization = numbers.normalization.at(gate)) {
            constexpr float steps = 10000.0F;
            const double factor = scale_of(node, *normalization);
            of_gate.normalization = fixed_point_of(factor);
            of_gate.least_variance =
                std::max(1, static_cast<std::int32_t>(saturated(steps * static_cast<float>(factor))));
        }
    }
    factors.hidden = fixed_point_of(scale_quotient(result_scale, result_scale, hidden_scale));
    if (numbers.projection) {
        factors.projection =
            fixed_point_of(scale_quotient(scale_of(node, *numbers.projection), hidden_scale, state_scale));
    }
    return factors;
}

/// Sums of products with a matrix, each for a row of it: of stored numbers less a zero point.
std::int32_t product_of(const std::int8_t* row, const std::int8_t* vector, std::size_t count,
                        std::int32_t zero_point, std::int32_t bias) {
    std::int64_t sum = bias;
    for (std::size_t i = 0; i < count; ++i) sum += std::int64_t{row[i]} * (vector[i] - zero_point);
    return wrap(sum);
}

/// Mean 0 and variance 1 in q10, times factors in their own scale, plus biases of 10 more bits.
void normalize(Shorts& numbers, const std::int16_t* factors, const std::int32_t* biases,
               const GateFactors& gate) {
    constexpr std::int64_t one = 1 << 10;
    constexpr std::int64_t square_of_one = one * one;
    const auto count = static_cast<std::int64_t>(numbers.size());
    std::int64_t sum = 0;
    std::int64_t squares = 0;
    for (const std::int16_t number : numbers) {
        sum += number;
        squares += std::int64_t{number} * number;
    }
    const std::int64_t mean = sum * one / count;
    // Exact only for a count that is a power of two: the runtime divides before it multiplies.
    const std::int64_t variance = (squares * (square_of_one / count) - mean * mean) / square_of_one;
    const InverseRoot root =
        inverse_root_of(variance < 1 ? gate.least_variance : static_cast<std::int32_t>(variance));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto difference = static_cast<std::int32_t>(one * numbers[i] - mean);
        const std::int32_t normalized = scale(difference, root.multiplier, root.shift);
        const std::int32_t raised = wrap(std::int64_t{normalized} * factors[i] + biases[i]);
        const auto rounded =
            static_cast<std::int32_t>((raised > 0 ? raised + one / 2 : raised - one / 2) / one);
        constexpr int to_function_bits = 12;
        numbers[i] = short_of(
            scale(rounded, gate.normalization.multiplier, gate.normalization.shift + to_function_bits));
    }
}

class IntegerLstm {
public:
    explicit IntegerLstm(const TensorCall& call)
        : call_(call),
          form_(form_of(call.node.node())),
          extents_(extents_of_node(call.node)),
          numbers_(input_numbers(form_)),
          factors_(factors_of(call.node, numbers_)),
          input_zero_(encoding_of(call.node.input(0)).zero_point),
          state_zero_(encoding_of(call.node.output()).zero_point),
          hidden_zero_(hidden_zero_of(call.node.node(), form_)),
          cell_bits_(std::ilogb(call.node.node().real("cell_scale"))),
          cell_clip_(clip_of("cell_clip", call.node.node().real("cell_scale"), DataType::Int16)),
          projection_clip_(
              clip_of("projection_clip", encoding_of(call.node.output()).scale, DataType::Int8)) {}

    /// One sequence of the batch `from`; its results are written into the batch `to`.
    void run(const std::int8_t* from, std::size_t row, std::int8_t* to) {
        state_.assign(extents_.results, static_cast<std::int8_t>(state_zero_));
        cell_.assign(extents_.cells, 0);
        for (std::size_t step = 0; step < extents_.steps; ++step) {
            const std::size_t place = extents_.place(row, step);
            make_step(from + place * extents_.inputs);
            std::ranges::copy(state_, to + place * extents_.results);
        }
    }

private:
    /// The zero point of what the output gate lets out. Before a projection, the runtime negates it, both
    /// where it stores these numbers and where it reads them.
    static std::int32_t hidden_zero_of(const ir::Node& node, const Form& form) {
        const auto zero_point = static_cast<std::int32_t>(node.integer("hidden_zero_point"));
        return form.projects ? -zero_point : zero_point;
    }

    /// The stored number that a limit of real numbers cuts to; 0: no limit.
    std::int32_t clip_of(const char* attribute, double scale, DataType type) const {
        const auto limit = static_cast<float>(call_.node.node().real(attribute));
        if (limit == 0.0F) return 0;
        const float stored = limit / static_cast<float>(scale);
        return static_cast<std::int32_t>(std::min(stored, static_cast<float>(highest_of(type))));
    }

    void make_step(const std::int8_t* x) {
        constexpr std::int16_t one = 32767;
        const Shorts forget = gate(forget_gate, x);
        Shorts filling = sums(candidate, x);
        for (std::int16_t& number : filling) number = tanh_of(number, function_bits);
        Shorts input = forget;
        if (form_.has_input_gate) {
            input = gate(input_gate, x);
        } else {
            for (std::int16_t& number : input) number = static_cast<std::int16_t>(one - number);
        }
        for (std::size_t i = 0; i < cell_.size(); ++i) {
            const std::int32_t kept = rounding_divide_by_power_of_two(forget[i] * cell_[i], result_bits);
            const auto added = static_cast<std::int16_t>(
                rounding_divide_by_power_of_two(input[i] * filling[i], 2 * result_bits + cell_bits_));
            cell_[i] = short_of(kept + added);
            if (cell_clip_ > 0)
                cell_[i] =
                    static_cast<std::int16_t>(std::clamp<std::int32_t>(cell_[i], -cell_clip_, cell_clip_));
        }
        let_out(gate(output_gate, x));
    }

    /// The new state, of the cell.
    void let_out(const Shorts& output) {
        std::vector<std::int8_t> hidden(extents_.cells);
        for (std::size_t i = 0; i < hidden.size(); ++i) {
            const std::int32_t product = output[i] * tanh_of(cell_[i], result_bits + cell_bits_);
            hidden[i] = byte_of(scaled(product, factors_.hidden), hidden_zero_);
        }
        if (!form_.projects) {
            state_ = std::move(hidden);
            return;
        }
        const auto* const weights = call_.input<std::int8_t>(*numbers_.projection);
        for (std::size_t i = 0; i < state_.size(); ++i) {
            const std::int32_t bias =
                numbers_.projection_bias ? call_.input<std::int32_t>(*numbers_.projection_bias)[i] : 0;
            const std::int32_t sum =
                product_of(weights + i * hidden.size(), hidden.data(), hidden.size(), hidden_zero_, bias);
            state_[i] = byte_of(scaled(sum, factors_.projection), state_zero_);
            if (projection_clip_ > 0)
                state_[i] = static_cast<std::int8_t>(
                    std::clamp<std::int32_t>(state_[i], -projection_clip_, projection_clip_));
        }
    }

    static std::int8_t byte_of(std::int32_t number, std::int32_t zero_point) {
        return static_cast<std::int8_t>(
            offset_and_clamp(number, zero_point, lowest_of(DataType::Int8), highest_of(DataType::Int8)));
    }

    static std::int16_t tanh_of(std::int16_t number, int integer_bits) {
        return static_cast<std::int16_t>(narrow_tanh(number, integer_bits));
    }

    Shorts gate(Gate gate, const std::int8_t* x) const {
        Shorts opening = sums(gate, x);
        for (std::int16_t& number : opening)
            number = static_cast<std::int16_t>(narrow_sigmoid(number, function_bits));
        return opening;
    }

    /// What a gate's function gets. Each part of a sum is scaled alone, and the sum saturates after each.
    Shorts sums(Gate gate, const std::int8_t* x) const {
        const GateFactors& factors = factors_.gates.at(gate);
        const auto* const of_input = call_.input<std::int8_t>(*numbers_.input_weights.at(gate));
        const auto* const of_state = call_.input<std::int8_t>(*numbers_.state_weights.at(gate));
        const auto* const bias = call_.input<std::int32_t>(*numbers_.biases.at(gate));
        Shorts sums(extents_.cells);
        for (std::size_t i = 0; i < sums.size(); ++i) {
            const std::int32_t first = product_of(of_input + i * extents_.inputs, x, extents_.inputs,
                                                  input_zero_, form_.normalizes ? 0 : bias[i]);
            const std::int32_t second =
                product_of(of_state + i * extents_.results, state_.data(), extents_.results, state_zero_, 0);
            sums[i] = short_of(scaled(first, factors.input));
            sums[i] = short_of(sums[i] + scaled(second, factors.state));
            if (const auto peephole = numbers_.peepholes.at(gate)) {
                const std::int32_t product = call_.input<std::int16_t>(*peephole)[i] * cell_[i];
                sums[i] = short_of(sums[i] + scaled(product, factors.peephole));
            }
        }
        if (const auto normalization = numbers_.normalization.at(gate))
            normalize(sums, call_.input<std::int16_t>(*normalization), bias, factors);
        return sums;
    }

    const TensorCall& call_;
    Form form_;
    LstmExtents extents_;
    InputNumbers numbers_;
    Factors factors_;
    std::int32_t input_zero_;
    std::int32_t state_zero_;
    std::int32_t hidden_zero_;
    int cell_bits_;  ///< the cell's scale is 2 to this
    std::int32_t cell_clip_;
    std::int32_t projection_clip_;
    std::vector<std::int8_t> state_;
    Shorts cell_;
};

}  // namespace

void check_integer_scales(const ir::NodeView& node) {
    static_cast<void>(factors_of(node, input_numbers(form_of(node.node()))));
}

void compute_on_integers(const TensorCall& call) {
    const LstmExtents extents = extents_of_node(call.node);
    const std::size_t inputs = call.node.input(0).shape.elements();
    const std::size_t results = call.node.output().shape.elements();
    IntegerLstm lstm(call);
    for (std::size_t inference = 0; inference < call.batch; ++inference) {
        for (std::size_t row = 0; row < extents.rows; ++row) {
            lstm.run(call.input<std::int8_t>(0) + inference * inputs, row,
                     call.output<std::int8_t>() + inference * results);
        }
    }
}

}  // namespace systole::operators::sequence_lstm
