#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/fixed_point.h"
#include "base/rounding.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/quantizer.h"
#include "hw/math/floats/float_product.h"

/// The common part of the operators with weights: convolution, depthwise convolution, dense.
///
/// On integers, weights are int8 with zero point 0 and one scale, or one for each output channel; the bias is
/// int32 with the scale input_scale * weight_scale. A result is
///
///     clamp(zero_point + scale(bias + sum((input - input_zero_point) * weight), multiplier))
///
/// with multiplier = input_scale * weight_scale / scale, as a fixed-point number. If inputs have different
/// scales, input_scale is the largest one and the weights are adapted to it. Sums wrap around in 32 bits.
///
/// Weights of one scale may have a zero point. The chip holds the differences to it, which need 9 bits, as
/// weights of 16 bits: it streams such layers at half its rate. With the attribute `wide_sums` (inputs of 16
/// bits), sums have 64 bits and the multiplier 16, as in TFLite.
///
/// With the attribute `rounding` (compiler/operators/integer_types.h) as half_to_even, results are rounded
/// once, halves to the even number, as in ONNX; the scales' quotient then has float32. With the attribute
/// `real_multiplier`, the quotient is a float64, and so is the product, which is rounded once, halves away
/// from zero: the rule of TFLite's fully connected operator since 2.20.
///
/// With the rounding float_half_even, quotient and product have float32, as in the Edge TPU:
/// `multiply_by_float_to_even`. It has neither wide sums nor a real multiplier.
///
/// In float32, oneDNN's kernel adds the products in an order of its own. With the attribute `sum_tile`, they
/// have the sums of a matrix unit with so many rows, to the bit; `precision` says what such a unit multiplies
/// of each operand. Depthwise convolutions have sums of a vector unit, which multiplies float32.
namespace systole::operators {

/// An operator whose parameters are weights, with the output channel as the last axis, and optionally a bias.
/// In float, other nodes may compute them; each inference has its own then, unless all share them.
class WeightedOperator : public Operator {
public:
    std::vector<std::string_view> parameter_roles() const final { return {"weights", "bias"}; }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return kept_batch(node, has_batch);
    }
    LeadingOnes leading_ones(const ir::NodeView& /*node*/) const override { return LeadingOnes::Ignored; }
    void check_types(const ir::NodeView& node) const override;
    void evaluate(const FloatCall& call) const final;
    Placement placement() const override;
    /// Includes a ReLU that is the only reader of the result, as the clamp.
    void quantize(const ir::Node& node, Quantizer& quantizer) const override;
    /// A product with an order of sums, and a `word_chain` that adds the bias.
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override;

protected:
    /// Appends the products of a node of a float graph without their bias (Operator::to_words).
    virtual ir::ValueId words_product(const ir::Node& node, WordsBuilder& builder) const = 0;
    /// Computes the node in float with the same parameters for all inferences of the call.
    virtual void evaluate_products(const FloatCall& call) const = 0;
    /// The number of an input's elements that are multiplied for one result.
    virtual std::uint64_t met_elements(const ir::NodeView& node, std::size_t input) const = 0;
};

/// The conversion of sums to stored numbers in the integer reference.
class SumRounding {
public:
    explicit SumRounding(const ir::NodeView& node);

    /// Initializes the sums of all channels with the bias.
    void begin(std::vector<std::int32_t>& sums) const;
    void store(const std::vector<std::int32_t>& sums, std::int32_t* output) const;
    /// The same for sums of the inputs' upper and lower bytes, for nodes with `wide_sums`. Both begin with 0.
    void store_wide(const std::vector<std::int32_t>& upper, const std::vector<std::int32_t>& lower,
                    std::int32_t* output) const;

private:
    /// The sum of a channel, bias included, as a stored number.
    std::int32_t stored(std::int64_t sum, std::size_t channel) const;
    /// The same before the zero point is added.
    std::int32_t scaled(std::int64_t sum, std::size_t channel) const;

