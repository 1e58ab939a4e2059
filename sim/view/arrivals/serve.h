#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// Requests that arrive at random at a chip that computes batches.
namespace systole::arrivals {

/// The chip, for requests: a pipeline. The program is compiled for `batch` inferences: a batch with fewer
/// takes as long.
struct Server {
    double interval_seconds = 0.0;  ///< from the begin of a batch to the earliest begin of the next
    double alone_seconds = 0.0;  ///< from the begin of a batch to its results, if no other comes before them
    double followed_seconds = 0.0;  ///< and if another comes, whose work takes turns with its own
    std::uint32_t batch = 1;

    /// The same chip if it computes one batch after the other: none delays another.
    Server one_by_one() const {
        return {.interval_seconds = alone_seconds,
                .alone_seconds = alone_seconds,
                .followed_seconds = alone_seconds,
                .batch = batch};
    }

    /// Requests a second of full batches without a pause.
    double capacity() const { return batch / std::min(interval_seconds, alone_seconds); }
};

/// The times from the arrival of each request to its result, in the order of arrival.
struct Answers {
    std::vector<double> seconds;
    std::size_t batches = 0;
};

/// Serves requests that arrive at these times, in seconds and ascending. A batch begins as soon as requests
/// wait and the chip takes it: `interval_seconds` after the begin of the batch before. It takes those that
/// wait then, the first ones, at most `batch`. Batches before it do not delay it, because no part of the chip
/// works longer for a batch than the interval; but it has no results before they have theirs.
Answers answers_of(std::span<const double> arrivals, const Server& server);

/// Times from the arrival of a request to its result.
struct Served {
    double p50_seconds = 0.0;
    double p99_seconds = 0.0;
    double mean_batch = 0.0;  ///< requests in a batch
};

/// Arrivals of a Poisson process, from a seed: the same on every computer.
class Arrivals {
public:
    static constexpr std::size_t requests = 100'000;

    explicit Arrivals(std::uint64_t seed);

    /// Serves them at this rate, in requests a second. The chip overlaps batches where 99 of 100 requests
    /// have their results sooner for it; else it computes one after the other. The first tenth of the
    /// requests, when the queue is still filling, does not count. Absent if the rate is not below the
    /// capacity: the queue would grow for ever.
    std::optional<Served> serve(const Server& server, double rate) const;

    /// The largest share of the capacity at which 99 of 100 requests have their results within the limit, in
    /// whole thousandths; 0 if there is none. 999 is the end of the search.
    unsigned most_within(const Server& server, double limit_seconds) const;

private:
    std::vector<double> times_;  ///< for a rate of 1 a second, ascending
};

}  // namespace systole::arrivals
