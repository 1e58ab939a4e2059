#include "sim/study/array_fill/array_fill.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "sim/run/execute/executor.h"
#include "sim/run/execute/scratch_folder.h"

namespace systole::studies {
namespace {

constexpr std::uint64_t batches = 2;

run::RunSpec spec_of(const machine::MachineConfig& machine, const FillPoint& point,
                     const run::ScratchFolder& folder) {
    run::RunSpec spec;
    spec.machine = machine;
    const nlohmann::json network = article_cnn_file(point.network);
    spec.network = folder.add("mnist_cnn.json", network.dump());
    spec.compiler = {.batch = point.batch, .limit = batches * point.batch};
    spec.timing_only = true;
    return spec;
}

FillRow row_of(const machine::MachineConfig& machine, const FillPoint& point,
               const run::RunOutcome& outcome) {
    FillRow row;
    row.point = point;
    if (!outcome.record) {
        row.error = outcome.error;
        return row;
    }
    const run::RunRecord& record = *outcome.record;
    row.macs = record.network.value().macs();
    row.cycles = record.cycles;
    const auto cycles = static_cast<double>(row.cycles);
    const auto share = [&](const char* counter) {
        return static_cast<double>(record.counters.at(counter).value()) / cycles;
    };
    row.useful = share("matrix_unit.useful_macs") / static_cast<double>(machine.tile_bytes());
    row.active = share("matrix_unit.active_cycles");
    row.weight_stall = share("matrix_unit.weight_stall_cycles");
    row.weight_shift = share("matrix_unit.weight_shift_cycles");
    row.non_matrix = share("matrix_unit.non_matrix_cycles");
    row.inferences_per_second =
        static_cast<double>(batches * point.batch) / cycles * static_cast<double>(machine.clock_hz());
    return row;
}

std::string sentence(std::span<const FillRow> rows, const char* axis, bool (*on_axis)(const FillPoint&)) {
    std::vector<FillRow> chosen;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(chosen),
                 [&](const FillRow& row) { return row.error.empty() && on_axis(row.point); });
    if (chosen.empty()) return {};
    constexpr double half = 0.5;
    if (const std::optional<FillRow> first = first_above(chosen, half)) {
        return fmt::format("{}: above half of the peak from size x{}, width x{}, batch {} on.\n", axis,
                           first->point.network.size_multiplier, first->point.network.width_multiplier,
                           first->point.batch);
    }
    const FillRow& most = *std::max_element(
        chosen.begin(), chosen.end(), [](const FillRow& a, const FillRow& b) { return a.useful < b.useful; });
    return fmt::format("{}: at most {:.1f} % of the peak, at size x{}, width x{}, batch {}.\n", axis,
                       100.0 * most.useful, most.point.network.size_multiplier,
                       most.point.network.width_multiplier, most.point.batch);
}

}  // namespace

std::vector<FillPoint> fill_points() {
    std::vector<FillPoint> points;
    for (const std::uint32_t size : {1U, 2U, 4U, 8U}) {
        for (const std::uint32_t batch : {1U, 16U, 256U}) {
            points.push_back({{.size_multiplier = size, .width_multiplier = 1}, batch});
        }
    }
    for (const std::uint32_t width : {2U, 4U, 8U, 16U}) {
        for (const std::uint32_t batch : {1U, 16U, 256U}) {
            points.push_back({{.size_multiplier = 1, .width_multiplier = width}, batch});
        }
    }
    return points;
}

std::vector<FillRow> study_fill(const machine::MachineConfig& machine, std::span<const FillPoint> points,
                                std::size_t workers) {
    const run::ScratchFolder folder;
    std::vector<run::RunSpec> specs;
    specs.reserve(points.size());
    for (const FillPoint& point : points) specs.push_back(spec_of(machine, point, folder));
    run::Executor executor(workers);
    const std::vector<run::RunOutcome> outcomes = executor.run(specs);
    std::vector<FillRow> rows;
    rows.reserve(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) rows.push_back(row_of(machine, points[i], outcomes[i]));
    return rows;
}

std::optional<FillRow> first_above(std::span<const FillRow> rows, double share) {
    const auto found =
        std::find_if(rows.begin(), rows.end(), [&](const FillRow& row) { return row.useful > share; });
    if (found == rows.end()) return std::nullopt;
    return *found;
}

std::string to_text(std::span<const FillRow> rows) {
    std::string text =
        fmt::format("{:>5} {:>6} {:>6} {:>9} {:>11} {:>7} {:>7} {:>6} {:>6} {:>6}\n", "size", "width",
                    "batch", "MMAC", "inf/s", "useful", "active", "stall", "shift", "other");
    for (const FillRow& row : rows) {
        text += fmt::format("{:>5} {:>6} {:>6} ", fmt::format("x{}", row.point.network.size_multiplier),
                            fmt::format("x{}", row.point.network.width_multiplier), row.point.batch);
        if (!row.error.empty()) {
            text += fmt::format("{:.58}\n", row.error);
            continue;
        }
        text += fmt::format("{:>9.1f} {:>11.0f} {:>7.1f} {:>7.1f} {:>6.1f} {:>6.1f} {:>6.1f}\n",
                            static_cast<double>(row.macs) / 1e6, row.inferences_per_second,
                            100.0 * row.useful, 100.0 * row.active, 100.0 * row.weight_stall,
                            100.0 * row.weight_shift, 100.0 * row.non_matrix);
    }
    text += "(useful: multiply-accumulates, % of the peak; the others: % of the cycles)\n";
    text += sentence(rows, "SIZE_MULTIPLIER",
                     [](const FillPoint& point) { return point.network.width_multiplier == 1; });
    text += sentence(rows, "Layer widths",
                     [](const FillPoint& point) { return point.network.width_multiplier > 1; });
    return text;
}

nlohmann::ordered_json to_json(std::span<const FillRow> rows) {
    auto array = nlohmann::ordered_json::array();
    for (const FillRow& row : rows) {
        nlohmann::ordered_json object{{"size_multiplier", row.point.network.size_multiplier},
                                      {"width_multiplier", row.point.network.width_multiplier},
                                      {"batch", row.point.batch}};
        if (!row.error.empty()) {
            object["error"] = row.error;
        } else {
            object["macs"] = row.macs;
            object["cycles"] = row.cycles;
            object["inferences_per_second"] = row.inferences_per_second;
            object["useful_share"] = row.useful;
            object["active_share"] = row.active;
            object["weight_stall_share"] = row.weight_stall;
            object["weight_shift_share"] = row.weight_shift;
            object["non_matrix_share"] = row.non_matrix;
        }
        array.push_back(std::move(object));
    }
    return array;
}

}  // namespace systole::studies
