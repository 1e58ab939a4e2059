#include "sim/study/validate/latency.h"

#include "sim/study/validate/queue.h"

namespace systole::validate {

ServiceFigures service_figures(const Published& published, const std::string& path, std::uint32_t batch,
                               double service_seconds) {
    constexpr double percentile = 0.99;
    ServiceFigures figures;
    figures.capacity = batch / service_seconds;
    figures.load = published.at(path + ".inferences_per_second") / figures.capacity;
    if (figures.load < 0.99) {
        figures.latency_ms = 1e3 * service_seconds * response_time(figures.load, percentile);
    }
    const double limit_seconds = published.at("table_4.limit_ms") / 1e3;
    figures.most_in_limit = largest_load(limit_seconds / service_seconds, percentile) * figures.capacity;
    return figures;
}

}  // namespace systole::validate
