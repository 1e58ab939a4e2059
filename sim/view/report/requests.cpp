// Requests that arrive at random and are computed in batches (sim/view/arrivals/serve.h), and their
// latencies.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "sim/view/arrivals/serve.h"
#include "sim/view/report/json_values.h"
#include "sim/view/report/numbers.h"
#include "sim/view/report/report_lines.h"
#include "sim/view/report/sections.h"
#include "sim/view/report/texts.h"

namespace systole::report {
namespace {

constexpr unsigned streams = 3;
constexpr unsigned whole_capacity = 999;  ///< in thousandths, to one of them

}  // namespace

bool asks_for_requests(const run::RunRecord& record) {
    return record.spec.arrivals.per_second > 0.0 || record.spec.arrivals.latency_limit_ms > 0.0;
}

Json requests_json(const run::RunRecord& record, const BatchSeconds& batch) {
    const run::RequestArrivals& asked = record.spec.arrivals;
    if (!asks_for_requests(record) || !(batch.full_interval > 0.0)) return nullptr;
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
    const double capacity = server.capacity();
    const double limit_seconds = asked.latency_limit_ms / milliseconds;
    // Latencies are absent where there is no rate, or one that is not below the capacity.
    Json json{{"per_second", asked.per_second},
              {"interval_ms", milliseconds * server.interval_seconds},
              {"alone_ms", milliseconds * server.alone_seconds},
              {"latency_ms", milliseconds * server.followed_seconds},
              {"capacity_per_second", capacity},
              {"load", asked.per_second / capacity},
              {"p50_ms", nullptr},
              {"p99_ms", nullptr},
              {"mean_batch", nullptr},
              {"limit_ms", milliseconds * limit_seconds},
              {"most_per_second", nullptr},
              {"most_per_second_high", nullptr},
              {"host_percent", host_percent}};
    if (const auto served = arriving.serve(server, asked.per_second)) {
        json["p50_ms"] = milliseconds * served->p50_seconds;
        json["p99_ms"] = milliseconds * served->p99_seconds;
        json["mean_batch"] = served->mean_batch;
    }
    if (limit_seconds > 0.0) {
        // Near the capacity a queue is long or short by chance: one stream alone would say more than it
        // knows.
        unsigned least = arriving.most_within(server, limit_seconds);
        unsigned most = least;
        for (unsigned i = 1; i < streams; ++i) {
            const unsigned other = arrivals::Arrivals(asked.seed + i).most_within(server, limit_seconds);
            least = std::min(least, other);
            most = std::max(most, other);
        }
        json["most_per_second"] = least / 1000.0 * capacity;
        json["most_per_second_high"] = most / 1000.0 * capacity;
    }
    return json;
}

namespace {

class RequestsText : ReportLines {
public:
    RequestsText(const Json& requests, const terminal::Look& look)
        : ReportLines(look), requests_(requests), capacity_(requests["capacity_per_second"]) {}

    std::string write() && {
        line("{}", heading("Requests at random"));
        const double host_percent = requests_["host_percent"];
        const std::string host =
            host_percent > 0.0 ? fmt::format("with the host's {:g} %: ", host_percent) : std::string();
        entry("a batch every", seconds("interval_ms"),
              fmt::format("{}at most {} requests a second", host, amount(capacity_, "")));
        entry("latency", seconds("alone_ms"), "of a batch that has the chip to itself");
        if (requests_["latency_ms"] > requests_["alone_ms"]) {
            entry("", seconds("latency_ms"), "of one with another behind it");
        }
        const double rate = requests_["per_second"];
        if (!requests_["p99_ms"].is_null()) {
            entry("50 of 100 within", seconds("p50_ms"),
                  fmt::format("at {} a second, {} of the most", amount(rate, ""), percent(rate / capacity_)));
            entry(
                "99 of 100 within", seconds("p99_ms"),
                fmt::format("{} requests in a batch, mean", amount(number_at(requests_, "mean_batch"), "")));
        } else if (rate > 0.0) {
            entry("99 of 100 within", "-",
                  fmt::format("{} a second are more than the chip computes: the queue grows",
                              amount(rate, "")));
        }
        if (const auto most = number_at(requests_, "most_per_second")) write_limit(*most);
        return take();
    }

private:
    std::string seconds(std::string_view key) const {
        return si(*number_at(requests_, key) / milliseconds, "s");
    }

    void write_limit(double most) {
        std::string what = fmt::format("a second have 99 of 100 answers within {}, {} of the most",
                                       seconds("limit_ms"), percent(most / capacity_));
        const std::optional<double> luckiest = number_at(requests_, "most_per_second_high");
        if (most >= whole_capacity / 1000.0 * capacity_) {
            what += "; the limit does not reduce it";
        } else if (luckiest > most) {
            what += fmt::format("; {} in the luckiest of {} streams", amount(luckiest, ""), streams);
        }
        entry("requests", amount(most, ""), what);
    }

    const Json& requests_;
    const double capacity_;
};

}  // namespace

std::string requests_text(const Json& requests, const terminal::Look& look) {
    return RequestsText(requests, look).write();
}

}  // namespace systole::report
