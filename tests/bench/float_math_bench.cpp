// How fast hw/math/floats is on this machine, on one thread; each line is the best of many rounds.
#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "hw/math/floats/float_functions.h"
#include "hw/math/floats/float_product.h"
#include "hw/math/floats/float_values.h"
#include "hw/math/floats/word_reduction.h"
#include "hw/math/single_threaded.h"

namespace {

using namespace systole;
using namespace systole::math;

/// Seconds one call takes.
template <typename Work>
double seconds(const Work& work) {
    constexpr int rounds = 20;
    double best = std::numeric_limits<double>::infinity();
    for (int round = 0; round < rounds; ++round) {
        const auto start = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        best = std::min(best, elapsed.count());
    }
    return best;
}

/// Work per second, in billions.
double rate(std::size_t work, double time) {
    return static_cast<double>(work) / time * 1e-9;
}

std::vector<float> random_numbers(std::size_t count) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> draw(-1.0F, 1.0F);
    std::vector<float> numbers(count);
    for (float& x : numbers) x = rounded_to_bfloat16(draw(random));
    return numbers;
}

void bench_product(std::size_t m, std::size_t n, std::size_t k) {
    const auto a = random_numbers(m * k);
    const auto b = random_numbers(k * n);
    std::vector<float> c(m * n);
    FloatProduct product{{a.data(), k}, {b.data(), n}, c.data(), n, m, n, k, 128};
    const SingleThreaded single_threaded;
    const auto dimension = [](std::size_t value) { return static_cast<dnnl_dim_t>(value); };
    const double theirs = seconds([&] {
        if (dnnl_sgemm('N', 'N', dimension(m), dimension(n), dimension(k), 1.0F, a.data(), dimension(k),
                       b.data(), dimension(n), 0.0F, c.data(), dimension(n)) != dnnl_success) {
            throw std::runtime_error("oneDNN refuses a product");
        }
    });
    const std::size_t macs = m * n * k;
    const auto ours = [&](Precision precision) {
        product.precision = precision;
        return rate(macs, seconds([&] { multiply_in_order(product); }));
    };
    const FloatWeights weights({b.data(), n}, k, n);
    const double pass = seconds([&] { multiply_pass({a.data(), k}, m, weights, {c.data(), n}); });
    fmt::print("{:>5} x {:>4} x {:>4} {:>8.1f} {:>8.1f} {:>8.1f} {:>8.1f} {:>8.1f}\n", m, n, k,
               rate(macs, theirs), rate(macs, pass), ours(Precision::Default), ours(Precision::High),
               ours(Precision::Highest));
}

void bench_functions() {
    const auto in = random_numbers(65536);
    std::vector<float> out(in.size());
    using enum WordOperation;
    for (const WordOperation function : {Exp, Expm1, Log, Log1p, Tanh, Logistic, Erf, Sqrt, Rsqrt}) {
        const double time = seconds([&] { apply_function(function, in, out); });
        fmt::print("{:<9} {:>8.2f} G numbers/s\n", traits_of(function).name, rate(in.size(), time));
    }
}

void bench_sums() {
    constexpr std::size_t rows = 1024;
    constexpr std::size_t columns = 256;
    constexpr std::size_t block = 128;
    std::vector<std::uint32_t> words;
    for (const float number : random_numbers(rows * columns)) {
        words.push_back(std::bit_cast<std::uint32_t>(number));
    }
    std::vector<std::uint32_t> out(rows);
    const double down = seconds([&] {
        reduce_words(Reduction::Sum, {words.data(), rows, columns, columns, 1, block}, false, out.data());
    });
    const double along = seconds([&] {
        reduce_words(Reduction::Sum, {words.data(), columns, 1, rows, columns, block}, false, out.data());
    });
    fmt::print("down columns {:>5.2f} G numbers/s, along rows {:.2f}\n", rate(words.size(), down),
               rate(words.size(), along));
}

}  // namespace

int main() {
    fmt::print(
        "products; G MAC/s: oneDNN's float32; ours in order: one pass, of weights in place; default, high, "
        "highest\n");
    constexpr std::size_t shapes[][3] = {{128, 128, 128}, {8, 128, 128},   {1024, 512, 512},
                                         {8, 1000, 2048}, {3136, 64, 576}, {196, 256, 2304}};
    for (const auto& [m, n, k] : shapes) bench_product(m, n, k);
    fmt::print("\nfunctions\n");
    bench_functions();
    fmt::print("\nsums by halves\n");
    bench_sums();
}
