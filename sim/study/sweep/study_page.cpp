#include "sim/study/sweep/study_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "sim/run/execute/on_all_cores.h"
#include "sim/run/record/record.h"
#include "sim/study/sweep/compression.h"
#include "sim/study/sweep/stored_record.h"
#include "sim/view/page/page.h"
#include "sim/view/report/json_values.h"
#include "sim/view/report/report.h"

namespace systole::sweep {
namespace {

using Json = nlohmann::ordered_json;

/// The best rows, and those on the Pareto fronts that the page can show at first: throughput over each cost.
std::set<const AnswerRow*> front_rows(const Answer& answer) {
    std::set<const AnswerRow*> rows;
    for (const BestPoint& best : best_points(answer)) rows.insert(best.row);
    const std::size_t rate = answer.metric("inferences_per_second", "page");
    for (const std::string_view cost : {"area_mm2", "latency_ms", "watts"}) {
        const std::array<Goal, 2> goals{Goal{.metric = answer.metric(cost, "page"), .lower = true},
                                        Goal{.metric = rate, .lower = false}};
        for (const AnswerRow* row : pareto_front(answer, goals)) rows.insert(row);
    }
    return rows;
}

/// The rows that are done: all, or the wanted ones and others, evenly spread, as far as `most` allows.
std::vector<const AnswerRow*> some_rows(const Answer& answer, const std::set<const AnswerRow*>& wanted,
                                        std::size_t most) {
    std::vector<const AnswerRow*> done;
    for (const AnswerRow& row : answer.rows) {
        if (row.state == "done") done.push_back(&row);
    }
    if (done.size() <= most) return done;
    const std::size_t room = most - std::min(most, wanted.size());
    // A whole step would meet only some values of the axes that vary fastest.
    constexpr double golden_ratio = 0.6180339887498949;
    const double share = static_cast<double>(room) / static_cast<double>(done.size());
    std::vector<const AnswerRow*> rows;
    std::size_t taken = 0;
    for (std::size_t i = 0; i < done.size() && rows.size() < most; ++i) {
        if (wanted.contains(done[i])) {
            rows.push_back(done[i]);
        } else if (taken < room && std::fmod(static_cast<double>(i) * golden_ratio, 1.0) < share) {
            ++taken;
            rows.push_back(done[i]);
        }
    }
    return rows;
}

Json columns_of(const Answer& answer, const std::vector<const AnswerRow*>& rows) {
    Json numbers = Json::array();
    for (const AnswerRow* row : rows) numbers.push_back(row->number);
    Json values = Json::array();
    for (std::size_t key = 0; key < answer.keys.size(); ++key) {
        Json& column = values.emplace_back(Json::array());
        for (const AnswerRow* row : rows) column.push_back(Json(row->values[key]));
    }
    Json metrics = Json::array();
    for (std::size_t metric = 0; metric < answer.metrics.size(); ++metric) {
        Json& column = metrics.emplace_back(Json::array());
        for (const AnswerRow* row : rows) {
            const std::optional<double> value = row->metrics[metric];
            column.push_back(value ? Json(*value) : Json(nullptr));
        }
    }
    return {{"number", numbers}, {"values", values}, {"metrics", metrics}};
}

/// The best points as texts: they stand on the page even where it has not their rows.
Json best_of(const Answer& answer) {
    Json all = Json::array();
    for (const BestPoint& best : best_points(answer)) {
        const Metric& metric = answer.metrics[best.goal.metric];
        all.push_back({{"workload", best.workload},
                       {"metric", metric.name},
                       {"way", best.goal.lower ? "lowest" : "highest"},
                       {"value", *best.row->metrics[best.goal.metric]},
                       {"point", best.row->number},
                       {"settings", settings_text(answer, *best.row)},
                       {"command", command_of(answer, *best.row)},
                       {"edges", best.edges}});
    }
    return all;
}

/// Number, blank, report.json compressed and in base64.
std::string report_line(std::uint64_t point, const StoredRecord& record) {
    // Names from networks may be no UTF-8.
    const std::string bytes =
        compressed(record.report().dump(-1, ' ', false, Json::error_handler_t::replace));
    return fmt::format(
        "{} {}\n", point,
        report::to_base64({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}));
}

/// A line for each report.
std::string report_lines(Database& database, const std::vector<const AnswerRow*>& rows) {
    std::vector<StoredRecord> records;  // read here, because the database is of one thread
    records.reserve(rows.size());
    for (const AnswerRow* row : rows) records.push_back(StoredRecord::of_point(database, row->number));
    std::vector<std::string> texts(rows.size());
    run::on_all_cores(texts.size(),
                      [&](std::size_t i) { texts[i] = report_line(rows[i]->number, records[i]); });
    return fmt::format("{}", fmt::join(texts, ""));
}

}  // namespace

std::string to_html(const Answer& answer, Database& database, const PageLimits& limits) {
    const std::set<const AnswerRow*> front = front_rows(answer);
    const std::vector<const AnswerRow*> rows = some_rows(answer, front, limits.points);
    const std::vector<const AnswerRow*> with_reports = some_rows(answer, front, limits.reports);
    Json counts;
    for (const char* const state : {"done", "failed", "pending", "running"}) {
        counts[state] = answer.count(state);
    }
    Json followers = Json::array();
    for (const auto& [follower, leader] : answer.followers) followers.push_back(answer.keys[follower]);
    Json own = Json::array();
    for (const Metric& metric : answer.metrics) {
        if (std::ranges::find(common_metrics(), metric.name, &Metric::name) == common_metrics().end())
            own.push_back(metric.name);
    }
    Json workload = Json::array();
    for (const std::size_t key : workload_keys(answer)) workload.push_back(answer.keys[key]);
    const Json study{{"study", answer.study},
                     {"followers", followers},
                     {"own", own},
                     {"workload", workload},
                     {"keys", answer.keys},
                     {"axes", answer.axes},
                     {"metrics", to_json(answer.metrics)},
                     {"command", answer.command},
                     {"counts", counts},
                     {"findings", findings(answer)},
                     {"failures", failures(answer)},
                     {"best", best_of(answer)},
                     {"sensitivity", to_json(answer, sensitivity(answer))},
                     {"points", columns_of(answer, rows)}};
    return page::study_to_html(study, report_lines(database, with_reports));
}

}  // namespace systole::sweep
