#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/sim/view/figures/baselines.h"
#include "tests/unit/sim/view/figures/facts.h"
#include "tests/unit/sim/view/figures/rows.h"

/// Requests that arrive at random: docs/studies.md.
namespace systole::figures {

/// The chip as requests see it, in seconds, with the host's time.
struct ChipOfRequests {
    double interval = 0.0;  ///< between the begins of full batches
    double alone = 0.0;     ///< latency of a batch that has the chip to itself
    double followed = 0.0;  ///< of one that has another behind it
    std::size_t batch = 0;

    /// Of the two ways, the one with more: batches that overlap, or one after the other.
    double capacity() const { return static_cast<double>(batch) / std::min(interval, alone); }
};

inline ChipOfRequests chip_of_requests(const Facts& facts) {
    const double host = host_in_chip(facts) ? time_with_host(facts, "typical") : 1.0;
    const run::BatchLatency& times = *facts.record().latency;
    // A run of one batch, or of less, is the batch alone.
    const auto alone = static_cast<double>(times.alone ? *times.alone : facts.record().cycles);
    ChipOfRequests chip{host * alone / facts.clock_hz(), host * alone / facts.clock_hz(),
                        host * alone / facts.clock_hz(), inferences_together(facts)};
    // Of less than a batch, no row of batches was simulated.
    if (facts.inferences() < facts.files().run.at("batch").get<std::uint64_t>()) return chip;
    chip.interval = host * facts.seconds(times.between) / static_cast<double>(times.intervals);
    chip.followed = std::max(chip.alone, host * facts.seconds(times.first));
    return chip;
}

/// 100,000 requests of a Poisson process of one a second.
inline std::vector<double> arrivals(std::uint64_t seed) {
    std::mt19937_64 bits(seed);
    std::vector<double> times(100'000);
    double now = 0.0;
    for (double& time : times) {
        now -= std::log(std::ldexp(static_cast<double>((bits() >> 11U) + 1), -53));
        time = now;
    }
    return times;
}

struct AnswersOfRequests {
    double half = 0.0;
    double most = 0.0;  ///< of 99 of 100
    double batch = 0.0;
};

/// A batch begins as soon as the chip takes it and a request waits, with all that wait then. If the next
/// begins before it would have its results alone, it has another behind it. It has no results before the
/// batches before it have theirs.
inline AnswersOfRequests serve_in_one_way(const ChipOfRequests& chip, const std::vector<double>& arrive) {
    struct Batch {
        std::size_t first, end;
        double begin;
    };
    std::vector<Batch> batches;
    double chip_is_free = 0.0;
    for (std::size_t first = 0; first < arrive.size(); first = batches.back().end) {
        const double begin = std::max(chip_is_free, arrive[first]);
        std::size_t end = first;
        while (end < std::min(arrive.size(), first + chip.batch) && arrive[end] <= begin) ++end;
        batches.push_back({first, end, begin});
        chip_is_free = begin + chip.interval;
    }
    std::vector<double> latencies;
    double before_is_out = 0.0;
    for (std::size_t i = 0; i < batches.size(); ++i) {
        const Batch& batch = batches[i];
        const bool has_next = i + 1 < batches.size() && batches[i + 1].begin < batch.begin + chip.alone;
        const double latency = std::max(has_next ? chip.followed : chip.alone, before_is_out - batch.begin);
        before_is_out = batch.begin + latency;
        for (std::size_t request = batch.first; request < batch.end; ++request) {
            latencies.push_back(batch.begin - arrive[request] + latency);  // to the last digits
        }
    }
    latencies.erase(latencies.begin(), latencies.begin() + 10'000);  // the queue is still filling
    std::sort(latencies.begin(), latencies.end());
    const auto last = static_cast<double>(latencies.size() - 1);
    return {latencies[static_cast<std::size_t>(0.50 * last)],
            latencies[static_cast<std::size_t>(0.99 * last)],
            static_cast<double>(arrive.size()) / static_cast<double>(batches.size())};
}

/// Batches that overlap, or one after the other: the way counts whose 99 of 100 are sooner. A way that has no
/// capacity for the rate does not count.
inline AnswersOfRequests serve(const ChipOfRequests& chip, const std::vector<double>& arrivals_of_1,
                               double rate) {
    std::vector<double> arrive;
    for (const double time : arrivals_of_1) arrive.push_back(time / rate);
    const ChipOfRequests one_by_one{chip.alone, chip.alone, chip.alone, chip.batch};
    std::optional<AnswersOfRequests> sooner;
    for (const ChipOfRequests& way : {one_by_one, chip}) {
        if (rate >= static_cast<double>(way.batch) / way.interval) continue;
        const AnswersOfRequests answers = serve_in_one_way(way, arrive);
        if (!sooner || answers.most < sooner->most) sooner = answers;
    }
    return sooner.value();
}

/// The largest load within the limit, in thousandths of the capacity.
inline unsigned most_thousandths(const ChipOfRequests& chip, std::uint64_t seed, double limit) {
    const std::vector<double> times = arrivals(seed);
    unsigned within = 0;
    unsigned beyond = 1000;
    while (beyond > within + 1) {
        const unsigned middle = within + (beyond - within) / 2;
        const bool keeps = serve(chip, times, middle / 1000.0 * chip.capacity()).most <= limit;
        (keeps ? within : beyond) = middle;
    }
    return within;
}

inline Expected requests(const Facts& facts, const Place&) {
    const Json& run = facts.files().run;
    const double rate = run.value("arrivals", 0.0);
    const double limit_ms = run.value("latency_limit_ms", 0.0);
    if (!facts.record().latency || !facts.chip_computes() || (rate == 0.0 && limit_ms == 0.0)) return nullptr;
    const ChipOfRequests chip = chip_of_requests(facts);
    const std::uint64_t seed = run.value("arrival_seed", std::uint64_t{1});
    Json expected{{"per_second", rate},
                  {"interval_ms", 1e3 * chip.interval},
                  {"alone_ms", 1e3 * chip.alone},
                  {"latency_ms", 1e3 * chip.followed},
                  {"capacity_per_second", chip.capacity()},
                  {"load", rate / chip.capacity()},
                  {"p50_ms", nullptr},
                  {"p99_ms", nullptr},
                  {"mean_batch", nullptr},
                  {"limit_ms", limit_ms},
                  {"most_per_second", nullptr},
                  {"most_per_second_high", nullptr},
                  {"host_percent", host_in_chip(facts) ? facts.number("server.host_percent.typical") : 0.0}};
    if (rate > 0.0 && rate < chip.capacity()) {
        const AnswersOfRequests answers = serve(chip, arrivals(seed), rate);
        expected["p50_ms"] = 1e3 * answers.half;
        expected["p99_ms"] = 1e3 * answers.most;
        expected["mean_batch"] = answers.batch;
    }
    if (limit_ms > 0.0) {
        std::vector<unsigned> most;
        for (std::uint64_t stream = 0; stream < 3; ++stream) {
            most.push_back(most_thousandths(chip, seed + stream, limit_ms / 1e3));
        }
        expected["most_per_second"] = *std::min_element(most.begin(), most.end()) / 1000.0 * chip.capacity();
        expected["most_per_second_high"] =
            *std::max_element(most.begin(), most.end()) / 1000.0 * chip.capacity();
    }
    return expected;
}

inline Rows rows_of_requests() {
    return {{"requests", requests}};
}

}  // namespace systole::figures
