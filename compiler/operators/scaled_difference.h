#pragma once

#include "compiler/operators/pair_function.h"

namespace systole::operators {

/// The base of functions of the difference of two quantized numbers, by TFLite's rule: both are converted to
/// twice the larger scale with some more bits, and the result from `result_scale` to that of the result.
class ScaledDifference : public PairFunctionOperator {
public:
    using PairFunctionOperator::PairFunctionOperator;

protected:
    /// The bits that the inputs are shifted to the left.
    virtual int headroom_bits(const ir::NodeView& node) const = 0;
    /// The scale of the function's results, if inputs have twice this larger scale.
    virtual double result_scale(const ir::NodeView& node, double common_scale) const = 0;
    virtual bool clamps() const { return false; }

    void scale_input(const ir::NodeView& node, std::size_t index,
                     std::span<std::int32_t> numbers) const override;
    void scale_result(const ir::NodeView& node, std::span<std::int32_t> numbers) const override;
};

}  // namespace systole::operators
