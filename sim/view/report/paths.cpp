// What moved over each path, and the share of its bandwidth that the run used.
#include <stdexcept>

#include "sim/view/report/report.h"

namespace systole::report {
namespace {

Path path_of(const machine::DataPath& path, const run::RunRecord& record) {
    std::uint64_t moved = 0;
    for (const std::string& counter : path.counters) moved += record.counters.at(counter).value();
    const double most = static_cast<double>(record.cycles) * static_cast<double>(path.most.bytes) /
                        static_cast<double>(path.most.cycles);
    std::optional<double> utilization;
    if (most > 0.0) utilization = static_cast<double>(moved) / most;
    return {.path = path, .moved = moved, .utilization = utilization};
}

}  // namespace

std::vector<Path> make_paths(const run::RunRecord& record) {
    std::vector<Path> paths;
    for (const machine::UnitDescription& unit : record.units) {
        for (const machine::DataPath& path : unit.paths) paths.push_back(path_of(path, record));
    }
    return paths;
}

std::vector<Traffic> traffic_of(const std::vector<Path>& paths) {
    std::vector<Traffic> traffic;
    for (const Path& each : paths) {
        if (each.path.traffic.empty()) continue;
        if (each.path.unit != "bytes") {
            throw std::logic_error(each.path.from + " to " + each.path.to + " is no traffic: it counts " +
                                   each.path.unit);
        }
        traffic.push_back({.path = each.path.traffic,
                           .label = each.path.label,
                           .bytes = each.moved,
                           .utilization = each.utilization});
    }
    return traffic;
}

}  // namespace systole::report
