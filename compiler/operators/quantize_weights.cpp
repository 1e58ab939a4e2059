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

    /// Calls visit(encoding, first element, end) for each input.
    template <typename Visit>
    void for_each(const Visit& visit) const {
        std::size_t first = 0;
        for (const WeightedInput& input : inputs_) {
            visit(input.encoding, first, first + input.elements);
            first += input.elements;
        }
    }

private:
    std::span<const WeightedInput> inputs_;
    double scale_ = 0.0;
};

/// The weights of one output channel.
struct Channel {
    std::span<const float> weights;  ///< weights of all channels
    std::size_t first;
    std::size_t channels;
    double bias;
    const Inputs& inputs;

    /// Calls visit(index, weight, zero point of its input) for each weight.
    template <typename Visit>
    void for_each(const Visit& visit) const {
        inputs.for_each([&](const Encoding& input, std::size_t begin, std::size_t end) {
            const double factor = input.scale / inputs.scale();
            for (std::size_t element = begin; element < end; ++element) {
                const std::size_t i = element * channels + first;
                visit(i, factor * double{weights[i]}, input.zero_point);
            }
        });
    }
};

/// The result of quantizing a channel with some scale.
struct Trial {
    double scale;          ///< of the weights
    std::int64_t bias;     ///< at this scale, without the correction for the input's zero point
    std::int64_t largest;  ///< magnitude of any sum, with the bias or without
};

std::int64_t rounded_weight(double weight, double scale) {
    return std::llround(std::clamp(weight / scale, -largest_weight, largest_weight));
}

Trial try_scale(const Channel& channel, double scale) {
    const Inputs& inputs = channel.inputs;
    std::int64_t positive = 0;
    std::int64_t negative = 0;
    std::int64_t of_zero_points = 0;
    channel.for_each([&](std::size_t, double weight, std::int64_t zero_point) {
        const std::int64_t rounded = rounded_weight(weight, scale);
        (rounded > 0 ? positive : negative) += rounded;
        of_zero_points += zero_point * rounded;
    });
    const std::int64_t bias = std::llround(channel.bias / (inputs.scale() * scale));
    const std::int64_t corrected = bias - of_zero_points;
    const std::int64_t highest = inputs.highest() * positive + inputs.lowest() * negative;
    const std::int64_t lowest = inputs.highest() * negative + inputs.lowest() * positive;
    return {scale, bias,
            std::max({std::abs(corrected), highest, -lowest, std::abs(corrected + highest),
                      std::abs(corrected + lowest)})};
}

/// The smallest scale that covers the weights and keeps all sums within 32 bits.
Trial choose_scale(const Channel& channel, double output_scale) {
    const double input_scale = channel.inputs.scale();
    double largest = 0.0;
    channel.for_each(
        [&](std::size_t, double weight, std::int64_t) { largest = std::max(largest, std::abs(weight)); });
    // The bias needs room beside the sums. If the weights are much smaller, they are rounded more coarsely.
    const double room = std::ldexp(1.0, 29);
    double scale = std::max(largest / largest_weight, std::abs(channel.bias) / (input_scale * room));
    // All weights are 0 or tiny: take a scale that gives a good multiplier.
    if (scale * input_scale < std::numeric_limits<float>::min() * output_scale)
        scale = output_scale / input_scale / 2;
    Trial trial = try_scale(channel, scale);
    while (trial.largest > largest_sum) trial = try_scale(channel, trial.scale * 2);
    return trial;
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
                                  const Encoding& input, const Encoding& output) {
    const WeightedInput only{input, weights.size() / bias.size()};
    return quantize_weights(weights, bias, std::span(&only, 1), output);
}

QuantizedWeights quantize_weights(std::span<const float> weights, std::span<const float> bias,
                                  std::span<const WeightedInput> weighted_inputs, const Encoding& output) {
    const Inputs inputs(weighted_inputs);
    const std::size_t channels = bias.size();
    std::vector<Channel> by_channel;
    std::vector<Trial> trials;
    double growth = 1.0;
    for (std::size_t c = 0; c < channels; ++c) {
        by_channel.push_back({weights, c, channels, bias[c], inputs});
        trials.push_back(choose_scale(by_channel[c], output.scale));
        growth = std::max(growth, required_growth(trials[c], inputs.scale(), output.scale));
    }

    QuantizedWeights result{.weights = std::vector<std::int8_t>(weights.size()),
                            .scales = {},
                            .bias = {},
                            .output = {output.scale * growth, output.zero_point, output.type}};
    for (std::size_t c = 0; c < channels; ++c) {
        const Trial& trial = trials[c];
        by_channel[c].for_each([&](std::size_t i, double weight, std::int64_t) {
            result.weights[i] = static_cast<std::int8_t>(rounded_weight(weight, trial.scale));
        });
        result.scales.push_back(trial.scale);
        result.bias.push_back(static_cast<std::int32_t>(trial.bias));
    }
    return result;
}

}  // namespace systole::operators
