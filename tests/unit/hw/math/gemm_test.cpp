#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "hw/math/gemm_kernels.h"

namespace {

using namespace systole;
using namespace systole::math;

constexpr DataType all_formats[] = {DataType::Uint8, DataType::Int8, DataType::Uint16, DataType::Int16};

std::int64_t element(const GemmOperand& operand, std::size_t row, std::size_t column) {
    const std::uint8_t* const at = operand.data + row * operand.row_bytes + column * bytes_of(operand.type);
    const int low = at[0];
    switch (operand.type) {
        case DataType::Uint8:
            return low;
        case DataType::Int8:
            return low - (low >= 128 ? 256 : 0);
        case DataType::Uint16:
            return low + 256 * at[1];
        case DataType::Int16:
            return low + 256 * at[1] - (at[1] >= 128 ? 65536 : 0);
        case DataType::Int32:
        case DataType::Bfloat16:
        case DataType::Float32:
        case DataType::Uint32:
        case DataType::Float16:
        case DataType::Bool:
            break;
    }
    throw std::logic_error("no such format");
}

/// The definition: sums modulo 2^32.
void multiply_by_definition(const GemmProblem& problem) {
    for (std::size_t i = 0; i < problem.m; ++i) {
        for (std::size_t j = 0; j < problem.n; ++j) {
            std::int32_t& c = problem.c[i * problem.ldc + j];
            std::uint64_t sum = problem.accumulate ? static_cast<std::uint64_t>(std::int64_t{c}) : 0;
            for (std::size_t l = 0; l < problem.k; ++l) {
                const std::int64_t weight = element(problem.b, l, j) - problem.b.zero_point;
                sum += static_cast<std::uint64_t>(element(problem.a, i, l) * weight);
            }
            c = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum));
        }
    }
}

/// A product whose row strides exceed the rows' lengths; memory ends with the last row.
class Example {
public:
    Example(std::size_t m, std::size_t n, std::size_t k, DataType a_format, DataType b_format,
            std::size_t gap = 0) {
        problem.m = m;
        problem.n = n;
        problem.k = k;
        problem.ldc = n + gap;
        a = operand(problem.a, m, k, a_format, gap);
        b = operand(problem.b, k, n, b_format, gap);
        c.resize((m - 1) * problem.ldc + n);
    }

    void randomize(std::mt19937& random) {
        for (auto& byte : a) byte = static_cast<std::uint8_t>(random());
        for (auto& byte : b) byte = static_cast<std::uint8_t>(random());
        for (auto& value : c) value = static_cast<std::int32_t>(random());
    }

    void fill(std::uint8_t a_byte, std::uint8_t b_byte, std::int32_t c_value) {
        std::fill(a.begin(), a.end(), a_byte);
        std::fill(b.begin(), b.end(), b_byte);
        std::fill(c.begin(), c.end(), c_value);
    }

    void set_zero_point(std::int32_t zero_point) { problem.b.zero_point = zero_point; }

    /// C, with the elements between its rows, after a kernel has run on a copy.
    template <typename Kernel>
    std::vector<std::int32_t> after(const Kernel& kernel, bool accumulate) const {
        std::vector<std::int32_t> result = c;
        GemmProblem copy = problem;
        copy.a.data = a.data();
        copy.b.data = b.data();
        copy.c = result.data();
        copy.accumulate = accumulate;
        kernel(copy);
        return result;
    }

private:
    static std::vector<std::uint8_t> operand(GemmOperand& operand, std::size_t rows, std::size_t columns,
                                             DataType format, std::size_t gap) {
        operand.type = format;
        operand.row_bytes = (columns + gap) * bytes_of(format);
        return std::vector<std::uint8_t>((rows - 1) * operand.row_bytes + columns * bytes_of(format));
    }

    GemmProblem problem;
    std::vector<std::uint8_t> a;
    std::vector<std::uint8_t> b;
    std::vector<std::int32_t> c;
};

void multiply_chosen(const GemmProblem& problem) {
    multiply_accumulate(problem.a.data, problem.a.row_bytes, problem.a.type == DataType::Int8,
                        reinterpret_cast<const std::int8_t*>(problem.b.data), problem.b.row_bytes, problem.c,
                        problem.ldc, problem.m, problem.n, problem.k, problem.accumulate);
}

void multiply_chosen_wide(const GemmProblem& problem) {
    multiply_accumulate(problem.a, problem.b, problem.c, problem.ldc, problem.m, problem.n, problem.k,
                        problem.accumulate);
}

