#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace systole::advise {

/// What a part of the machine needs of the cycles if it never waits.
struct Share {
    std::string name;     ///< of its bound, a key of report.json: "hbm"
    std::string meaning;  ///< what happens in these cycles
    double share = 0.0;

    bool operator==(const Share&) const = default;
};

/// One batch of images of one size.
struct Point {
    std::uint32_t size = 1;
    std::uint32_t batch = 1;
    std::string error = {};         ///< one line; the other fields then say nothing
    double latency_seconds = 0.0;   ///< of a batch, mean
    double interval_seconds = 0.0;  ///< by which batches follow each other
    double inferences_per_second = 0.0;
    /// Arithmetic done, of what the array could do at its peak; absent where the report does not know it.
    std::optional<double> peak_share = {};
    std::string limit = {};  ///< the part of the machine that is the busiest in most layers, or "waiting"
    /// The expected speed of one die of the CPU, over which the chip's is `speedup`; absent if not known.
    std::optional<double> speedup = {};
    // Of a machine with tensor cores.
    std::uint64_t images_of_core = 0;  ///< of the batch; 0: not known
    std::vector<Share> shares = {};    ///< by part, the largest first
    /// How often a multiply-accumulate that the network needs passes the array, for the precision of its
    /// numbers; 0 without any.
    double passes = 0.0;

    bool operator==(const Point&) const = default;
};

}  // namespace systole::advise
