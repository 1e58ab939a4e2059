#include "sim/study/array_fill/array_fill.h"

#include <algorithm>

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

FillRow row_of(const FillPoint& point, const run::RunOutcome& outcome) {
    FillRow row;
    row.point = point;
    if (!outcome.record) {
        row.error = outcome.error;
        return row;
    }
    const run::RunRecord& record = *outcome.record;
    row.macs = record.network.value().macs();
    row.cycles = record.cycles;
    row.useful = record.share_of_cells("matrix_unit.useful_macs");
    row.active = record.share_of_cycles("matrix_unit.active_cycles");
    row.weight_stall = record.share_of_cycles("matrix_unit.weight_stall_cycles");
    row.weight_shift = record.share_of_cycles("matrix_unit.weight_shift_cycles");
    row.non_matrix = record.share_of_cycles("matrix_unit.non_matrix_cycles");
    row.inferences_per_second = static_cast<double>(batches * point.batch) / record.seconds();
    return row;
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
    for (std::size_t i = 0; i < points.size(); ++i) rows.push_back(row_of(points[i], outcomes[i]));
    return rows;
}

std::optional<FillRow> first_above(std::span<const FillRow> rows, double share) {
    const auto found =
        std::find_if(rows.begin(), rows.end(), [&](const FillRow& row) { return row.useful > share; });
    if (found == rows.end()) return std::nullopt;
    return *found;
}

}  // namespace systole::studies
