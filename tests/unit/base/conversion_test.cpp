#include "base/conversion.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

using namespace systole;

constexpr DataType integer_types[] = {DataType::Uint8, DataType::Int8, DataType::Uint16, DataType::Int16,
                                      DataType::Int32};

/// A scale as files have it: a power of two, or any.
float any_scale(std::mt19937& random) {
    const int exponent = static_cast<int>(random() % 24) - 16;
    const float fraction =
        random() % 2 == 0 ? 1.0F : std::uniform_real_distribution<float>(1.0F, 2.0F)(random);
    return std::ldexp(fraction, exponent);
}

/// As ONNX and TFLite define it, on whole and half numbers alone: what `quotient` rounds to.
std::int64_t rounded(float quotient, bool to_even) {
    const auto below = static_cast<std::int64_t>(std::floor(quotient));
    const double rest = double{quotient} - static_cast<double>(below);  // exact
    if (rest != 0.5) return below + (rest > 0.5 ? 1 : 0);
    if (to_even) return below + (below % 2 != 0 ? 1 : 0);
    return below + (quotient > 0.0F ? 1 : 0);
}

}  // namespace

TEST_CASE("Halves and their neighbours are stored as the file's format says", "[hw][base][conversion]") {
    const auto seed = Catch::rngSeed();
    CAPTURE(seed);
    std::mt19937 random(seed);
    int halves = 0;
    for (int i = 0; i < 200'000; ++i) {
        Storage storage{.scale = any_scale(random), .type = integer_types[random() % 5]};
        const std::int64_t lowest = lowest_of(storage.type);
        const std::int64_t highest = highest_of(storage.type);
        const auto any_number = [&] {
            return lowest +
                   static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(highest - lowest + 1));
        };
        storage.zero_point = static_cast<std::int32_t>(random() % 4 == 0 ? 0 : any_number());
        storage.conversion = random() % 2 == 0 ? Conversion::HalfToEven : Conversion::HalfAway;
        const bool to_even = storage.conversion == Conversion::HalfToEven;
        const auto scale = static_cast<float>(storage.scale);
        // Half a step above a number of the type, or beyond its ends.
        float real =
            (static_cast<float>(any_number() - storage.zero_point + static_cast<int>(random() % 5) - 2) +
             0.5F) *
            scale;
        const float neighbours[] = {std::nextafter(real, -INFINITY), real, std::nextafter(real, INFINITY)};
        real = neighbours[random() % 3];
        const float quotient = real / scale;
        halves += quotient - std::floor(quotient) == 0.5F ? 1 : 0;
        const std::int64_t expected =
            std::clamp(rounded(quotient, to_even) + storage.zero_point, lowest, highest);
        CAPTURE(real, storage.scale, storage.zero_point, name_of(storage.type), to_even);
        REQUIRE(stored_number(double{real}, storage) == expected);
    }
    CHECK(halves > 20'000);
}

TEST_CASE("Real numbers are divided in float32 where a file says how, and in float64 elsewhere",
          "[hw][base][conversion]") {
    // A half in float32, a little less in float64.
    const float scale = 0.1F;
    const double real = 0.25;
    REQUIRE(static_cast<float>(real) / scale == 2.5F);
    REQUIRE(real / double{scale} < 2.5);
    CHECK(stored_number(real, {.scale = scale}) == 2);
    CHECK(stored_number(real, {.scale = scale, .conversion = Conversion::HalfToEven}) == 2);
    CHECK(stored_number(real, {.scale = scale, .conversion = Conversion::HalfAway}) == 3);
    CHECK(stored_number(0.5, {}) == 1);
    CHECK(stored_number(2.5, {.conversion = Conversion::HalfAway}) == 3);
    CHECK(stored_number(2.5, {.conversion = Conversion::HalfToEven}) == 2);
    CHECK(stored_number(INFINITY, {.zero_point = 9, .conversion = Conversion::HalfToEven}) == 255);
    CHECK(stored_number(-INFINITY, {.zero_point = 9, .conversion = Conversion::HalfAway}) == 0);
    CHECK(stored_number(std::nan(""), {.zero_point = 9}) == 0);
}

TEST_CASE("Stored numbers become real ones in float32 if the scale is one", "[hw][base][conversion]") {
    const auto seed = Catch::rngSeed();
    CAPTURE(seed);
    std::mt19937 random(seed);
    for (int i = 0; i < 100'000; ++i) {
        const float scale = any_scale(random);
        const auto stored = static_cast<std::int32_t>(random()) >> random() % 32;
        const auto zero_point = static_cast<std::int32_t>(random()) >> 16;
        CAPTURE(scale, stored, zero_point);
        const auto difference = static_cast<float>(std::int64_t{stored} - zero_point);
        REQUIRE(real_number(stored, double{scale}, zero_point) == difference * scale);
    }
    // The lowest bits of 2^24 + 1 are lost before the multiplication.
    CHECK(real_number((1 << 24) + 1, 3.0, 0) == 3.0F * 0x1p24F);
    CHECK(real_number(3, 0.1, 1) == static_cast<float>(0.1 * 2));  // 0.1 is not one of float32
}

TEST_CASE("Storages of every integer say the real number of every stored one", "[hw][base][conversion]") {
    const Storage far{.scale = 0.5, .zero_point = -669'622'670, .type = DataType::Int32};
    CHECK(far.real(2'147'483'647) == 0.5 * (2'147'483'647.0 + 669'622'670.0));
    CHECK(far.real(-669'622'670) == 0.0);
    const Storage near{.scale = 2.0, .zero_point = 3};
    CHECK(near.real(0) == -6.0);
}

TEST_CASE("Conversions have names", "[hw][base][conversion]") {
    for (const Conversion conversion : {Conversion::Nearest, Conversion::HalfToEven, Conversion::HalfAway}) {
        CHECK(find_conversion(name_of(conversion)) == conversion);
    }
    CHECK_FALSE(find_conversion("half_up"));
}
