#include "sim/studies/array_fill.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "compiler/emit/compile.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"
#include "compiler/passes/prepare.h"
#include "hw/tpu/tpu.h"
#include "sim/pool/process_pool.h"
#include "sim/run/compile.h"

namespace systole::studies {
namespace {

constexpr std::uint64_t batches = 2;

nlohmann::json simulate(const machine::MachineConfig& machine, const FillPoint& point) {
    const ir::Graph graph = article_cnn(point.network);
    passes::Calibration calibration;
    calibration.encoding = passes::InputEncoding{1.0 / 255.0, 0};
    const isa::Program program = emit::compile(passes::prepare(graph, calibration), run::target_of(machine),
                                               {.batch = point.batch, .inferences = batches * point.batch});
    hw::TpuOptions options;
    options.values = hw::Values::TimingOnly;
    hw::Tpu tpu("tpu", machine, program, options);
    tpu.run();
    const hw::MatrixUnitCounters& unit = tpu.matrix_unit();
    return {{"macs", operators::macs(graph)},
            {"cycles", tpu.cycles()},
            {"useful_macs", unit.useful_macs.value()},
            {"active", unit.active_cycles.value()},
            {"weight_stall", unit.weight_stall_cycles.value()},
            {"weight_shift", unit.weight_shift_cycles.value()},
            {"non_matrix", unit.non_matrix_cycles.value()}};
}

/// What a job sends to the parent: counters, or the reason why the network does not fit.
std::string answer(const machine::MachineConfig& machine, const FillPoint& point) {
    try {
        return simulate(machine, point).dump();
    } catch (const ModelError& error) {
        return nlohmann::json{{"error", error.what()}}.dump();
    }
}

FillRow row_of(const machine::MachineConfig& machine, const FillPoint& point, const std::string& text) {
    const nlohmann::json counters = nlohmann::json::parse(text);
    FillRow row;
    row.point = point;
    if (counters.contains("error")) {
        row.error = counters.at("error").get<std::string>();
        return row;
    }
    row.macs = counters.at("macs").get<std::uint64_t>();
    row.cycles = counters.at("cycles").get<std::uint64_t>();
    const auto cycles = static_cast<double>(row.cycles);
    const auto share = [&](const char* key) { return counters.at(key).get<double>() / cycles; };
    row.useful = share("useful_macs") / static_cast<double>(machine.tile_bytes());
    row.active = share("active");
    row.weight_stall = share("weight_stall");
    row.weight_shift = share("weight_shift");
    row.non_matrix = share("non_matrix");
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
    std::vector<pool::Job> jobs;
    jobs.reserve(points.size());
    for (const FillPoint& point : points) {
        jobs.emplace_back([&machine, point] { return answer(machine, point); });
    }
    const std::vector<std::string> answers = pool::run_or_throw(jobs, workers);
    std::vector<FillRow> rows;
    rows.reserve(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) rows.push_back(row_of(machine, points[i], answers[i]));
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
