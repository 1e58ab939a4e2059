// The steps as primitives in words: the products of the input are one for all steps, as those of recurrent
// layers that are written out when a file is read (dense/recurrence.h).
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compiler/operators/sequence_lstm/form.h"
#include "compiler/operators/sequence_lstm/steps.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators::sequence_lstm {
namespace {

using OptionalValue = std::optional<ir::ValueId>;

class WordLstm {
public:
    WordLstm(const ir::Node& node, WordsBuilder& builder)
        : node_(node),
          builder_(builder),
          form_(form_of(node)),
          numbers_(input_numbers(form_)),
          extents_(extents_of_node(builder.view(node))),
          cell_clip_(static_cast<float>(node.real("cell_clip"))),
          projection_clip_(static_cast<float>(node.real("projection_clip"))) {
        const ir::ValueId x = builder.reshape(
            builder.input_of(node, 0), {1, extent(extents_.steps * extents_.rows), extent(extents_.inputs)});
        for (std::size_t gate = 0; gate < gate_count; ++gate) {
            if (!numbers_.input_weights.at(gate)) continue;
            ir::ValueId products = product(x, *input(numbers_.input_weights, gate));
            if (!form_.normalizes) products = sum_of(products, *input(numbers_.biases, gate));
            products_.at(gate) = products;
        }
    }

    /// The states, as the sequence has its steps.
    ir::ValueId run() {
        std::vector<ir::ValueId> states;
        for (std::size_t step = 0; step < extents_.steps; ++step) {
            make_step(step);
            const ir::Shape shape = extents_.is_time_major
                                        ? ir::Shape{1, extent(extents_.rows), extent(extents_.results)}
                                        : ir::Shape{extent(extents_.rows), 1, extent(extents_.results)};
            states.push_back(builder_.reshape(*state_, shape));
        }
        if (states.size() == 1) return states.front();
        return builder_.append("concat", {{"axis", std::int64_t{extents_.is_time_major ? 0 : 1}}},
                               std::move(states));
    }

private:
    static std::uint32_t extent(std::size_t count) { return static_cast<std::uint32_t>(count); }

    OptionalValue input(const std::optional<std::size_t>& number) const {
        return number ? OptionalValue(builder_.input_of(node_, *number)) : std::nullopt;
    }
    OptionalValue input(const ByGate& numbers, std::size_t gate) const { return input(numbers.at(gate)); }

    /// Of rows with the rows of a matrix.
    ir::ValueId product(ir::ValueId rows, ir::ValueId matrix) {
        const WordsOptions& options = builder_.options();
        return builder_.append("matrix_product",
                               {{"transposed_b", std::int64_t{1}},
                                {"sum_tile", std::int64_t{options.sum_tile}},
                                {"precision", options.precision}},
                               {rows, matrix});
    }
    ir::ValueId sum_of(ir::ValueId a, ir::ValueId b) {
        return builder_.chain({a, b}, [](std::span<const Word> in) { return in[0] + in[1]; });
    }
    ir::ValueId clipped(ir::ValueId numbers, float limit) {
        if (limit == 0.0F) return numbers;
        return builder_.chain(
            {numbers}, [&](std::span<const Word> in) { return minimum(maximum(in[0], -limit), limit); });
    }
    Word function(const Word& x) const {
        const std::string& name = node_.text("function");
        if (name == "tanh") return tanh(x);
        if (name == "relu") return maximum(x, 0.0F);
        if (name == "relu6") return minimum(maximum(x, 0.0F), 6.0F);
        if (name == "relu_n1_to_1") return minimum(maximum(x, -1.0F), 1.0F);
        throw std::logic_error("sequence_lstm has the function " + name + ", which no rule of it allows");
    }

