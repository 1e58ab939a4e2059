// The largest of the elements along some axes.
#include <limits>

#include "compiler/operators/reduction.h"

namespace systole::operators {
namespace {

float reduce_max_floats(float sum, float x) {
    return x > sum ? x : sum;
}

std::int32_t reduce_max_integers(std::int32_t sum, std::int32_t x) {
    return x > sum ? x : sum;
}

}  // namespace

std::unique_ptr<ir::Operator> make_reduce_max() {
    return std::make_unique<Reduction>(
        ReductionDefinition{.name = "reduce_max",
                            .summary = "The largest of the elements along some axes.",
                            .combine_floats = reduce_max_floats,
                            .combine_integers = reduce_max_integers,
                            .first_float = -std::numeric_limits<float>::infinity(),
                            .first_integer = std::numeric_limits<std::int32_t>::min(),
                            .works_on_stored = true,
                            .words = systole::Reduction::Maximum,
                            .onnx_name = "ReduceMax",
                            .tflite_name = "REDUCE_MAX"});
}

}  // namespace systole::operators
