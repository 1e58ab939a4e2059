#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/window.h"
#include "compiler/operators/lowering.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/quantizer.h"

/// What the operators with weights share: convolution, depthwise convolution, dense.
///
/// On integers, weights are int8 with zero points of 0 and a scale, or one for each output channel; the bias
/// is int32, in units of input scale * weight scale. A result is
///
///     clamp(zero_point + scale(bias + sum((input - input_zero_point) * weight), multiplier))
///
/// with multiplier = input_scale * weight_scale / scale, as a fixed-point number. Several inputs count as if
/// all had the largest scale of any: the weights make up for the others. Sums wrap around in 32 bits.
namespace systole::operators {

/// An operator whose constant inputs are weights, whose last axis is the output channel, and perhaps a bias.
class WeightedOperator : public Operator {
public:
    bool has_weights() const override { return true; }
    void check_types(const ir::NodeView& node) const override;
    Placement placement() const override;
    /// Together with a ReLU that alone reads the result: it becomes the clamp.
    void quantize(const ir::Node& node, Quantizer& quantizer) const override;

protected:
    /// Numbers of an input that the weights of an output channel meet.
    virtual std::uint64_t met_elements(const ir::NodeView& node, std::size_t input) const = 0;
    /// The work of the matrix unit, together with a lookup that alone reads the result.
    void lower_product(const ir::NodeView& node, std::optional<ir::Window> window,
                       std::optional<std::uint32_t> channel_multiplier, Lowering& lowering) const;
};

/// How sums become stored numbers, as the integer reference computes it.
class SumRounding {
public:
    explicit SumRounding(const ir::NodeView& node);

    /// The sums of all channels begin with the bias.
    void begin(std::vector<std::int32_t>& sums) const;
    void store(const std::vector<std::int32_t>& sums, std::int32_t* output) const;

private:
    std::vector<std::int32_t> bias_;
    std::vector<FixedPoint> multipliers_;
    std::int32_t zero_point_;
    std::int32_t minimum_;
    std::int32_t maximum_;
};

/// sums[i] += value * weights[i]. Zeros, which ReLU makes many of, add nothing.
void multiply_add(std::int32_t value, const std::int8_t* weights, std::vector<std::int32_t>& sums);

/// Weights as integers. Throws std::logic_error where they are not known.
std::span<const std::int8_t> known_weights(const ir::NodeView& node);

/// C (m x n) = A (m x k) * B (k x n), all packed and row major, on one thread.
void multiply(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k);

/// Adds bias[column] to every row of C (m x n); nothing where the bias is null.
void add_bias(float* c, const float* bias, std::size_t m, std::size_t n);

}  // namespace systole::operators
