#include "hw/math/floats/float_product.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "hw/math/floats/float_values.h"
#include "hw/math/floats/product_kernels.h"
#include "tests/support/floats.h"
#include "tests/support/hard_numbers.h"
#include "tests/support/random_runs.h"

namespace {

using namespace systole;
using namespace systole::math;
using namespace systole::tests;

/// Matrices with gaps between their rows, whose elements are drawn.
class Matrices {
public:
    template <typename Draw>
    Matrices(std::size_t m, std::size_t n, std::size_t k, std::size_t gap, Draw draw)
        : a_(m * (k + gap)), b_(std::max<std::size_t>(1, k) * (n + gap)), before_(m * (n + gap)) {
        for (auto* matrix : {&a_, &b_, &before_}) {
            for (float& element : *matrix) element = draw();
        }
        product_ = {.a = {a_.data(), k + gap},
                    .b = {b_.data(), n + gap},
                    .c_row_elements = n + gap,
                    .m = m,
                    .n = n,
                    .k = k,
                    .sum_tile = 128};
    }

    /// C, with what lies between its rows, as bits.
    template <typename Multiply>
    std::vector<std::uint32_t> result(const Multiply& multiply) const {
        std::vector<float> c = before_;
        FloatProduct product = product_;
        product.c = c.data();
        multiply(product);
        std::vector<std::uint32_t> bits(c.size());
        std::transform(c.begin(), c.end(), bits.begin(), bits_of);
        return bits;
    }

