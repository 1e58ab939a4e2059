// The product of the elements along some axes.
#include "base/fixed_point.h"
#include "compiler/operators/reduction.h"

namespace systole::operators {
namespace {

float reduce_product_floats(float sum, float x) {
    return sum * x;
}

std::int32_t reduce_product_integers(std::int32_t sum, std::int32_t x) {
    return wrapping_multiply(sum, x);
}

}  // namespace

std::unique_ptr<ir::Operator> make_reduce_product() {
    return std::make_unique<Reduction>(
        ReductionDefinition{.name = "reduce_product",
                            .summary = "The product of the elements along some axes.",
                            .combine_floats = reduce_product_floats,
                            .combine_integers = reduce_product_integers,
                            .first_float = 1.0F,
                            .first_integer = 1,
                            .works_on_stored = false,
                            .words = systole::Reduction::Product,
                            .onnx_name = "ReduceProd",
                            .tflite_name = "REDUCE_PROD"});
}

}  // namespace systole::operators