    /// What the inputs of a step add to a gate: [1][row][cell].
    ir::ValueId of_inputs(std::size_t gate, std::size_t step) {
        const ir::Shape by_step{extent(extents_.is_time_major ? extents_.steps : extents_.rows),
                                extent(extents_.is_time_major ? extents_.rows : extents_.steps),
                                extent(extents_.cells)};
        std::vector<std::int64_t> first(3, 0);
        std::vector<std::int64_t> count(by_step.extents().begin(), by_step.extents().end());
        const std::size_t axis = extents_.is_time_major ? 0 : 1;
        first[axis] = static_cast<std::int64_t>(step);
        count[axis] = 1;
        const ir::ValueId all = builder_.reshape(*products_.at(gate), by_step);
        return builder_.reshape(builder_.slice(all, first, count),
                                {1, extent(extents_.rows), extent(extents_.cells)});
    }

    /// What a gate's function gets. A state of zeros adds nothing.
    ir::ValueId sums(std::size_t gate, std::size_t step) {
        ir::ValueId sums = of_inputs(gate, step);
        if (state_) sums = sum_of(sums, product(*state_, *input(numbers_.state_weights, gate)));
        const OptionalValue peepholes = input(numbers_.peepholes, gate);
        if (peepholes && cell_) {
            sums = builder_.chain({sums, *peepholes, *cell_},
                                  [](std::span<const Word> in) { return in[0] + in[1] * in[2]; });
        }
        return form_.normalizes ? normalized(sums, gate) : sums;
    }
    ir::ValueId normalized(ir::ValueId sums, std::size_t gate) {
        constexpr float epsilon = 1e-8F;  // what the runtime adds to a variance
        const CenteredWords centered = centered_words(builder_, sums, {2});
        const ir::ValueId whitened =
            builder_.chain({centered.differences, centered.variance},
                           [](std::span<const Word> in) { return in[0] * rsqrt(in[1] + epsilon); });
        return builder_.chain({whitened, *input(numbers_.normalization, gate), *input(numbers_.biases, gate)},
                              [](std::span<const Word> in) { return in[0] * in[1] + in[2]; });
    }

    void make_step(std::size_t step) {
        cell_ = clipped(filled_cell(step), cell_clip_);
        const ir::ValueId hidden =
            builder_.chain({sums(output_gate, step), *cell_},
                           [&](std::span<const Word> in) { return logistic(in[0]) * function(in[1]); });
        state_ = form_.projects ? projected(hidden) : hidden;
    }
    /// What forget gate and input gate leave of the cell and let in. Without an input gate, it is 1 less the
    /// forget gate. A cell of zeros has nothing to keep.
    ir::ValueId filled_cell(std::size_t step) {
        const ir::ValueId filling = sums(candidate, step);
        if (form_.has_input_gate) {
            const ir::ValueId added =
                builder_.chain({sums(input_gate, step), filling},
                               [&](std::span<const Word> in) { return logistic(in[0]) * function(in[1]); });
            if (!cell_) return added;
            return builder_.chain({sums(forget_gate, step), *cell_, added},
                                  [](std::span<const Word> in) { return logistic(in[0]) * in[1] + in[2]; });
        }
        const ir::ValueId forget = sums(forget_gate, step);
        const ir::ValueId added = builder_.chain({forget, filling}, [&](std::span<const Word> in) {
            return (1.0F - logistic(in[0])) * function(in[1]);
        });
        if (!cell_) return added;
        return builder_.chain({forget, *cell_, added},
                              [](std::span<const Word> in) { return logistic(in[0]) * in[1] + in[2]; });
    }
    ir::ValueId projected(ir::ValueId hidden) {
        ir::ValueId result = product(hidden, *input(numbers_.projection));
        if (const OptionalValue bias = input(numbers_.projection_bias)) result = sum_of(result, *bias);
        return clipped(result, projection_clip_);
    }

    const ir::Node& node_;
    WordsBuilder& builder_;
    Form form_;
    InputNumbers numbers_;
    LstmExtents extents_;
    float cell_clip_;
    float projection_clip_;
    std::array<OptionalValue, gate_count> products_ =
        {};  ///< what the inputs of all steps add, with the bias
    OptionalValue state_ = {};
    OptionalValue cell_ = {};
};

}  // namespace

ir::ValueId steps_in_words(const ir::Node& node, WordsBuilder& builder) {
    return WordLstm(node, builder).run();
}

}  // namespace systole::operators::sequence_lstm
