// What moves between the units of a machine, and how the page draws them.
#include <cstdint>
#include <stdexcept>

#include "sim/view/report/json_values.h"
#include "sim/view/report/sections.h"

namespace systole::report {
namespace {

/// The amount that moved over a path, and its share of the most that the path could have moved in the run.
Json path_json(const machine::DataPath& path, const run::RunRecord& record) {
    std::uint64_t moved = 0;
    for (const std::string& counter : path.counters) moved += record.counters.at(counter).value();
    // Each core has the path.
    const double most = static_cast<double>(record.cycles * record.spec.machine.cores()) *
                        static_cast<double>(path.most.bytes) / static_cast<double>(path.most.cycles);
    return {{"from", path.from},
            {"to", path.to},
            {"moved", moved},
            {"unit", path.unit},
            {"utilization", or_null(ratio(static_cast<double>(moved), most))}};
}

/// Where the box of a unit stands, and what stands in it.
Json box_json(const std::string& unit, const machine::Box& box) {
    const auto number = [](const machine::ShownNumber& shown) {
        return Json{{"number", shown.number}, {"format", shown.format}};
    };
    const auto line = [&](const machine::ShownLine& shown) {
        return Json{{"text", shown.text}, {"numbers", list_of(shown.numbers, number)}};
    };
    Json object{{"unit", unit},
                {"title", box.title},
                {"column", box.column},
                {"row", box.row},
                {"lines", list_of(box.lines, line)}};
    if (!box.busy_counter.empty()) object["busy"] = "units." + box.busy_counter;
    if (box.filled) object["filled"] = {{"used_bytes", box.filled->used_bytes}, {"bytes", box.filled->bytes}};
    object["word"] = box.word;
    return object;
}

}  // namespace

std::vector<machine::DataPath> paths_of(const run::RunRecord& record) {
    std::vector<machine::DataPath> paths;
    for (const machine::UnitDescription& unit : record.units) {
        paths.insert(paths.end(), unit.paths.begin(), unit.paths.end());
    }
    return paths;
}

Json paths_json(const run::RunRecord& record) {
    return list_of(paths_of(record), [&](const machine::DataPath& path) { return path_json(path, record); });
}

Json traffic_json(const run::RunRecord& record, const Json& paths) {
    Json bytes = Json::object();
    Json utilization = Json::object();
    std::size_t number = 0;
    for (const machine::DataPath& path : paths_of(record)) {
        const Json& moved = paths[number++];
        if (path.traffic.empty()) continue;
        if (path.unit != "bytes") {
            throw std::logic_error(path.from + " to " + path.to + " is no traffic: it counts " + path.unit);
        }
        bytes[path.traffic + "_bytes"] = moved["moved"];
        utilization[path.traffic + "_utilization"] = moved["utilization"];
    }
    bytes.update(utilization);
    return bytes;
}

Json drawing_json(const run::RunRecord& record) {
    Json boxes = Json::array();
    for (const machine::UnitDescription& unit : record.units) {
        if (unit.box) boxes.push_back(box_json(unit.name, *unit.box));
    }
    const auto route = [](const machine::DataPath& path) {
        return Json{{"from", path.from},
                    {"to", path.to},
                    {"figures", machine::names_of(path.figures)[static_cast<std::size_t>(path.figures)]},
                    {"shift", Json::array({path.shift_x, path.shift_y})}};
    };
    return {{"boxes", std::move(boxes)}, {"routes", list_of(paths_of(record), route)}};
}

}  // namespace systole::report
