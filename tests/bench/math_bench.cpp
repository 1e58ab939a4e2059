// How fast hw/math is on this machine: matrix products, requantization, window gathering, the rest.
// Each line is the best of many rounds, on one thread.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "hw/math/elementwise.h"
#include "hw/math/gemm_kernels.h"
#include "hw/math/lookup_table.h"
#include "hw/math/pooling.h"
#include "hw/math/requantize.h"
#include "hw/math/window.h"

namespace {

using namespace systole;
using namespace systole::math;

/// Seconds one call takes.
template <typename Work>
double seconds(const Work& work) {
    constexpr int rounds = 40;
    constexpr int calls = 10;
    double best = std::numeric_limits<double>::infinity();
    for (int round = 0; round < rounds; ++round) {
        const auto start = std::chrono::steady_clock::now();
        for (int call = 0; call < calls; ++call) work();
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        best = std::min(best, elapsed.count() / calls);
    }
    return best;
}

/// Work per second, in billions.
double rate(std::size_t work, double time) {
    return static_cast<double>(work) / time * 1e-9;
}

std::vector<std::uint8_t> random_bytes(std::size_t count) {
    std::mt19937 random(1);
    std::vector<std::uint8_t> bytes(count);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    return bytes;
}

void bench_gemm(std::size_t m, std::size_t n, std::size_t k) {
    const auto a = random_bytes(m * k * 2);
    const auto b = random_bytes(k * n * 2);
    std::vector<std::int32_t> c(m * n);
    const GemmProblem narrow{.a = {a.data(), k, DataType::Uint8},
                             .b = {b.data(), n, DataType::Int8},
                             .c = c.data(),
                             .ldc = n,
                             .m = m,
                             .n = n,
                             .k = k,
                             .accumulate = true};
    GemmProblem wide = narrow;
    wide.a = {a.data(), 2 * k, DataType::Int16};
    wide.b = {b.data(), 2 * n, DataType::Int16};
    const std::size_t macs = m * n * k;
    const double chosen = seconds([&] {
        multiply_accumulate(a.data(), k, false, reinterpret_cast<const std::int8_t*>(b.data()), n, c.data(),
                            n, m, n, k, true);
    });
    fmt::print("{:>5} x {:>3} x {:>4}  {:>9.2f} us {:>8.1f} {:>8.1f} {:>8.1f} {:>8.1f}\n", m, n, k,
               chosen * 1e6, rate(macs, chosen), rate(macs, seconds([&] { gemm_onednn(narrow); })),
               rate(macs, seconds([&] { gemm_portable(narrow); })),
               rate(macs, seconds([&] { gemm_portable(wide); })));
}

void bench_requantize(std::size_t columns, std::size_t stride) {
    constexpr std::size_t rows = 256;
    const std::vector<std::int32_t> accumulators(rows * stride, 123456);
    const std::vector<std::int32_t> bias(columns, -77);
    const std::vector<std::int32_t> multiplier(columns, 1 << 30);
    const std::vector<std::int8_t> shift(columns, -9);
    const Requantization parameters{bias, multiplier, shift, 3, 0, 255};
    std::vector<std::uint8_t> out(rows * columns * 2);
    const double narrow = seconds([&] {
        requantize_rows(accumulators.data(), stride, rows, columns, parameters, DataType::Uint8, out.data(),
                        columns);
    });
    const double wide = seconds([&] {
        requantize_rows(accumulators.data(), stride, rows, columns, parameters, DataType::Int16, out.data(),
                        columns * 2);
    });
    fmt::print("{:>7} {:>6} {:>12.2f} {:>12.2f}\n", columns, stride, rate(rows * columns, narrow),
               rate(rows * columns, wide));
}

void bench_gather(const std::string& name, const WindowGeometry& geometry, std::size_t begin,
                  std::size_t count) {
    const auto tensor = random_bytes(geometry.image_stride_bytes);
    std::vector<std::uint8_t> out(std::size_t{geometry.output_height} * geometry.output_width * count);
    const WindowRange range{begin, count, 0, geometry.output_height};
    const double time =
        seconds([&] { gather_windows(tensor.data(), geometry, range, 0, 1, out.data(), count); });
    fmt::print("{:<32} {:>9.2f} us {:>8.2f} GB/s\n", name, time * 1e6, rate(out.size(), time));
}

/// A square image with windows that keep its size, but for the stride.
WindowGeometry same_size(std::uint32_t size, std::uint32_t channels, std::uint32_t kernel,
                         std::uint32_t stride) {
    WindowGeometry geometry;
    geometry.input_height = geometry.input_width = size;
    geometry.channels = channels;
    geometry.kernel_height = geometry.kernel_width = kernel;
    geometry.stride_y = geometry.stride_x = stride;
    geometry.pad_top = geometry.pad_left = (kernel - stride) / 2;
    geometry.output_height = geometry.output_width = size / stride;
    geometry.image_stride_bytes = std::size_t{size} * size * channels;
    return geometry;
}

void bench_pooling(const std::string& name, const WindowGeometry& geometry, Pooling operation) {
    const auto tensor = random_bytes(geometry.image_stride_bytes);
    std::vector<std::uint8_t> out(std::size_t{geometry.output_height} * geometry.output_width *
                                  geometry.channels);
    PoolingRules rules;
    rules.operation = operation;
    const double time = seconds([&] {
        pool(tensor.data(), geometry, rules, 0, geometry.output_height,
             {.first = out.data(), .image_stride = out.size(), .pixel_stride = geometry.channels});
    });
    fmt::print("{:<32} {:>9.2f} us {:>8.2f} G elements read/s\n", name, time * 1e6,
               rate(out.size() * geometry.kernel_height * geometry.kernel_width, time));
}

void bench_elementwise() {
    constexpr std::size_t count = 65536;
    const auto a = random_bytes(count);
    const auto b = random_bytes(count);
    std::vector<std::uint8_t> out(count);
    Elementwise parameters;
    parameters.scale_a = to_fixed_point(0.5);
    parameters.scale_b = to_fixed_point(0.37);
    parameters.scale = to_fixed_point(1e-6);
    const LookupTable table = make_table([](double x) { return evaluate({FunctionKind::Sigmoid}, x); },
                                         {0.05, 128}, {1.0 / 256, 0});
    fmt::print("add      {:>8.2f} G elements/s\n", rate(count, seconds([&] { add(a, b, parameters, out); })));
    fmt::print("multiply {:>8.2f} G elements/s\n",
               rate(count, seconds([&] { multiply(a, b, parameters, out); })));
    fmt::print("lookup   {:>8.2f} G elements/s\n", rate(count, seconds([&] { lookup(a, out, table); })));
}

}  // namespace

