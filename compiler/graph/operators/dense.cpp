#include "compiler/graph/operators/dense.h"

#include <optional>
#include <stdexcept>

#include "compiler/graph/gemm.h"
#include "compiler/graph/operators/inputs.h"
#include "compiler/graph/shape_text.h"

namespace systole::graph {

std::string Dense::parameters() const {
    return fmt::format("units {}, bias {}", units, bias.empty() ? "no" : "yes");
}

Shape Dense::output_shape(std::span<const Shape> inputs) const {
    const Shape& input = only_input(inputs);
    if (input.elements() != in_elements) {
        throw ModelError(fmt::format("its input is {} = {} elements; its weights are for {}", to_text(input),
                                     input.elements(), in_elements));
    }
    require_values(weights.size(), checked_product({in_elements, units}), "weights");
    require_values(bias.size(), bias.empty() ? 0 : units, "bias");
    return {1, 1, units};
}

std::uint64_t Dense::macs(std::span<const Shape> /*inputs*/) const {
    return weights.size();
}

void Dense::evaluate(std::span<const Shape> /*shapes*/, std::span<const float* const> inputs,
                     std::uint32_t batch, float* output) const {
    multiply(inputs[0], weights.data(), output, batch, units, in_elements);
    add_bias(output, bias.empty() ? nullptr : bias.data(), batch, units);
}

}  // namespace systole::graph
