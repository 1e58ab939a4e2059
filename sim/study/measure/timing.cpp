#include "sim/study/measure/timing.h"

#include <algorithm>
#include <stdexcept>

namespace systole::measure {

Timing summarize(std::vector<double> seconds) {
    if (seconds.empty()) throw std::logic_error("a timing without repetitions");
    std::sort(seconds.begin(), seconds.end());
    const auto at = [&](std::size_t quarters) { return seconds[(seconds.size() - 1) * quarters / 4]; };
    Timing timing{.median = at(2), .spread = 0.0, .repetitions = seconds.size()};
    if (timing.median > 0.0) timing.spread = (at(3) - at(1)) / timing.median;
    return timing;
}

}  // namespace systole::measure
