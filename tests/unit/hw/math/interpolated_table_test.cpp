#include "hw/math/interpolated_table.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

namespace {

using namespace systole::math;

InterpolatedTable random_table(unsigned seed) {
    std::mt19937 random(seed);
    InterpolatedTable table{};
    for (std::int16_t& entry : table) entry = static_cast<std::int16_t>(random());
    return table;
}

}  // namespace

TEST_CASE("Interpolation hits the entries exactly and is linear between them",
          "[hw][math][interpolated_table]") {
    InterpolatedTable table{};
    table[256] = 100;
    table[257] = 103;
    table[258] = -25;
    CHECK(interpolate(table, 0) == 100);
    CHECK(interpolate(table, 63) == 101);
    CHECK(interpolate(table, 64) == 102);  // 101.5: a half goes up
    CHECK(interpolate(table, 127) == 103);
    CHECK(interpolate(table, 128) == 103);
    CHECK(interpolate(table, 129) == 102);
    CHECK(interpolate(table, 192) == 39);
    CHECK(interpolate(table, 255) == -24);
    table[0] = 32767;
    table[1] = -32768;
    table[511] = -32768;
    table[512] = 32767;
    CHECK(interpolate(table, -32768) == 32767);
    CHECK(interpolate(table, -32704) == 0);  // -0.5
    CHECK(interpolate(table, -32640) == -32768);
    CHECK(interpolate(table, 32640) == -32768);
    CHECK(interpolate(table, 32704) == 0);
    CHECK(interpolate(table, 32767) == 32255);  // 127/128 of the way
}

TEST_CASE("Every number gets the nearest to the line, halves upwards", "[hw][math][interpolated_table]") {
    for (unsigned seed = 0; seed < 3; ++seed) {
        CAPTURE(seed);
        const InterpolatedTable table = random_table(seed);
        bool same = true;
        for (std::int32_t x = -32768; x <= 32767; ++x) {
            const auto entry = static_cast<std::size_t>((x + 32768) / 128);
            const double beyond = (x + 32768) % 128 / 128.0;
            const double exact = table[entry] + (double(table[entry + 1]) - table[entry]) * beyond;
            same &= interpolate(table, static_cast<std::int16_t>(x)) == std::floor(exact + 0.5);
        }
        CHECK(same);
    }
}

TEST_CASE("Elements are looked up at any alignment, in place too", "[hw][math][interpolated_table]") {
    const InterpolatedTable table = random_table(9);
    std::mt19937 random(4);
    for (const std::size_t bytes : {0U, 1U, 2U, 7U, 64U, 333U}) {
        CAPTURE(bytes);
        std::vector<std::uint8_t> in(bytes + 1);
        for (std::uint8_t& byte : in) byte = static_cast<std::uint8_t>(random());
        std::vector<std::uint8_t> expected(bytes, 0x5a);
        for (std::size_t i = 0; i + 2 <= bytes; i += 2) {
            const auto x = static_cast<std::int16_t>(in[1 + i] + 256 * in[2 + i]);
            const std::int16_t y = interpolate(table, x);
            expected[i] = static_cast<std::uint8_t>(y);
            expected[i + 1] = static_cast<std::uint8_t>(y >> 8);
        }
        std::vector<std::uint8_t> out(bytes, 0x5a);
        const auto operand = std::span(in).subspan(1);
        lookup(operand, out, table);
        CHECK(out == expected);
        lookup(operand, operand, table);
        CHECK(std::equal(operand.begin(), operand.begin() + static_cast<std::ptrdiff_t>(bytes / 2 * 2),
                         expected.begin()));
    }
    std::vector<std::uint8_t> three(3);
    std::vector<std::uint8_t> two(2);
    CHECK_THROWS_AS(lookup(three, two, table), std::logic_error);
}

TEST_CASE("A table is read from little-endian bytes", "[hw][math][interpolated_table]") {
    std::vector<std::uint8_t> bytes(1030, 0);
    bytes[0] = 0x34;
    bytes[1] = 0x12;
    bytes[1024] = 0xfe;
    bytes[1025] = 0xff;
    const InterpolatedTable table = read_interpolated_table(bytes);
    CHECK(table.front() == 0x1234);
    CHECK(table.back() == -2);
    bytes.resize(1025);
    CHECK_THROWS_AS(read_interpolated_table(bytes), std::logic_error);
}