int main() {
    fmt::print("oneDNN is {} on this processor\n\n", onednn_is_exact() ? "exact" : "not exact");

    fmt::print("GEMM, 8-bit; G MAC/s: the chosen kernel, oneDNN, ours; and ours of 16 bits\n");
    constexpr std::size_t shapes[][3] = {{256, 256, 256}, {256, 64, 256}, {256, 24, 256}, {200, 10, 200},
                                         {8, 256, 256},   {1, 256, 256},  {8, 10, 256},   {256, 32, 432},
                                         {1568, 12, 9},   {196, 12, 9},   {28, 12, 9},    {8, 12, 9},
                                         {64, 16, 16},    {256, 16, 27},  {1, 16, 32}};
    for (const auto& [m, n, k] : shapes) bench_gemm(m, n, k);

    fmt::print("\nrequantize, 256 rows; G elements/s: to 8 bits, to 16 bits\ncolumns stride\n");
    for (const std::size_t columns : {1U, 3U, 10U, 12U, 24U, 64U, 100U, 256U}) {
        bench_requantize(columns, 256);
        bench_requantize(columns, columns);
    }

    fmt::print("\ngather_windows, one image\n");
    bench_gather("28x28x1, 3x3", same_size(28, 1, 3, 1), 0, 9);
    bench_gather("28x28x12, 6x6 stride 2, 0..256", same_size(28, 12, 6, 2), 0, 256);
    bench_gather("28x28x12, 6x6 stride 2, 256..432", same_size(28, 12, 6, 2), 256, 176);
    bench_gather("14x14x24, 6x6 stride 2, 0..256", same_size(14, 24, 6, 2), 0, 256);
    bench_gather("14x14x256, 3x3, 256..512", same_size(14, 256, 3, 1), 256, 256);
    bench_gather("14x14x256, 3x3, all", same_size(14, 256, 3, 1), 0, 2304);
    bench_gather("224x224x3, 7x7 stride 2", same_size(224, 3, 7, 2), 0, 147);

    fmt::print("\npooling, one image\n");
    bench_pooling("max 56x56x64, 2x2 stride 2", same_size(56, 64, 2, 2), Pooling::Max);
    bench_pooling("average 56x56x64, 2x2 stride 2", same_size(56, 64, 2, 2), Pooling::Average);
    bench_pooling("average 8x8x256, whole", same_size(8, 256, 8, 8), Pooling::Average);
    bench_pooling("max 28x28x12, 2x2 stride 2", same_size(28, 12, 2, 2), Pooling::Max);

    fmt::print("\nelement-wise\n");
    bench_elementwise();
}
