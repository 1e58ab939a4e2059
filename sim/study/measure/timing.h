#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace systole::measure {

/// What many repetitions of one thing took, in seconds.
struct Timing {
    double median = 0.0;
    double spread = 0.0;  ///< between the quartiles, over the median
    std::size_t repetitions = 0;
};

/// Throws std::logic_error where there are none.
Timing summarize(std::vector<double> seconds);

/// When a measurement has been repeated often enough: for so long, and at least three times.
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

}  // namespace systole::measure
