#include "sim/view/arrivals/serve.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace systole::arrivals {

Answers answers_of(std::span<const double> arrivals, const Server& server) {
    Answers answers;
    answers.seconds.reserve(arrivals.size());
    double may_begin = 0.0;  // the chip takes the next batch
    double answered = 0.0;   // the batch before
    for (std::size_t next = 0; next < arrivals.size(); ++answers.batches) {
        const double begin = std::max(may_begin, arrivals[next]);
        std::size_t behind = next;
        while (behind < arrivals.size() && behind - next < server.batch && arrivals[behind] <= begin)
            ++behind;
        may_begin = begin + server.interval_seconds;
        const bool is_followed =
            behind < arrivals.size() && std::max(may_begin, arrivals[behind]) < begin + server.alone_seconds;
        const double own = is_followed ? server.followed_seconds : server.alone_seconds;
        // The times may be large, and a sum with one of them would lose digits of the latency.
        const double latency = std::max(own, answered - begin);
        answered = begin + latency;
        for (; next < behind; ++next) answers.seconds.push_back(begin - arrivals[next] + latency);
    }
    return answers;
}

namespace {

Served served_of(Answers answers) {
    auto& [taken, batches] = answers;
    const double mean = static_cast<double>(taken.size()) / static_cast<double>(batches);
    taken.erase(taken.begin(), taken.begin() + static_cast<std::ptrdiff_t>(taken.size() / 10));
    const auto percentile = [&taken = taken](double share) {
        const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(taken.size() - 1));
        std::nth_element(taken.begin(), taken.begin() + place, taken.end());
        return taken[static_cast<std::size_t>(place)];
    };
    return {.p50_seconds = percentile(0.50), .p99_seconds = percentile(0.99), .mean_batch = mean};
}

}  // namespace

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
    if (!(rate > 0.0)) return std::nullopt;
    std::vector<double> arrivals(times_.size());
    std::ranges::transform(times_, arrivals.begin(), [rate](double time) { return time / rate; });
    std::optional<Served> best;
    for (const Server& way : {server.one_by_one(), server}) {
        if (rate >= way.batch / way.interval_seconds) continue;
        const Served served = served_of(answers_of(arrivals, way));
        if (!best || served.p99_seconds < best->p99_seconds) best = served;
    }
    return best;
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