    const FloatProduct& product() const { return product_; }

private:
    std::vector<float> a_;
    std::vector<float> b_;
    std::vector<float> before_;
    FloatProduct product_;
};

/// The sum of products by one column of cells.
float column_of_cells(const std::vector<float>& a, const std::vector<float>& weights) {
    float sum = 7.0F;
    multiply_pass({a.data(), a.size()}, 1, FloatWeights({weights.data(), 1}, weights.size(), 1), {&sum, 1});
    return sum;
}

TEST_CASE("A cell rounds once: a product is never rounded by itself") {
    // The square of 1 + 2^-7 has 15 bits, of which 1 is taken away.
    CHECK(column_of_cells({1.0F, 1.0F + 0x1p-7F}, {-1.0F, 1.0F + 0x1p-7F}) == 0x1p-6F + 0x1p-14F);
    // Rounded by itself, the square of 1 + 2^-13 would be 1 + 2^-12.
    CHECK(column_of_cells({1.0F, 1.0F + 0x1p-13F}, {-1.0F, 1.0F + 0x1p-13F}) == 0x1p-12F + 0x1p-26F);
}

TEST_CASE("Products below the smallest number count where their sum is above") {
    // The second and third product are 1.5 * 2^-150; multiplied by themselves they would be lost.
    CHECK(column_of_cells({0x1p-100F, 0x1p-75F, 0x1p-75F}, {0x1p-26F, 0x1.8p-75F, 0x1.8p-75F}) ==
          0x1p-126F + 0x1p-148F);
}

TEST_CASE("A sum that rounds to the smallest normal number is not zero") {
    // 2^-126 - 0.6 * 2^-150: the nearest multiple of 2^-149 is 2^-126. Processors that judge a result before
    // they round it give 0.
    CHECK(column_of_cells({0x1p-63F, -0x1.4p-75F}, {0x1p-63F, 0x1.ecp-77F}) == 0x1p-126F);
}

TEST_CASE("A subnormal sum is zero for the next cell") {
    CHECK(column_of_cells({0x1p-64F}, {0x1p-63F}) == 0.0F);
    CHECK(column_of_cells({0x1p-64F, 0x1p-63F}, {0x1p-63F, 0x1p-63F}) == 0x1p-126F);  // 2^-127 is lost
}

TEST_CASE("Every NaN of a product is the same") {
    CHECK(bits_of(column_of_cells({float_infinity}, {0.0F})) == float_nan_bits);
    CHECK(bits_of(column_of_cells({float_infinity, -float_infinity}, {1.0F, 1.0F})) == float_nan_bits);
}

TEST_CASE("The kernels for vectors equal the definition, bit by bit") {
    std::mt19937 random(2);
    const std::uint32_t runs = random_runs(300);
    std::size_t met = 0;
    for (std::uint32_t run = 0; run < runs; ++run) {
        const std::size_t m = random() % 20 + 1;
        const std::size_t n = random() % 100 + 1;
        const std::size_t k = random() % 140;
        const bool accumulate = random() % 2 == 0;
        const Matrices matrices(m, n, k, random() % 3, HardNumbers(run));
        INFO("run " << run << ", m " << m << ", n " << n << ", k " << k);
        const auto by = [&](const auto& multiply) {
            return matrices.result([&](const FloatProduct& p) {
                multiply(p.a, m, FloatWeights(p.b, k, n), FloatSums{p.c, p.c_row_elements, accumulate});
            });
        };
        const auto expected = by(multiply_pass_portable);
        REQUIRE(by(multiply_pass) == expected);
        met += std::count(expected.begin(), expected.end(), float_nan_bits) > 0 ? 1 : 0;
    }
    CHECK(met >= random_share(20));
}

TEST_CASE("Sums are cut where the array ends, and the cuts are added in order") {
    std::mt19937 random(3);
    const std::uint32_t runs = random_runs(40);
    std::uint32_t differ = 0;
    for (std::uint32_t run = 0; run < runs; ++run) {
        const std::size_t k = random() % 300 + 1;
        const std::size_t cut = random() % 100 + 1;
        const Matrices matrices(3, 5, k, 1, [&] {
            const auto bits = static_cast<std::uint32_t>(random());
            return std::bit_cast<float>((bits & 0x807FFFFF) | (115 + bits / 1024 % 16) << 23);
        });
        const auto by_hand = matrices.result([&](const FloatProduct& p) {
            for (std::size_t row = 0; row < p.m; ++row) {
                for (std::size_t column = 0; column < p.n; ++column) {
                    float total = 0.0F;
                    for (std::size_t first = 0; first < k; first += cut) {
                        float sum = 0.0F;
                        for (std::size_t i = first; i < std::min(k, first + cut); ++i) {
                            sum = std::fma(rounded_to_bfloat16(p.a.data[row * p.a.row_elements + i]),
                                           rounded_to_bfloat16(p.b.data[i * p.b.row_elements + column]), sum);
                        }
                        total = first == 0 ? sum : total + sum;
                    }
                    p.c[row * p.c_row_elements + column] = total;
                }
            }
        });
        const auto by_array = [&](std::size_t rows) {
            return matrices.result([&](FloatProduct p) {
                p.sum_tile = rows;
                multiply_in_order(p);
            });
        };
        INFO("run " << run << ", k " << k << ", cut " << cut);
        REQUIRE(by_array(cut) == by_hand);
        differ += by_array(k) != by_hand ? 1 : 0;
    }
    CHECK(differ >= random_share(20));
    CHECK_THROWS_AS(multiply_in_order(FloatProduct{}), std::logic_error);
}

TEST_CASE("An operand is the sum of its parts") {
    std::mt19937 random(7);
    std::vector<float> in;
    for (int i = 0; i < 1000; ++i) {
        const auto bits = static_cast<std::uint32_t>(random());
        in.push_back(std::bit_cast<float>((bits & 0x807FFFFF) | (60 + bits / 1024 % 150) << 23));
    }
    std::vector<float> parts(3 * in.size());
    cut_into_parts({in.data(), 50}, 20, 50, 3, parts.data());
    for (std::size_t i = 0; i < in.size(); ++i) {
        INFO("number " << i << ", " << in[i]);
        REQUIRE(parts[i] + parts[1000 + i] + parts[2000 + i] == in[i]);
        for (std::size_t part = 0; part < 3; ++part) {
            REQUIRE(bits_of(parts[1000 * part + i]) % 0x10000 == 0);
        }
    }
    // The largest float32 is beyond the largest bfloat16.
    const std::vector<float> outside{std::numeric_limits<float>::max(), -float_infinity, float_nan};
    cut_into_parts({outside.data(), 3}, 1, 3, 3, parts.data());
    CHECK(parts[0] == float_infinity);
    CHECK(parts[1] == -float_infinity);
    CHECK(bits_of(parts[2]) == float_nan_bits);
    for (std::size_t i = 3; i < 9; ++i) CHECK(bits_of(parts[i]) == 0);
}

TEST_CASE("More parts of the operands bring a product nearer to that of float32") {
    std::mt19937 random(4);
    std::uniform_real_distribution<float> draw(-1.0F, 1.0F);
    const Matrices matrices(8, 8, 256, 0, [&] { return draw(random); });
    const FloatProduct& p = matrices.product();
    const auto error = [&](Precision precision) {
        const auto bits = matrices.result([&](FloatProduct product) {
            product.precision = precision;
            multiply_in_order(product);
        });
        double largest = 0.0;
        for (std::size_t row = 0; row < p.m; ++row) {
            for (std::size_t column = 0; column < p.n; ++column) {
                double sum = 0.0;
                double size = 0.0;
                for (std::size_t i = 0; i < p.k; ++i) {
                    const double term = double{p.a.data[row * p.a.row_elements + i]} *
                                        double{p.b.data[i * p.b.row_elements + column]};
                    sum += term;
                    size += std::abs(term);
                }
                const double ours = std::bit_cast<float>(bits[row * p.c_row_elements + column]);
                largest = std::max(largest, std::abs(ours - sum) / size);
            }
        }
        return largest;
    };
    CHECK(error(Precision::Default) > 1e-4);
    CHECK(error(Precision::High) < 1e-5);
    CHECK(error(Precision::Highest) < 1e-6);
    CHECK(error(Precision::Highest) < error(Precision::High) / 4);
}

TEST_CASE("A product with no inputs is zero") {
    const Matrices matrices(2, 3, 0, 0, [] { return 5.0F; });
    for (const std::uint32_t bits : matrices.result(multiply_in_order)) {
        CHECK(bits == 0);
    }
}

}  // namespace
