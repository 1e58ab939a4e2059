#pragma once

#include "base/fixed_point.h"
#include "compiler/operators/reduction.h"

namespace systole::operators {

/// The base of sums and means, with TFLite's rule for quantized numbers: the sum of the numbers without zero
/// point, times a fixed-point number.
class ScaledSum : public Reduction {
public:
    ScaledSum(ReductionDefinition definition, bool is_mean) : Reduction(definition), is_mean_(is_mean) {}

protected:
    bool works_on_quantized() const override { return true; }
    bool is_mean() const override { return is_mean_; }
    std::int32_t finish_quantized(const ir::NodeView& node, std::int32_t sum) const override;

private:
    bool is_mean_;
};

/// By what the sum of quantized numbers without zero point becomes the result, or with the number of elements
/// in it, their mean.
FixedPoint sum_factor(const ir::NodeView& node, bool is_mean);

/// By what the sum of int8 with zero point becomes the result, both in float32: product and sum are rounded
/// to float32, and then to the nearest integer.
struct BiasedSum {
    float factor = 0.0F;
    float bias = 0.0F;
};
BiasedSum biased_sum(const ir::NodeView& node);

float sum_floats(float sum, float x);
std::int32_t sum_integers(std::int32_t sum, std::int32_t x);

}  // namespace systole::operators
