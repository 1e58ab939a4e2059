#include "sim/study/measure/timing.h"

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>

#include "base/arithmetic.h"

namespace systole::measure {

Timing summarize(std::vector<double> seconds) {
    if (seconds.empty()) throw std::logic_error("a timing without repetitions");
    std::sort(seconds.begin(), seconds.end());
    const auto at = [&](std::size_t quarters) { return seconds[(seconds.size() - 1) * quarters / 4]; };
    Timing timing{.median = at(2), .spread = 0.0, .repetitions = seconds.size()};
    if (timing.median > 0.0) timing.spread = (at(3) - at(1)) / timing.median;
    return timing;
}

namespace {

using baselines::Precision;

dnnl_dim_t dimension(std::uint64_t value) {
    return static_cast<dnnl_dim_t>(value);
}

/// A number format: the types of operands and results, and oneDNN's product.
struct Floats {
    using A = float;
    using B = float;
    using C = float;
    static dnnl_status_t multiply(const Product& p, const A* a, const B* b, C* c) {
        return dnnl_sgemm('N', 'N', dimension(p.m), dimension(p.n), dimension(p.k), 1.0F, a, dimension(p.k),
                          b, dimension(p.n), 0.0F, c, dimension(p.n));
    }
};

struct Integers {
    using A = std::uint8_t;
    using B = std::int8_t;
    using C = std::int32_t;
    static dnnl_status_t multiply(const Product& p, const A* a, const B* b, C* c) {
        const std::int32_t no_offset = 0;
        return dnnl_gemm_u8s8s32('N', 'N', 'F', dimension(p.m), dimension(p.n), dimension(p.k), 1.0F, a,
                                 dimension(p.k), 0, b, dimension(p.n), 0, 0.0F, c, dimension(p.n),
                                 &no_offset);
    }
};

/// Small values, because subnormal floats would be slower.
template <class Value>
std::vector<Value> made_up(std::uint64_t size) {
    std::vector<Value> values(size);
    for (std::uint64_t i = 0; i < size; ++i) values[i] = static_cast<Value>(i % 13);
    return values;
}

template <class Format>
ProductTimings time_in(std::span<const Product> products, double minimum_seconds) {
    std::uint64_t largest_a = 0;
    std::uint64_t largest_c = 0;
    std::vector<std::vector<typename Format::B>> weights;
    for (const Product& product : products) {
        largest_a = std::max(largest_a, product.m * product.k);
        largest_c = std::max(largest_c, product.m * product.n);
        weights.push_back(made_up<typename Format::B>(product.k * product.n));
    }
    const auto a = made_up<typename Format::A>(largest_a);
    std::vector<typename Format::C> c(largest_c);
    const auto multiply = [&](std::size_t i) {
        const Product& product = products[i];
        const dnnl_status_t status = Format::multiply(product, a.data(), weights[i].data(), c.data());
        if (status == dnnl_success) return;
        throw std::logic_error(fmt::format("{}: m {}, n {}, k {}: oneDNN status {}", product.layer, product.m,
                                           product.n, product.k, static_cast<int>(status)));
    };
    for (std::size_t i = 0; i < products.size(); ++i)
        multiply(i);  // oneDNN generates its code; pages are allocated

    using Clock = std::chrono::steady_clock;
    std::vector<std::vector<double>> each(products.size());
    std::vector<double> passes;
    for (const Repetitions repetitions(minimum_seconds); !repetitions.enough(passes.size());) {
        const auto pass_begun = Clock::now();
        auto begun = pass_begun;
        for (std::size_t i = 0; i < products.size(); ++i) {
            multiply(i);
            const auto ended = Clock::now();
            each[i].push_back(std::chrono::duration<double>(ended - begun).count());
            begun = ended;
        }
        passes.push_back(std::chrono::duration<double>(begun - pass_begun).count());
    }
    ProductTimings timings{.each = {}, .pass = summarize(std::move(passes))};
    for (std::vector<double>& seconds : each) timings.each.push_back(summarize(std::move(seconds)));
    return timings;
}

}  // namespace

ProductTimings time_products(std::span<const Product> products, Precision precision, double minimum_seconds) {
    switch (precision) {
        case Precision::Fp32:
            return time_in<Floats>(products, minimum_seconds);
        case Precision::Int8:
            return time_in<Integers>(products, minimum_seconds);
        case Precision::Fp16:
        case Precision::Bf16:
            break;
    }
    throw std::logic_error("products are timed in fp32 and in int8");
}

Timing time_memory_read(std::uint64_t bytes, double minimum_seconds) {
    const auto words = static_cast<std::int64_t>(divide_up(bytes, sizeof(std::uint64_t)));
    // Not initialized here: each thread first touches the part that it will read, so that the part is in
    // memory near to its core.
    const auto buffer = std::make_unique_for_overwrite<std::uint64_t[]>(static_cast<std::size_t>(words));
    std::uint64_t* const data = buffer.get();
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < words; ++i) data[i] = 3;

    std::vector<double> seconds;
    for (const Repetitions repetitions(minimum_seconds); !repetitions.enough(seconds.size());) {
        const auto begun = std::chrono::steady_clock::now();
        std::uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
        for (std::int64_t i = 0; i < words; ++i) sum += data[i];
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
        if (sum != 3 * static_cast<std::uint64_t>(words)) throw std::logic_error("memory was misread");
    }
    return summarize(std::move(seconds));
}

}  // namespace systole::measure