    std::vector<std::int32_t> bias_;
    bool has_wide_sums_;
    Rounding rounding_;
    // One of these is not empty.
    std::vector<double> real_multipliers_;
    std::vector<float> float_multipliers_;
    std::vector<FixedPoint> multipliers_;
    std::int32_t zero_point_;
    std::int32_t minimum_;
    std::int32_t maximum_;
};

/// The attribute `wide_sums`.
ir::AttributeDeclaration wide_sums_attribute();
bool has_wide_sums(const ir::Node& node);
/// The attribute `real_multiplier`.
ir::AttributeDeclaration real_multiplier_attribute();
bool has_real_multiplier(const ir::Node& node);

/// The multipliers of a node with `real_multiplier`, by output channel, in the runtime's order of operations.
/// Throws ModelError for one that float64 does not have.
std::vector<double> real_multipliers_of(const ir::NodeView& node);
/// The multipliers of a node with the rounding float_half_even, by output channel: input_scale * weight_scale
/// / scale, computed in float64 and rounded once. How the Edge TPU's own compiler computes them is not
/// published; this is ours. Throws ModelError for one that is out of range.
std::vector<float> float_multipliers_of(const ir::NodeView& node);
/// The fixed-point multipliers of other nodes.
std::vector<FixedPoint> multipliers_of(const ir::NodeView& node);
/// The bias of each output channel of a node on integers; 0 without one.
std::vector<std::int32_t> bias_of(const ir::NodeView& node);

/// Numbers of 16 bits as upper * 256 + lower, with lower from 0 to 255: sums of products with either fit in
/// 32 bits.
struct SplitNumbers {
    std::vector<std::int32_t> upper;
    std::vector<std::int32_t> lower;
};
SplitNumbers split(std::span<const std::int32_t> numbers);

/// The zero point of the weights of a node on integers.
std::int32_t weight_zero_point(const ir::NodeView& node);

/// sums[i] += value * weights[i]. Skips values of 0, which are frequent after ReLU.
void multiply_add(std::int32_t value, const std::int8_t* weights, std::vector<std::int32_t>& sums);

/// The weights as integers. Throws std::logic_error if they are unknown.
std::span<const std::int8_t> known_weights(const ir::NodeView& node);

/// The order and the operands of a sum in float32.
struct SumOrder {
    std::size_t tile = 0;  ///< `sum_tile`; 0: any order
    /// Absent: operands are multiplied as they are.
    std::optional<math::Precision> precision = {};
};

/// The attribute `precision` of products in float32, and its default.
inline constexpr const char* whole_operands = "float32";
ir::AttributeDeclaration precision_attribute();
SumOrder sum_order(const ir::Node& node);

/// The attributes of an array's products in a graph of words.
std::vector<ir::NamedAttribute> order_attributes(const WordsBuilder& builder);
/// Appends a product of the current layer; the weights may be the result of another node.
ir::ValueId append_words_product(WordsBuilder& builder, std::string_view op,
                                 std::vector<ir::NamedAttribute> attributes, ir::ValueId data,
                                 ir::ValueId weights);

/// The attribute `sum_tile` of products in float32.
ir::AttributeDeclaration sum_tile_attribute();
std::size_t sum_tile(const ir::Node& node);
/// Whether the sums of a node of any operator have an order.
bool has_sum_tile(const ir::Node& node);

/// C (m x n) = A (m x k) * B (k x n), all packed and row major, on one thread.
void multiply(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k);

/// Weights (k x n, row major) that many matrices are multiplied by, with sums in an order.
class OrderedWeights {
public:
    /// `weights` must outlive this.
    OrderedWeights(const float* weights, std::size_t k, std::size_t n, const SumOrder& order);

    /// c (m x n) = a (m x k) * weights.
    void multiply(const float* a, float* c, std::size_t m) const;

private:
    const float* weights_;
    std::size_t k_;
    std::size_t n_;
    std::optional<math::FloatRuns> runs_;  ///< absent: sums have any order
};

/// Adds bias[column] to every row of C (m x n), unless the bias is null.
void add_bias(float* c, const float* bias, std::size_t m, std::size_t n);
/// The same with settled sums.
void add_settled_bias(float* c, const float* bias, std::size_t m, std::size_t n);

}  // namespace systole::operators
