// Requests that arrive at random, and their latencies.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "sim/view/arrivals/serve.h"
#include "sim/view/report/json_values.h"
#include "sim/view/report/numbers.h"
#include "sim/view/report/report.h"
#include "sim/view/report/report_lines.h"

namespace systole::report {

bool asks_for_requests(const run::RunRecord& record) {
    return record.spec.arrivals.per_second > 0.0 || record.spec.arrivals.latency_limit_ms > 0.0;
}

std::optional<RequestLatencies> make_requests(const run::RunRecord& record, const BatchSeconds& batch) {
    const run::RequestArrivals& asked = record.spec.arrivals;
    if (!asks_for_requests(record) || !(batch.full_interval > 0.0)) return std::nullopt;
    const std::optional<machine::HostPercent>& host = record.spec.machine.server.host_percent;
    const double host_percent = record.spec.host_time && host ? host->typical : 0.0;
    const double with_host = 1.0 + host_percent / 100.0;
    // A run of fewer inferences than the batch asked for is one of all of them.
    const std::uint64_t inferences =
        std::min<std::uint64_t>(record.spec.compiler.batch, record.program.inferences);
    const arrivals::Server server{.interval_seconds = batch.full_interval * with_host,
                                  .alone_seconds = batch.alone * with_host,
                                  .followed_seconds = batch.followed * with_host,
                                  .batch = static_cast<std::uint32_t>(inferences)};
    const arrivals::Arrivals arriving(asked.seed);
    RequestLatencies requests{.per_second = asked.per_second,
                              .interval_seconds = server.interval_seconds,
                              .alone_seconds = server.alone_seconds,
                              .latency_seconds = server.followed_seconds,
                              .host_percent = host_percent,
                              .capacity = server.capacity(),
                              .limit_seconds = asked.latency_limit_ms / 1e3};
    if (const auto served = arriving.serve(server, asked.per_second)) {
        requests.p50_seconds = served->p50_seconds;
        requests.p99_seconds = served->p99_seconds;
        requests.mean_batch = served->mean_batch;
    }
    if (requests.limit_seconds > 0.0) {
        // Near the capacity a queue is long or short by chance: one stream alone would say more than it
        // knows.
        unsigned least = arriving.most_within(server, requests.limit_seconds);
        unsigned most = least;
        for (unsigned i = 1; i < RequestLatencies::streams; ++i) {
            const unsigned other =
                arrivals::Arrivals(asked.seed + i).most_within(server, requests.limit_seconds);
            least = std::min(least, other);
            most = std::max(most, other);
        }
        requests.most_per_second = least / 1000.0 * requests.capacity;
        requests.most_per_second_high = most / 1000.0 * requests.capacity;
        requests.reaches_capacity = least == 999;
    }
    return requests;
}

nlohmann::ordered_json requests_json(const std::optional<RequestLatencies>& requests) {
    if (!requests) return nullptr;
    const auto milliseconds = [](std::optional<double> seconds) {
        return seconds ? nlohmann::ordered_json(1e3 * *seconds) : nlohmann::ordered_json(nullptr);
    };
    return {{"per_second", requests->per_second},
            {"interval_ms", 1e3 * requests->interval_seconds},
            {"alone_ms", 1e3 * requests->alone_seconds},
            {"latency_ms", 1e3 * requests->latency_seconds},
            {"capacity_per_second", requests->capacity},
            {"load", requests->per_second / requests->capacity},
            {"p50_ms", milliseconds(requests->p50_seconds)},
            {"p99_ms", milliseconds(requests->p99_seconds)},
            {"mean_batch", or_null(requests->mean_batch)},
            {"limit_ms", 1e3 * requests->limit_seconds},
            {"most_per_second", or_null(requests->most_per_second)},
            {"most_per_second_high", or_null(requests->most_per_second_high)},
            {"host_percent", requests->host_percent}};
}

namespace {

class RequestsText : ReportLines {
public:
    explicit RequestsText(const terminal::Look& look) : ReportLines(look) {}

    std::string write(const RequestLatencies& requests) && {
        line("{}", heading("Requests at random"));
        const std::string host = requests.host_percent > 0.0
                                     ? fmt::format("with the host's {:g} %: ", requests.host_percent)
                                     : std::string();
        entry("a batch every", si(requests.interval_seconds, "s"),
              fmt::format("{}at most {} requests a second", host, amount(requests.capacity, "")));
        entry("latency", si(requests.alone_seconds, "s"), "of a batch that has the chip to itself");
        if (requests.latency_seconds > requests.alone_seconds) {
            entry("", si(requests.latency_seconds, "s"), "of one with another behind it");
        }
        if (requests.p99_seconds) {
            entry("50 of 100 within", si(requests.p50_seconds, "s"),
                  fmt::format("at {} a second, {} of the most", amount(requests.per_second, ""),
                              percent(requests.per_second / requests.capacity)));
            entry("99 of 100 within", si(requests.p99_seconds, "s"),
                  fmt::format("{} requests in a batch, mean", amount(requests.mean_batch, "")));
        } else if (requests.per_second > 0.0) {
            entry("99 of 100 within", "-",
                  fmt::format("{} a second are more than the chip computes: the queue grows",
                              amount(requests.per_second, "")));
        }
        if (requests.most_per_second) write_limit(requests);
        return take();
    }

private:
    void write_limit(const RequestLatencies& requests) {
        std::string what = fmt::format("a second have 99 of 100 answers within {}, {} of the most",
                                       si(requests.limit_seconds, "s"),
                                       percent(*requests.most_per_second / requests.capacity));
        if (requests.reaches_capacity) {
            what += "; the limit does not reduce it";
        } else if (*requests.most_per_second_high > *requests.most_per_second) {
            what += fmt::format("; {} in the luckiest of {} streams",
                                amount(requests.most_per_second_high, ""), RequestLatencies::streams);
        }
        entry("requests", amount(requests.most_per_second, ""), what);
    }
};

}  // namespace

std::string requests_text(const RequestLatencies& requests, const terminal::Look& look) {
    return RequestsText(look).write(requests);
}

}  // namespace systole::report
