// Layers whose sums could need more bits than an accumulator has are refused, and no others.
#include "compiler/target/tpu_v1/network/sum_check.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/target/tpu_v1/lowering/lowering.h"
#include "tests/support/integer_graphs.h"

namespace systole::tpu_v1 {
namespace {

std::string refusal(const Network& network, std::uint32_t sum_bits) {
    try {
        check_sums(network, sum_bits);
    } catch (const ModelError& error) {
        return error.what();
    }
    return {};
}

/// The bits that a number needs in two's complement.
std::uint32_t bits_of(std::int64_t number) {
    std::uint32_t bits = 1;
    while (number < -(std::int64_t{1} << (bits - 1)) || number >= std::int64_t{1} << (bits - 1)) ++bits;
    return bits;
}

}  // namespace

TEST_CASE("Sums are bounded by the inputs that make them largest and least", "[compiler][schedule]") {
    const auto seed = GENERATE(range(1U, 60U));
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto draw = [&](std::int32_t from, std::int32_t to) {
        return std::uniform_int_distribution<std::int32_t>(from, to)(random);
    };
    const std::size_t inputs = static_cast<std::size_t>(draw(1, 40));
    const std::size_t units = static_cast<std::size_t>(draw(1, 5));
    const bool is_signed = draw(0, 1) == 1;
    tests::IntegerWeights weights;
    if (draw(0, 1) == 1) weights.zero_point = draw(-128, 127);
    const std::int32_t widest = draw(0, 127);
    for (std::size_t i = 0; i < inputs * units; ++i) {
        weights.values.push_back(static_cast<std::int8_t>(draw(-widest - 1, widest)));
    }
    tests::IntegerGraph made;
    const auto type = is_signed ? DataType::Int8 : DataType::Uint8;
    const ir::ValueId x = made.input({1, 1, static_cast<std::uint32_t>(inputs)}, {0.5, 3, type});
    if (draw(0, 1) == 1) {
        made.dense({x}, static_cast<std::uint32_t>(units), weights, {1.0, 0, DataType::Int8});
    } else {
        made.convolution(x, {}, static_cast<std::uint32_t>(units), weights, {1.0, 0, DataType::Int8});
    }

    // What the array adds up: the elements as they are stored, times weights without their zero point.
    std::int64_t least = 0;
    std::int64_t largest = 0;
    for (std::size_t unit = 0; unit < units; ++unit) {
        std::int64_t low = 0;
        std::int64_t high = 0;
        for (std::size_t i = 0; i < inputs; ++i) {
            const std::int64_t weight = weights.values[i * units + unit] - weights.zero_point;
            const std::int64_t lowest = is_signed ? -128 : 0;
            const std::int64_t highest = is_signed ? 127 : 255;
            low += weight < 0 ? weight * highest : weight * lowest;
            high += weight < 0 ? weight * lowest : weight * highest;
        }
        least = std::min(least, low);
        largest = std::max(largest, high);
    }
    const Network network = tpu_v1::lower(made.graph());
    const std::uint32_t needed = std::max(bits_of(least), bits_of(largest));
    CHECK(refusal(network, needed).empty());
    if (needed > 8) {
        const std::string message = refusal(network, needed - 1);
        CHECK_THAT(message, Catch::StartsWith("made: layer \"layer0\": its sums may be from " +
                                              std::to_string(least) + " to " + std::to_string(largest)));
        CHECK_THAT(message, Catch::Contains("have " + std::to_string(needed - 1) + " bits"));
    }
}

}  // namespace systole::tpu_v1
