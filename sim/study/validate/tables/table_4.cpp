#include <fmt/format.h>

#include "sim/study/validate/performance.h"
#include "sim/study/validate/queue.h"
#include "sim/study/validate/tables/tables.h"

namespace systole::validate {
namespace {

constexpr double percentile = 0.99;

/// One batch size, as published and by us, with and without the host's share of Table 5.
void add_rows(Table& table, const LatencyRow& published, double limit_ms, const Measurement& ours,
              double host_share) {
    const auto row = [&](const char* whose, double service_seconds) {
        const double capacity = ours.batch / service_seconds;
        const double load = published.inferences_per_second / capacity;
        std::optional<double> latency_ms;
        if (load < 0.99) latency_ms = 1e3 * service_seconds * response_time(load, percentile);
        const double most = largest_load(limit_ms / 1e3 / service_seconds, percentile);
        table.rows.push_back({.label = fmt::format("{} {}", ours.batch, whose),
                              .cells = {Cell::number(1e3 * service_seconds, 2), Cell::number(capacity, 0),
                                        Cell::percent(load, 0), Cell::number(latency_ms, 1),
                                        Cell::number(most * capacity, 0)}});
    };
    table.rows.push_back({.label = fmt::format("{} published", ours.batch),
                          .cells = {{},
                                    {},
                                    {},
                                    Cell::number(published.p99_ms, 1),
                                    Cell::number(published.inferences_per_second, 0)}});
    row("ours, chip", ours.seconds());
    row("ours, chip + host", ours.seconds() * (1.0 + host_share));
}

}  // namespace

Table table_4(const Results& results) {
    const Table4& published = results.published.table_4;
    const double host = host_share(results.published, MLP0);
    Table table{.id = "table_4",
                .title = fmt::format("Table 4: MLP0, service time of a batch, and its {} ms limit",
                                     Cell::number(published.limit_ms, 0).text()),
                .columns = {"batch", "ms", "most IPS", "load %", "99th % ms", "IPS in limit"}};
    add_rows(table, published.tpu.within_limit, published.limit_ms, results.base[MLP0], host);
    add_rows(table, published.tpu.at_maximum, published.limit_ms, results.largest_batch, host);
    table.notes.emplace_back(
        "Ours: ms is the time of a batch, most IPS what follows from it. Batches arrive at random "
        "(Poisson) and are served one after the other in the same time (M/D/1); load and 99th percentile "
        "are at the published inferences a second (IPS) of the batch. The published rows were measured at "
        "their loads; the second is the most the chip could be given, beyond the limit. Chip + host adds "
        "Table 5's share of host time to each batch. - where a load is 99 % or more.");
    return table;
}

}  // namespace systole::validate
