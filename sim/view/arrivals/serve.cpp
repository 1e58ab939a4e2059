#include "sim/view/arrivals/serve.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace systole::arrivals {

Arrivals::Arrivals(std::uint64_t seed) {
    // Not the standard's distribution: each library has its own.
    std::mt19937_64 generator(seed);
    times_.reserve(requests);
    double now = 0.0;
    for (std::size_t i = 0; i < requests; ++i) {
        const double part = (static_cast<double>(generator() >> 11U) + 1.0) * 0x1p-53;  // above 0, at most 1
        now -= std::log(part);
        times_.push_back(now);
    }
}

std::optional<Served> Arrivals::serve(const Server& server, double rate) const {
    if (!(rate > 0.0) || rate >= server.capacity()) return std::nullopt;
    std::vector<double> taken;
    taken.reserve(times_.size());
    double may_begin = 0.0;  // the chip takes the next batch
    double answered = 0.0;   // the batch before
    std::size_t batches = 0;
    for (std::size_t next = 0; next < times_.size(); ++batches) {
        const double begin = std::max(may_begin, times_[next] / rate);
        std::size_t behind = next;
        while (behind < times_.size() && behind - next < server.batch && times_[behind] / rate <= begin)
            ++behind;
        may_begin = begin + server.interval_seconds;
        const bool is_followed = behind < times_.size() &&
                                 std::max(may_begin, times_[behind] / rate) < begin + server.alone_seconds;
        const bool is_alone = begin >= answered && !is_followed;
        const double latency = is_alone ? server.alone_seconds : server.latency_seconds;
        answered = begin + latency;
        for (; next < behind; ++next) taken.push_back(begin - times_[next] / rate + latency);
    }
    const double mean = static_cast<double>(times_.size()) / static_cast<double>(batches);
    taken.erase(taken.begin(), taken.begin() + static_cast<std::ptrdiff_t>(taken.size() / 10));
    const auto percentile = [&](double share) {
        const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(taken.size() - 1));
        std::nth_element(taken.begin(), taken.begin() + place, taken.end());
        return taken[static_cast<std::size_t>(place)];
    };
    return Served{.p50_seconds = percentile(0.50), .p99_seconds = percentile(0.99), .mean_batch = mean};
}

unsigned Arrivals::most_within(const Server& server, double limit_seconds) const {
    // In thousandths, so that no rounding decides.
    unsigned within = 0;
    unsigned beyond = 1000;
    while (beyond - within > 1) {
        const unsigned middle = (within + beyond) / 2;
        const std::optional<Served> served = serve(server, middle / 1000.0 * server.capacity());
        (served && served->p99_seconds <= limit_seconds ? within : beyond) = middle;
    }
    return within;
}

}  // namespace systole::arrivals
