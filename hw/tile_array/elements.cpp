#include "hw/tile_array/elements.h"

#include "hw/math/round_half_away.h"

namespace systole::hw {
namespace {

/// The sum or difference of two scaled operands, scaled.
std::int32_t added(const ElementRules& rules, std::int32_t a, std::int32_t b) {
    const bool subtracts = rules.operation == isa::TileOperation::Subtract;
    if (rules.scaling == isa::Scaling::Float) {
        const float first = static_cast<float>(a) * std::bit_cast<float>(rules.multiplier_a.first);
        const float second = static_cast<float>(b) * std::bit_cast<float>(rules.multiplier_b.first);
        return round_half_to_even(subtracts ? first - second : first + second);
    }
    constexpr std::int32_t left = 1 << math::addition_left_shift_8_bit;
    const std::int32_t first = scale_sum(wrapping_multiply(a, left), rules.scaling, rules.multiplier_a);
    const std::int32_t second = scale_sum(wrapping_multiply(b, left), rules.scaling, rules.multiplier_b);
    return scale_sum(subtracts ? wrapping_subtract(first, second) : wrapping_add(first, second),
                     rules.scaling, rules.multiplier);
}

/// The square of the difference of two scaled operands, scaled.
std::int32_t squared_difference(const ElementRules& rules, std::int32_t a, std::int32_t b) {
    constexpr std::int32_t left = 1 << math::squared_difference_left_shift;
    const std::int32_t difference = wrapping_subtract(scale_sum(a * left, rules.scaling, rules.multiplier_a),
                                                      scale_sum(b * left, rules.scaling, rules.multiplier_b));
    return scale_sum(wrapping_multiply(difference, difference), rules.scaling, rules.multiplier);
}

/// A sum times one float32, plus another one, each rounded to float32; then to the nearest integer, halves
/// away from zero.
std::int32_t biased(const ElementRules& rules, std::int32_t sum) {
    const float product = static_cast<float>(sum) * std::bit_cast<float>(rules.multiplier.first);
    return math::round_half_away(product + std::bit_cast<float>(rules.multiplier_b.first));
}

}  // namespace

std::uint8_t normalized(const ElementRules& rules, std::int32_t number, const math::InverseRoot& root) {
    constexpr std::int32_t steps_of_one = 128;
    constexpr std::int32_t bits_of_steps = 7;
    const std::int32_t quotient =
        rules.is_signed
            ? multiply_by_quantized_multiplier(number, root.multiplier, root.shift + bits_of_steps)
            : multiply_by_quantized_multiplier(steps_of_one * number, root.multiplier, root.shift);
    return rules.scaled(quotient);
}

ElementRules element_rules(const isa::TileVector& vector, const isa::Registers& registers) {
    using enum isa::Register;
    return {.operation = vector.operation,
            .scaling = vector.scaling,
            .is_signed = vector.is_signed,
            .zero_point_a = registers.as_signed(VectorZeroPointA),
            .zero_point_b = registers.as_signed(VectorZeroPointB),
            .multiplier_a = {registers[VectorMultiplierA], registers[VectorShiftA]},
            .multiplier_b = {registers[VectorMultiplierB], registers[VectorShiftB]},
            .multiplier = {registers[VectorMultiplier], registers[VectorShift]},
            .zero_point = registers.as_signed(OutputZeroPoint),
            .minimum = registers.as_signed(OutputMinimum),
            .maximum = registers.as_signed(OutputMaximum)};
}

std::uint8_t combine(const ElementRules& rules, std::uint8_t a, std::uint8_t b) {
    const std::int32_t first = element(a, rules.is_signed);
    const std::int32_t second = element(b, rules.is_signed);
    switch (rules.operation) {
        case isa::TileOperation::Add:
        case isa::TileOperation::Subtract:
            return rules.scaled(added(rules, first - rules.zero_point_a, second - rules.zero_point_b));
        case isa::TileOperation::Multiply:
            return rules.scaled(scale_sum((first - rules.zero_point_a) * (second - rules.zero_point_b),
                                          rules.scaling, rules.multiplier));
        case isa::TileOperation::SquaredDifference:
            return rules.scaled(
                squared_difference(rules, first - rules.zero_point_a, second - rules.zero_point_b));
        case isa::TileOperation::Maximum:
            return rules.stored(std::max(first, second));
        case isa::TileOperation::Minimum:
            return rules.stored(std::min(first, second));
        case isa::TileOperation::Requantize:
            return rules.scaled(scale_sum(first - rules.zero_point_a, rules.scaling, rules.multiplier));
        case isa::TileOperation::MaxPool:
        case isa::TileOperation::AveragePool:
        case isa::TileOperation::SumPool:
        case isa::TileOperation::Lookup:
        case isa::TileOperation::Softmax:
        case isa::TileOperation::Interpolate:
        case isa::TileOperation::BiasedSumPool:
        case isa::TileOperation::Normalize:
            break;
    }
    throw std::logic_error("an operation of tiles that does not combine two elements");
}

std::uint8_t pooled(const ElementRules& rules, std::int32_t sum, std::int32_t largest, std::int32_t count) {
    switch (rules.operation) {
        case isa::TileOperation::MaxPool:
            return rules.stored(largest);
        case isa::TileOperation::SumPool:
            return rules.scaled(scale_sum(sum - count * rules.zero_point_a, rules.scaling, rules.multiplier));
        case isa::TileOperation::BiasedSumPool:
            return rules.scaled(biased(rules, sum));
        case isa::TileOperation::AveragePool:
            if (rules.scaling == isa::Scaling::Float) {
                return rules.stored(multiply_by_float_to_even(sum, 1.0F / static_cast<float>(count)));
            } else {
                const std::int32_t half = count / 2;
                return rules.stored((sum < 0 ? sum - half : sum + half) / count);
            }
        case isa::TileOperation::Add:
        case isa::TileOperation::Subtract:
        case isa::TileOperation::Multiply:
        case isa::TileOperation::Maximum:
        case isa::TileOperation::Minimum:
        case isa::TileOperation::Requantize:
        case isa::TileOperation::Lookup:
        case isa::TileOperation::Softmax:
        case isa::TileOperation::Interpolate:
        case isa::TileOperation::SquaredDifference:
        case isa::TileOperation::Normalize:
            break;
    }
    throw std::logic_error("an operation of tiles that does not pool");
}

std::int32_t interpolated(const Corners& corners, const isa::InterpolatedPlace& line,
                          const isa::InterpolatedPlace& column, bool in_float) {
    if (in_float) {
        const float down = line.float_share;
        const float right = column.float_share;
        const float up = 1 - down;
        const float left = 1 - right;
        const auto corner = [&](std::size_t i) { return static_cast<float>(corners.at(i)); };
        const float sum = corner(0) * up * left + corner(1) * down * left + corner(2) * up * right +
                          corner(3) * down * right;
        const float half_more = sum + 0.5F;
        return static_cast<std::int32_t>(half_more);
    }
    constexpr std::int64_t one = 1 << 10;
    constexpr std::int64_t half = one * one / 2;
    const std::int64_t sum =
        (corners[0] * (one - line.share) + corners[1] * line.share) * (one - column.share) +
        (corners[2] * (one - line.share) + corners[3] * line.share) * column.share;
    return static_cast<std::int32_t>((sum + (sum > 0 ? half : -half)) / (one * one));
}

}  // namespace systole::hw