void check_8_bit(const Example& example) {
    for (const bool accumulate : {false, true}) {
        const auto expected = example.after(multiply_by_definition, accumulate);
        // CHECK takes long to print and to count; a product is one fact.
        const bool same = example.after(gemm_portable, accumulate) == expected &&
                          example.after(multiply_chosen, accumulate) == expected &&
                          (!onednn_is_exact() || example.after(gemm_onednn, accumulate) == expected);
        CAPTURE(accumulate);
        REQUIRE(same);
    }
}

}  // namespace

TEST_CASE("8-bit products of all small shapes are exact in every kernel", "[hw][math][gemm]") {
    const auto seed = Catch::rngSeed();
    CAPTURE(seed);
    std::mt19937 random(seed);
    constexpr std::size_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 15, 16, 17, 33};
    for (const auto a_format : {DataType::Uint8, DataType::Int8}) {
        for (const std::size_t m : sizes) {
            for (const std::size_t n : sizes) {
                for (const std::size_t k : sizes) {
                    CAPTURE(m, n, k, static_cast<int>(a_format));
                    Example example(m, n, k, a_format, DataType::Int8, (m + k) % 3);
                    example.randomize(random);
                    check_8_bit(example);
                }
            }
        }
    }
}

TEST_CASE("8-bit products of tile-like shapes are exact in every kernel", "[hw][math][gemm]") {
    const auto seed = Catch::rngSeed();
    CAPTURE(seed);
    std::mt19937 random(seed);
    // On both sides of the block sizes 24 x 256 and 256 x 128, and shapes of real layers.
    constexpr std::size_t shapes[][3] = {{23, 127, 255}, {24, 128, 256}, {25, 129, 257}, {256, 256, 256},
                                         {196, 12, 9},   {49, 24, 432},  {1, 256, 256},  {8, 10, 513},
                                         {683, 3, 9},    {2, 300, 600}};
    for (const auto a_format : {DataType::Uint8, DataType::Int8}) {
        for (const auto& [m, n, k] : shapes) {
            CAPTURE(m, n, k, static_cast<int>(a_format));
            Example example(m, n, k, a_format, DataType::Int8, 5);
            example.randomize(random);
            check_8_bit(example);
        }
    }
}

TEST_CASE("Products of extreme 8-bit operands neither saturate nor round", "[hw][math][gemm]") {
    constexpr std::uint8_t extremes[] = {0x00, 0x01, 0x7F, 0x80, 0xFF};
    for (const auto a_format : {DataType::Uint8, DataType::Int8}) {
        for (const std::uint8_t a : extremes) {
            for (const std::uint8_t b : extremes) {
                for (const std::size_t k : {2U, 64U, 256U, 515U}) {
                    CAPTURE(a, b, k, static_cast<int>(a_format));
                    Example example(19, 21, k, a_format, DataType::Int8);
                    example.fill(a, b, 0);
                    check_8_bit(example);
                }
            }
        }
    }
}

TEST_CASE("Accumulation wraps around", "[hw][math][gemm]") {
    constexpr auto highest = std::numeric_limits<std::int32_t>::max();
    constexpr auto lowest = std::numeric_limits<std::int32_t>::min();
    const auto n = GENERATE(std::size_t{1}, std::size_t{12}, std::size_t{40});
    Example up(1, n, 1, DataType::Uint8, DataType::Int8);
    up.fill(1, 1, highest);
    Example down(1, n, 1, DataType::Uint8, DataType::Int8);
    down.fill(1, 0xFF, lowest);
    for (const auto kernel : {gemm_portable, gemm_onednn, multiply_chosen, multiply_chosen_wide}) {
        CHECK(up.after(kernel, true) == std::vector<std::int32_t>(n, lowest));
        CHECK(down.after(kernel, true) == std::vector<std::int32_t>(n, highest));
    }
    Example many(70, n, 300, DataType::Uint8, DataType::Int8);
    many.fill(0xFF, 0x7F, highest - 1000);
    check_8_bit(many);
}

