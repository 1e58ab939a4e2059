// Quantizes weights symmetrically to -127..127, with a scale for each output channel, such that no sum can
// overflow 32 bits.
#include "compiler/operators/quantize_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace systole::operators {
namespace {

constexpr double largest_weight = 127.0;
constexpr std::int64_t largest_sum = std::numeric_limits<std::int32_t>::max();

/// The inputs whose elements are multiplied with the weights. All count with the largest scale of any input;
/// the weights of the other inputs are adapted.
class Inputs {
public:
    explicit Inputs(std::span<const WeightedInput> inputs) : inputs_(inputs) {
        for (const WeightedInput& input : inputs) scale_ = std::max(scale_, input.encoding.scale);
    }

    double scale() const { return scale_; }
    std::int64_t lowest() const { return lowest_of(inputs_.front().encoding.type); }
    std::int64_t highest() const { return highest_of(inputs_.front().encoding.type); }

    /// Calls visit(encoding, factor of its weights, first element, end) for each input.
    template <typename Visit>
    void for_each(const Visit& visit) const {
        std::size_t first = 0;
        for (const WeightedInput& input : inputs_) {
            visit(input.encoding, input.encoding.scale / scale_, first, first + input.elements);
            first += input.elements;
        }
    }

private:
    std::span<const WeightedInput> inputs_;
    double scale_ = 0.0;
};

/// A few neighbouring output channels, whose sums fit in the first-level cache. Weights are stored element by
/// element with all channels, so that a block reads them in order.
struct ChannelBlock {
    std::span<const float> weights;  ///< weights of all channels
    std::size_t channels;            ///< all
    std::size_t first;
    std::size_t count;
    const Inputs& inputs;
};
constexpr std::size_t block_channels = 512;

/// The result of quantizing a channel with some scale.
struct Trial {
    double scale = 0.0;        ///< of the weights
    std::int64_t bias = 0;     ///< at this scale, without the correction for the input's zero point
    std::int64_t largest = 0;  ///< magnitude of any sum, with the bias or without
};

/// The nearest integer, halves away from zero. Written without a call, so that loops over it are vectorized.
std::int32_t rounded(double value) {
    const auto towards_zero = static_cast<std::int32_t>(value);
    const double rest = value - towards_zero;
    return towards_zero + static_cast<std::int32_t>(rest >= 0.5) - static_cast<std::int32_t>(rest <= -0.5);
}

std::vector<double> largest_weights(const ChannelBlock& block) {
    std::vector<double> largest(block.count, 0.0);
    block.inputs.for_each([&](const ir::Encoding&, double factor, std::size_t begin, std::size_t end) {
        for (std::size_t element = begin; element < end; ++element) {
            const float* const row = block.weights.data() + element * block.channels + block.first;
            for (std::size_t c = 0; c < block.count; ++c) {
                const double magnitude = std::abs(factor * double{row[c]});
                largest[c] = magnitude > largest[c] ? magnitude : largest[c];
            }
        }
    });
    return largest;
}

/// The smallest scale that covers the weights, and the bias, which needs room beside the sums. If the weights
/// are much smaller than the bias, they are rounded more coarsely.
double first_scale(double largest, double bias, double input_scale, double output_scale) {
    const double room = std::ldexp(1.0, 29);
    const double scale = std::max(largest / largest_weight, std::abs(bias) / (input_scale * room));
    // All weights are 0 or tiny: take a scale that gives a good multiplier.
    if (scale * input_scale < std::numeric_limits<float>::min() * output_scale) {
        return output_scale / input_scale / 2;
    }
    return scale;
}

/// The sums of a channel's rounded weights.
struct Sums {
    std::vector<std::int64_t> positive, negative, of_zero_points;  ///< by channel of the block
};

/// Rounds the weights of a block with the scale of each channel.
Sums round_weights(const ChannelBlock& block, std::span<const Trial> trials, std::int8_t* to) {
    Sums sums{.positive = std::vector<std::int64_t>(block.count),
              .negative = std::vector<std::int64_t>(block.count),
              .of_zero_points = std::vector<std::int64_t>(block.count)};
    constexpr std::size_t rows_at_a_time = std::size_t{1} << 20;  // their sums fit in 32 bits
    std::vector<std::int32_t> positive(block.count);
    std::vector<std::int32_t> negative(block.count);
    std::vector<double> scales;
    for (const Trial& trial : trials) scales.push_back(trial.scale);
    block.inputs.for_each([&](const ir::Encoding& input, double factor, std::size_t begin, std::size_t end) {
        for (std::size_t first = begin; first < end; first += rows_at_a_time) {
            std::ranges::fill(positive, 0);
            std::ranges::fill(negative, 0);
            for (std::size_t element = first; element < std::min(end, first + rows_at_a_time); ++element) {
                const std::size_t row = element * block.channels + block.first;
                for (std::size_t c = 0; c < block.count; ++c) {
                    double weight = factor * double{block.weights[row + c]} / scales[c];
                    weight = weight < -largest_weight ? -largest_weight : weight;
                    weight = weight > largest_weight ? largest_weight : weight;
                    const std::int32_t number = rounded(weight);
                    positive[c] += number > 0 ? number : 0;
                    negative[c] += number > 0 ? 0 : number;
                    to[row + c] = static_cast<std::int8_t>(number);
                }
            }
            for (std::size_t c = 0; c < block.count; ++c) {
                sums.positive[c] += positive[c];
                sums.negative[c] += negative[c];
                sums.of_zero_points[c] +=
                    std::int64_t{input.zero_point} * (std::int64_t{positive[c]} + negative[c]);
            }
        }
    });
    return sums;
}

/// Completes the trial of a channel, whose weights have these sums.
void judge(Trial& trial, const Sums& sums, std::size_t channel, double bias, const Inputs& inputs) {
    const std::int64_t positive = sums.positive[channel];
    const std::int64_t negative = sums.negative[channel];
    trial.bias = std::llround(bias / (inputs.scale() * trial.scale));
    const std::int64_t corrected = trial.bias - sums.of_zero_points[channel];
    const std::int64_t highest = inputs.highest() * positive + inputs.lowest() * negative;
    const std::int64_t lowest = inputs.highest() * negative + inputs.lowest() * positive;
    trial.largest = std::max(
        {std::abs(corrected), highest, -lowest, std::abs(corrected + highest), std::abs(corrected + lowest)});
}

/// Quantizes the channels of a block with the smallest scales that keep all sums within 32 bits.
std::vector<Trial> quantize_block(const ChannelBlock& block, std::span<const float> bias, double output_scale,
                                  std::int8_t* to) {
    std::vector<Trial> trials(block.count);
    const std::vector<double> largest = largest_weights(block);
    for (std::size_t c = 0; c < block.count; ++c) {
        trials[c].scale = first_scale(largest[c], bias[block.first + c], block.inputs.scale(), output_scale);
    }
    for (bool fits = false; !fits;) {
        const Sums sums = round_weights(block, trials, to);
        fits = true;
        for (std::size_t c = 0; c < block.count; ++c) {
            judge(trials[c], sums, c, bias[block.first + c], block.inputs);
            if (trials[c].largest <= largest_sum) continue;
            trials[c].scale *= 2;
            fits = false;
        }
    }
    return trials;
}

/// The factor by which the output's scale must grow so that a sum, after the multiplier's left shift, fits in
/// 32 bits.
double required_growth(const Trial& trial, double input_scale, double output_scale) {
    double growth = 1.0;
    const double step = input_scale * trial.scale / output_scale;
    // The shift is the exponent that brings the multiplier below 1.
    while (step / growth >= 1.0 &&
           static_cast<double>(trial.largest) * 2 * step / growth > double{largest_sum}) {
        growth *= 2;
    }
    return growth;
}

}  // namespace

