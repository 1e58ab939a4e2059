#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

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

}  // namespace systole::measure
