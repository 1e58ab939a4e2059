// The smallest of the elements along some axes.
#include <limits>

#include "compiler/operators/reduction.h"

namespace systole::operators {
namespace {

float reduce_min_floats(float sum, float x) {
    return x < sum ? x : sum;
}

std::int32_t reduce_min_integers(std::int32_t sum, std::int32_t x) {
    return x < sum ? x : sum;
}

}  // namespace

std::unique_ptr<ir::Operator> make_reduce_min() {
    return std::make_unique<Reduction>(
        ReductionDefinition{.name = "reduce_min",
                            .summary = "The smallest of the elements along some axes.",
                            .combine_floats = reduce_min_floats,
                            .combine_integers = reduce_min_integers,
                            .first_float = std::numeric_limits<float>::infinity(),
                            .first_integer = std::numeric_limits<std::int32_t>::max(),
                            .works_on_stored = true,
                            .words = systole::Reduction::Minimum,
                            .onnx_name = "ReduceMin",
                            .tflite_name = "REDUCE_MIN"});
}

}  // namespace systole::operators
