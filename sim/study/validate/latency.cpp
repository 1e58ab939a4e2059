#include "sim/study/validate/latency.h"

#include "sim/study/validate/queue.h"

namespace systole::validate {

ServiceFigures service_figures(const Published& published, const std::string& path, std::uint32_t batch,
                               double latency_seconds) {
    constexpr double percentile = 0.99;
    ServiceFigures figures;
    figures.capacity = batch / latency_seconds;
    figures.load = published.at(path + ".inferences_per_second") / figures.capacity;
    if (figures.load < 0.99) {
        figures.p99_ms = 1e3 * latency_seconds * response_time(figures.load, percentile);
    }
    const double limit_seconds = published.at("table_4.limit_ms") / 1e3;
    figures.most_in_limit = largest_load(limit_seconds / latency_seconds, percentile) * figures.capacity;
    return figures;
}

}  // namespace systole::validate