QuantizedWeights quantize_weights(std::span<const float> weights, std::span<const float> bias,
                                  const ir::Encoding& input, const ir::Encoding& output) {
    const WeightedInput only{input, weights.size() / bias.size()};
    return quantize_weights(weights, bias, std::span(&only, 1), output);
}

QuantizedWeights quantize_weights(std::span<const float> weights, std::span<const float> bias,
                                  std::span<const WeightedInput> weighted_inputs,
                                  const ir::Encoding& output) {
    const Inputs inputs(weighted_inputs);
    const std::size_t channels = bias.size();
    QuantizedWeights result{
        .weights = std::vector<std::int8_t>(weights.size()), .scales = {}, .bias = {}, .output = output};
    double growth = 1.0;
    for (std::size_t first = 0; first < channels; first += block_channels) {
        const ChannelBlock block{weights, channels, first, std::min(block_channels, channels - first),
                                 inputs};
        for (const Trial& trial : quantize_block(block, bias, output.scale, result.weights.data())) {
            growth = std::max(growth, required_growth(trial, inputs.scale(), output.scale));
            result.scales.push_back(trial.scale);
            result.bias.push_back(static_cast<std::int32_t>(trial.bias));
        }
    }
    result.output.scale *= growth;
    return result;
}

}  // namespace systole::operators
