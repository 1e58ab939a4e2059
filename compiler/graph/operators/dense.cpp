#include "compiler/graph/operators/dense.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "compiler/graph/gemm.h"
#include "compiler/graph/operators/inputs.h"
#include "compiler/graph/shape_text.h"

namespace systole::graph {

std::string Dense::parameters() const {
    return fmt::format("units {}, bias {}", units, bias.empty() ? "no" : "yes");
}

Shape Dense::output_shape(std::span<const Shape> inputs) const {
    if (inputs.empty()) throw ModelError("it has no input; it must have at least 1");
    std::uint64_t elements = 0;
    std::string shapes;
    for (const Shape& input : inputs) {
        elements += input.elements();
        shapes += fmt::format("{}{}", shapes.empty() ? "" : " and ", to_text(input));
    }
    if (elements != in_elements) {
        throw ModelError(fmt::format("its input is {} = {} elements; its weights are for {}", shapes,
                                     elements, in_elements));
    }
    require_weights(weights.size(), checked_product({in_elements, units}));
    require_values(bias.size(), bias.empty() ? 0 : units, "bias");
    return {1, 1, units};
}

std::uint64_t Dense::macs(std::span<const Shape> /*inputs*/) const {
    return weight_count();
}

void Dense::evaluate(std::span<const Shape> shapes, std::span<const float* const> inputs, std::uint32_t batch,
                     float* output) const {
    require_weight_values(weights.size());
    multiply(inputs[0], weights.data(), output, batch, units, shapes[0].elements());
    std::vector<float> products(shapes.size() > 1 ? std::size_t{batch} * units : 0);
    std::size_t first = shapes[0].elements();
    for (std::size_t i = 1; i < shapes.size(); ++i) {
        multiply(inputs[i], weights.data() + first * units, products.data(), batch, units,
                 shapes[i].elements());
        std::transform(products.begin(), products.end(), output, output, std::plus<>());
        first += shapes[i].elements();
    }
    add_bias(output, bias.empty() ? nullptr : bias.data(), batch, units);
}

}  // namespace systole::graph
