#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/run/baselines/baseline.h"
#include "sim/study/measure/products.h"

namespace systole::measure {

/// The time of a repeated measurement, in seconds.
struct Timing {
    double median = 0.0;
    double spread = 0.0;  ///< distance between the quartiles, over the median
    std::size_t repetitions = 0;
};

/// Throws std::logic_error if there are no times.
Timing summarize(std::vector<double> seconds);

/// Decides when to stop repeating: after `minimum_seconds`, and at least three repetitions.
class Repetitions {
public:
    explicit Repetitions(double minimum_seconds) : minimum_seconds_(minimum_seconds) {}

    bool enough(std::size_t done) const {
        constexpr std::size_t least = 3;
        return done >= least && elapsed() >= minimum_seconds_;
    }
    double elapsed() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
    }

private:
    std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
    double minimum_seconds_;
};

struct ProductTimings {
    std::vector<Timing> each;  ///< in the order of the products
    Timing pass;               ///< all of them, one after the other
};

/// Runs the products one after the other with oneDNN, again and again for `minimum_seconds`, on all cores
/// that this process may use. In int8, unsigned bytes are multiplied by signed bytes with 32-bit sums. The
/// weights of a product are in the caches only as far as the products before it have left them there.
ProductTimings time_products(std::span<const Product> products, baselines::Precision precision,
                             double minimum_seconds);

/// Reads `bytes` (rounded up to whole words) from memory on all cores that this process may use, again and
/// again for `minimum_seconds`. To measure memory, not caches, bytes must be far more than caches hold.
Timing time_memory_read(std::uint64_t bytes, double minimum_seconds);

}  // namespace systole::measure
