#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

/// Requests that arrive at random at a chip that computes batches.
namespace systole::arrivals {

/// The chip, for requests. The program is compiled for `batch` inferences: a batch with fewer takes as long.
struct Server {
    double interval_seconds = 0.0;  ///< from the begin of a batch to the earliest begin of the next
    double alone_seconds = 0.0;     ///< latency of a batch that has the chip to itself
    double latency_seconds = 0.0;   ///< of one that shares the chip with the batch before or behind it
    std::uint32_t batch = 1;

    /// Requests a second of full batches without a pause.
    double capacity() const { return batch / interval_seconds; }
};

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

    /// Serves them at this rate, in requests a second. As soon as the chip takes a batch and requests wait, a
    /// batch begins with the first of them, at most `batch`. The first tenth of the requests, when the queue
    /// is still filling, does not count. Absent if the rate is not below the capacity: the queue would grow
    /// for ever.
    std::optional<Served> serve(const Server& server, double rate) const;

    /// The largest share of the capacity at which 99 of 100 requests have their results within the limit, in
    /// whole thousandths; 0 if there is none. 999 is the end of the search.
    unsigned most_within(const Server& server, double limit_seconds) const;

private:
    std::vector<double> times_;  ///< for a rate of 1 a second, ascending
};

}  // namespace systole::arrivals
