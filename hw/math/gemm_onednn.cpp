#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.h>

#include <array>
#include <limits>
#include <stdexcept>
#include <vector>

#include "hw/math/gemm_kernels.h"
#include "hw/math/single_threaded.h"

namespace systole::math {
namespace {

/// Whether a product of extreme operands is exact; it is long enough for the vector kernels and has a tail.
bool exact_on_extremes(DataType a_format, std::uint8_t a_value, std::int8_t b_value) {
    constexpr std::size_t m = 17;
    constexpr std::size_t n = 35;
    constexpr std::size_t k = 131;
    const std::vector<std::uint8_t> a(m * k, a_value);
    const std::vector<std::uint8_t> b(k * n, static_cast<std::uint8_t>(b_value));
    std::vector<std::int32_t> by_onednn(m * n);
    std::vector<std::int32_t> by_us(m * n);
    GemmProblem problem{.a = {a.data(), k, a_format},
                        .b = {b.data(), n, DataType::Int8},
                        .c = by_onednn.data(),
                        .ldc = n,
                        .m = m,
                        .n = n,
                        .k = k};
    gemm_onednn(problem);
    problem.c = by_us.data();
    gemm_portable(problem);
    return by_onednn == by_us;
}

}  // namespace

void gemm_onednn(const GemmProblem& problem) {
    const auto& [a, b, c, ldc, m, n, k, accumulate] = problem;
    if ((a.type != DataType::Uint8 && a.type != DataType::Int8) || b.type != DataType::Int8) {
        throw std::logic_error("gemm_onednn: operands must be 8-bit, the second one signed");
    }
    const auto dimension = [](std::size_t value) { return static_cast<dnnl_dim_t>(value); };
    const auto* const weights = reinterpret_cast<const std::int8_t*>(b.data);
    const float beta = accumulate ? 1.0F : 0.0F;
    const std::int32_t no_offset = 0;

    const SingleThreaded single_threaded;
    const dnnl_status_t status =
        a.type == DataType::Uint8
            ? dnnl_gemm_u8s8s32('N', 'N', 'F', dimension(m), dimension(n), dimension(k), 1.0F, a.data,
                                dimension(a.row_bytes), 0, weights, dimension(b.row_bytes), 0, beta, c,
                                dimension(ldc), &no_offset)
            : dnnl_gemm_s8s8s32('N', 'N', 'F', dimension(m), dimension(n), dimension(k), 1.0F,
                                reinterpret_cast<const std::int8_t*>(a.data), dimension(a.row_bytes), 0,
                                weights, dimension(b.row_bytes), 0, beta, c, dimension(ldc), &no_offset);
    if (status != dnnl_success) {
        throw std::logic_error(
            fmt::format("gemm_onednn: m {}, n {}, k {}, rows {}, {} and {}: oneDNN status {}", m, n, k,
                        a.row_bytes, b.row_bytes, ldc, static_cast<int>(status)));
    }
}

bool onednn_is_exact() {
    static const bool exact = [] {
        constexpr auto lowest = std::numeric_limits<std::int8_t>::min();
        constexpr auto highest = std::numeric_limits<std::int8_t>::max();
        constexpr auto unsigned_highest = std::numeric_limits<std::uint8_t>::max();
        constexpr std::uint8_t lowest_bits = 0x80;
        return exact_on_extremes(DataType::Uint8, unsigned_highest, highest) &&
               exact_on_extremes(DataType::Uint8, unsigned_highest, lowest) &&
               exact_on_extremes(DataType::Int8, lowest_bits, lowest) &&
               exact_on_extremes(DataType::Int8, lowest_bits, highest) &&
               exact_on_extremes(DataType::Int8, highest, highest);
    }();
    return exact;
}

}  // namespace systole::math