TEST_CASE("A zero point of B is subtracted from each of its elements", "[hw][math][gemm]") {
    const auto seed = Catch::rngSeed();
    CAPTURE(seed);
    std::mt19937 random(seed);
    constexpr std::size_t shapes[][3] = {{1, 1, 1}, {5, 7, 3}, {19, 33, 65}, {40, 130, 257}};
    for (const auto a_format : all_formats) {
        for (const auto& [m, n, k] : shapes) {
            for (const std::int32_t zero_point : {-128, -1, 1, 127}) {
                for (const bool accumulate : {false, true}) {
                    CAPTURE(m, n, k, static_cast<int>(a_format), zero_point, accumulate);
                    Example example(m, n, k, a_format, DataType::Int8, 2);
                    example.randomize(random);
                    example.set_zero_point(zero_point);
                    REQUIRE(example.after(multiply_chosen_wide, accumulate) ==
                            example.after(multiply_by_definition, accumulate));
                }
            }
        }
    }
}

TEST_CASE("16-bit products are exact in every combination of formats", "[hw][math][gemm]") {
    const auto seed = Catch::rngSeed();
    CAPTURE(seed);
    std::mt19937 random(seed);
    for (const auto a_format : all_formats) {
        for (const auto b_format : all_formats) {
            for (const std::size_t size : {1U, 2U, 7U, 8U, 9U, 25U, 66U}) {
                const std::size_t m = size;
                const std::size_t n = (size * 5) % 67 + 1;
                const std::size_t k = (size * size) % 517 + 1;
                CAPTURE(static_cast<int>(a_format), static_cast<int>(b_format), m, n, k);
                Example example(m, n, k, a_format, b_format, size % 2);
                example.randomize(random);
                const bool accumulate = size % 2 == 1;
                REQUIRE(example.after(multiply_chosen_wide, accumulate) ==
                        example.after(multiply_by_definition, accumulate));
            }
        }
    }
}

TEST_CASE("Products of extreme 16-bit operands wrap around", "[hw][math][gemm]") {
    constexpr std::uint8_t extremes[] = {0x00, 0x7F, 0x80, 0xFF};  // both bytes
    for (const auto a_format : {DataType::Uint16, DataType::Int16}) {
        for (const auto b_format : {DataType::Uint16, DataType::Int16}) {
            for (const std::uint8_t a : extremes) {
                for (const std::uint8_t b : extremes) {
                    CAPTURE(a, b);
                    Example example(7, 9, 515, a_format, b_format);
                    example.fill(a, b, 12345);
                    REQUIRE(example.after(multiply_chosen_wide, true) ==
                            example.after(multiply_by_definition, true));
                }
            }
        }
    }
}

TEST_CASE("A product without terms is zero, or adds nothing", "[hw][math][gemm]") {
    std::vector<std::int32_t> c{1, 2, 3, 4, 5};
    multiply_accumulate(nullptr, 0, false, nullptr, 2, c.data(), 3, 2, 2, 0, true);
    CHECK(c == std::vector<std::int32_t>{1, 2, 3, 4, 5});
    multiply_accumulate(nullptr, 0, false, nullptr, 2, c.data(), 3, 2, 2, 0, false);
    CHECK(c == std::vector<std::int32_t>{0, 0, 3, 0, 0});
    multiply_accumulate(nullptr, 4, false, nullptr, 2, nullptr, 3, 0, 2, 4, false);
    multiply_accumulate(nullptr, 4, false, nullptr, 0, nullptr, 3, 2, 0, 4, false);
}

TEST_CASE("Statistics count the products that get them", "[hw][math][gemm]") {
    const std::vector<std::uint8_t> a(2 * 3, 1);
    const std::vector<std::int8_t> b(3 * 5, 1);
    std::vector<std::int32_t> c(2 * 5);
    GemmStatistics statistics;
    const auto run = [&](GemmStatistics* to) {
        multiply_accumulate(a.data(), 3, false, b.data(), 5, c.data(), 5, 2, 5, 3, false, to);
    };
    run(&statistics);
    run(nullptr);
    run(&statistics);
    multiply_accumulate({a.data(), 2, DataType::Uint8}, {a.data(), 1, DataType::Uint8}, c.data(), 1, 3, 1, 2,
                        false, &statistics);
    CHECK(statistics.calls == 3);
    CHECK(statistics.macs == 2 * (2 * 5 * 3) + 3 * 1 * 2);
    CHECK(statistics.seconds > 0.0);
}

TEST_CASE("oneDNN's kernel refuses formats that it cannot multiply", "[hw][math][gemm]") {
    Example wide(2, 2, 2, DataType::Int16, DataType::Int8);
    CHECK_THROWS_AS(wide.after(gemm_onednn, false), std::logic_error);
    Example unsigned_weights(2, 2, 2, DataType::Uint8, DataType::Uint8);
    CHECK_THROWS_AS(unsigned_weights.after(gemm_onednn, false), std::logic_error);
}
