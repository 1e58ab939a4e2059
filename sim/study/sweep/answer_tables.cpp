// Answers as tables.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>

#include "hw/machine/config_error.h"
#include "sim/study/sweep/answer.h"
#include "sim/view/report/numbers.h"

namespace systole::sweep {

using machine::ConfigError;
using tables::Cell;
using tables::Cells;
using tables::Table;

namespace {

std::string value_text(const nlohmann::json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

Cell value_cell(const nlohmann::json& value) {
    return value.is_number() ? Cell::figure(value.dump()) : Cell::words(value_text(value));
}

Cell metric_cell(const std::optional<double>& value, const Metric& metric) {
    return value ? Cell::figure(number_text(*value, metric.unit)) : Cell();
}

/// "interval_ms (ms) = interval_ms: by which batches follow each other".
std::string definition(const Metric& metric) {
    std::string text = metric.name;
    if (!metric.unit.empty()) text += fmt::format(" ({})", metric.unit);
    if (metric.formula != metric.name) text += " = " + metric.formula;
    if (!metric.meaning.empty()) text += ": " + metric.meaning;
    return text;
}

/// A key as the head of a column.
std::string short_key(const std::string& key) {
    constexpr std::string_view prefix = "machine.";
    return key.starts_with(prefix) ? key.substr(prefix.size()) : key;
}

/// The metrics of a table: the chosen ones, else the usual ones and those of the study that any point has.
std::vector<std::size_t> shown_metrics(const Answer& answer, const std::vector<std::string>& chosen) {
    std::vector<std::size_t> shown;
    shown.reserve(chosen.size());
    for (const std::string& name : chosen) shown.push_back(answer.metric(name, "--show"));
    if (!shown.empty()) return shown;
    constexpr std::array<std::string_view, 3> left_out{"cycles", "fill", "watts"};
    for (std::size_t i = 0; i < answer.metrics.size(); ++i) {
        const std::string& name = answer.metrics[i].name;
        const bool is_known = std::ranges::any_of(
            answer.rows, [i](const AnswerRow& row) { return row.metrics[i].has_value(); });
        if (is_known && std::ranges::find(left_out, name) == left_out.end()) shown.push_back(i);
    }
    return shown;
}

/// A number by which rows are sorted: smaller comes first.
double rank(const std::optional<double>& value, bool lower) {
    if (!value) return std::numeric_limits<double>::infinity();
    return lower ? *value : -*value;
}

void sort_rows(const Answer& answer, const std::string& by, std::vector<const AnswerRow*>& rows) {
    if (by.empty()) return;
    const auto key = std::ranges::find(answer.keys, by);
    if (key != answer.keys.end()) {
        const auto index = static_cast<std::size_t>(key - answer.keys.begin());
        std::ranges::stable_sort(rows, [index](const AnswerRow* a, const AnswerRow* b) {
            return a->values[index] < b->values[index];
        });
        return;
    }
    const std::size_t metric = answer.metric(by, "--sort");
    const bool lower = answer.metrics[metric].better != Better::Higher;
    std::ranges::stable_sort(rows, {},
                             [&](const AnswerRow* row) { return rank(row->metrics[metric], lower); });
}

std::vector<const AnswerRow*> finished(const Answer& answer) {
    std::vector<const AnswerRow*> rows;
    for (const AnswerRow& row : answer.rows) {
        if (row.state == "done") rows.push_back(&row);
    }
    return rows;
}

void add_key_columns(const Answer& answer, Table& table) {
    table.columns = {"point"};
    for (const std::string& key : answer.keys) table.columns.push_back(short_key(key));
}

Cells key_cells(const AnswerRow& row) {
    Cells cells;
    for (const nlohmann::json& value : row.values) cells.push_back(value_cell(value));
    return cells;
}

/// "-12.0 % latency_ms, +8.1 points peak_share".
std::string step_text(const Answer& answer, std::span<const Goal> goals, const AnswerRow& from,
                      const AnswerRow& to) {
    std::string text;
    for (const Goal& goal : goals) {
        const Metric& metric = answer.metrics[goal.metric];
        const auto share = share_of(metric, to.metrics[goal.metric]);
        const auto change =
            share ? report::difference_of_shares(share, share_of(metric, from.metrics[goal.metric]))
                  : report::difference(to.metrics[goal.metric], from.metrics[goal.metric]);
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", change.value_or("-"), metric.name);
    }
    return text;
}

}  // namespace

Table point_table(const Answer& answer, const TableChoice& choice) {
    Table table{.id = "points", .title = answer.study, .columns = {}};
    add_key_columns(answer, table);
    const std::vector<std::size_t> shown = shown_metrics(answer, choice.metrics);
    for (const std::size_t metric : shown) table.columns.push_back(answer.metrics[metric].name);
    std::vector<const AnswerRow*> rows = finished(answer);
    sort_rows(answer, choice.sort, rows);
    const std::size_t count = choice.top == 0 ? rows.size() : std::min(choice.top, rows.size());
    for (std::size_t i = 0; i < count; ++i) {
        Cells cells = key_cells(*rows[i]);
        for (const std::size_t metric : shown) {
            cells.push_back(metric_cell(rows[i]->metrics[metric], answer.metrics[metric]));
        }
        table.add(fmt::format("{}", rows[i]->number), std::move(cells));
    }
    for (const std::size_t metric : shown) table.notes.push_back(definition(answer.metrics[metric]));
    if (count < rows.size()) {
        table.notes.push_back(fmt::format("The first {} of {} points; --top 0 shows all.", count,
                                          report::grouped(rows.size())));
    }
    return table;
}

Pivot parse_pivot(const Answer& answer, std::span<const std::string> words, const std::string& usual) {
    if (words.size() != 2 && words.size() != 3) {
        throw ConfigError("--pivot takes ROWS,COLUMNS or ROWS,COLUMNS,METRIC");
    }
    const Pivot pivot{.rows = answer.key(words[0], "--pivot"),
                      .columns = answer.key(words[1], "--pivot"),
                      .metric = answer.metric(words.size() == 3 ? words[2] : usual, "--pivot")};
    if (pivot.rows == pivot.columns) throw ConfigError("--pivot takes two different keys");
    return pivot;
}

Table pivot_table(const Answer& answer, const Pivot& pivot) {
    const auto [row_key, column_key, of] = pivot;
    const std::string& metric = answer.metrics[of].name;
    const bool lower = answer.metrics[of].better != Better::Higher;
    std::set<nlohmann::json> row_values;
    std::set<nlohmann::json> column_values;
    std::map<std::pair<nlohmann::json, nlohmann::json>, std::optional<double>> best;
    std::size_t most_in_a_cell = 0;
    std::map<std::pair<nlohmann::json, nlohmann::json>, std::size_t> counts;
    for (const AnswerRow* row : finished(answer)) {
        const std::pair place{row->values[row_key], row->values[column_key]};
        row_values.insert(place.first);
        column_values.insert(place.second);
        most_in_a_cell = std::max(most_in_a_cell, ++counts[place]);
        std::optional<double>& cell = best[place];
        if (rank(row->metrics[of], lower) < rank(cell, lower)) cell = row->metrics[of];
    }
    Table table{.id = "pivot",
                .title = fmt::format("{}: {}", answer.study, metric),
                .columns = {fmt::format("{} \\ {}", short_key(answer.keys[row_key]),
                                        short_key(answer.keys[column_key]))}};
    for (const nlohmann::json& value : column_values) table.columns.push_back(value_text(value));
    for (const nlohmann::json& row : row_values) {
        Cells cells;
        for (const nlohmann::json& column : column_values) {
            const auto found = best.find({row, column});
            cells.push_back(found == best.end() ? Cell() : metric_cell(found->second, answer.metrics[of]));
        }
        table.add(value_text(row), std::move(cells));
    }
    table.notes.push_back(definition(answer.metrics[of]));
    if (most_in_a_cell > 1) {
        table.notes.push_back(fmt::format("Up to {} points fall into a cell: it has the {} value.",
                                          most_in_a_cell, lower ? "smallest" : "largest"));
    }
    return table;
}

Goal parse_goal(const Answer& answer, std::string_view text, std::string_view place) {
    const bool is_min = text.starts_with("min:");
    const bool is_max = text.starts_with("max:");
    if (is_min || is_max) return {.metric = answer.metric(text.substr(4), place), .lower = is_min};
    const std::size_t metric = answer.metric(text, place);
    const Better better = answer.metrics[metric].better;
    if (better == Better::Neither) {
        throw ConfigError(
            fmt::format("{}: {}: say which way is better: min:{} or max:{}", place, text, text, text));
    }
    return {.metric = metric, .lower = better == Better::Lower};
}

std::vector<const AnswerRow*> pareto_front(const Answer& answer, std::span<const Goal> goals) {
    std::vector<const AnswerRow*> rows = finished(answer);
    std::erase_if(rows, [&](const AnswerRow* row) {
        return std::ranges::any_of(goals, [&](const Goal& goal) { return !row->metrics[goal.metric]; });
    });
    const auto value = [&](const AnswerRow* row, const Goal& goal) {
        return rank(row->metrics[goal.metric], goal.lower);
    };
    // In this order only an earlier row can beat a later one.
    std::ranges::stable_sort(rows, [&](const AnswerRow* a, const AnswerRow* b) {
        for (const Goal& goal : goals) {
            if (value(a, goal) != value(b, goal)) return value(a, goal) < value(b, goal);
        }
        return false;
    });
    const auto beats = [&](const AnswerRow* a, const AnswerRow* b) {
        bool is_better = false;
        for (const Goal& goal : goals) {
            if (value(a, goal) > value(b, goal)) return false;
            is_better = is_better || value(a, goal) < value(b, goal);
        }
        return is_better;
    };
    std::vector<const AnswerRow*> front;
    for (const AnswerRow* row : rows) {
        if (std::ranges::none_of(front, [&](const AnswerRow* other) { return beats(other, row); })) {
            front.push_back(row);
        }
    }
    return front;
}

namespace {

/// How many points the front has, of how many, and what that means.
std::string front_sentence(const Answer& answer, std::span<const Goal> goals, std::size_t on_front) {
    const std::vector<const AnswerRow*> all = finished(answer);
    for (const Goal& goal : goals) {
        const bool is_known = std::ranges::any_of(
            all, [&](const AnswerRow* row) { return row->metrics[goal.metric].has_value(); });
        if (!is_known) {
            return fmt::format("No point has a value of {}: there is no front.",
                               answer.metrics[goal.metric].name);
        }
    }
    const auto compared = static_cast<std::size_t>(std::ranges::count_if(all, [&](const AnswerRow* row) {
        return std::ranges::all_of(goals,
                                   [&](const Goal& goal) { return row->metrics[goal.metric].has_value(); });
    }));
    if (on_front == compared) {
        return fmt::format("All {} points are on the front: none beats another.", report::grouped(compared));
    }
    return fmt::format("{} of {} points are on the front. Each other point is beaten by one of these.",
                       on_front, report::grouped(compared));
}

}  // namespace

Table pareto_table(const Answer& answer, std::span<const Goal> goals) {
    Table table{.id = "pareto", .title = answer.study + ": Pareto front", .columns = {}};
    add_key_columns(answer, table);
    for (const Goal& goal : goals) table.columns.push_back(answer.metrics[goal.metric].name);
    table.columns.emplace_back("step");
    const AnswerRow* before = nullptr;
    const std::vector<const AnswerRow*> front = pareto_front(answer, goals);
    for (const AnswerRow* row : front) {
        Cells cells = key_cells(*row);
        for (const Goal& goal : goals) {
            cells.push_back(metric_cell(row->metrics[goal.metric], answer.metrics[goal.metric]));
        }
        cells.push_back(before == nullptr ? Cell() : Cell::words(step_text(answer, goals, *before, *row)));
        before = row;
        table.add(fmt::format("{}", row->number), std::move(cells));
    }
    for (const Goal& goal : goals) {
        table.notes.push_back(fmt::format("{}; {} is better", definition(answer.metrics[goal.metric]),
                                          goal.lower ? "lower" : "higher"));
    }
    table.notes.push_back(front_sentence(answer, goals, front.size()));
    return table;
}

const AnswerRow* best_point(const Answer& answer, const Goal& goal) {
    const AnswerRow* best = nullptr;
    for (const AnswerRow* row : finished(answer)) {
        if (!row->metrics[goal.metric]) continue;
        if (best == nullptr ||
            rank(row->metrics[goal.metric], goal.lower) < rank(best->metrics[goal.metric], goal.lower)) {
            best = row;
        }
    }
    return best;
}

namespace {

/// The metrics by which a study's best points are shown, the most important first.
std::vector<Goal> goals_of_study(const Answer& answer) {
    std::vector<Goal> own;
    std::vector<Goal> usual;
    constexpr std::array<std::string_view, 3> names{"inferences_per_second", "latency_ms",
                                                    "joules_per_inference"};
    for (std::size_t i = 0; i < answer.metrics.size(); ++i) {
        const Metric& metric = answer.metrics[i];
        if (metric.better == Better::Neither) continue;
        const Goal goal{.metric = i, .lower = metric.better == Better::Lower};
        if (std::ranges::find(common_metrics(), metric.name, &Metric::name) == common_metrics().end()) {
            own.push_back(goal);
        } else if (std::ranges::find(names, metric.name) != names.end()) {
            usual.push_back(goal);
        }
    }
    // Throughput comes before latency, whatever the order of the metrics.
    std::ranges::stable_sort(usual, {}, [&](const Goal& goal) {
        return std::ranges::find(names, answer.metrics[goal.metric].name);
    });
    own.insert(own.end(), usual.begin(), usual.end());
    return own;
}

bool varies(const Answer& answer, const Goal& goal) {
    std::set<double> values;
    for (const AnswerRow* row : finished(answer)) {
        if (row->metrics[goal.metric]) values.insert(*row->metrics[goal.metric]);
    }
    return values.size() > 1;
}

/// "model=a.onnx, input=b.npy": what the point computes, where that varies.
std::string workload_of(const Answer& answer, const AnswerRow& row) {
    std::string text;
    for (const std::size_t key : workload_keys(answer)) {
        text +=
            fmt::format("{}{}={}", text.empty() ? "" : ", ", answer.keys[key], value_text(row.values[key]));
    }
    return text;
}

}  // namespace

std::vector<BestPoint> best_points(const Answer& answer) {
    constexpr std::size_t most_workloads = 8;
    constexpr std::size_t most_of_one = 4;
    constexpr std::size_t most_of_each = 2;
    std::vector<std::string> workloads;
    for (const AnswerRow* row : finished(answer)) {
        std::string workload = workload_of(answer, *row);
        if (std::ranges::find(workloads, workload) == workloads.end())
            workloads.push_back(std::move(workload));
    }
    const std::size_t most = workloads.size() > 1 ? most_of_each : most_of_one;
    if (workloads.size() > most_workloads) workloads.resize(most_workloads);
    const std::vector<Goal> goals = goals_of_study(answer);
    std::vector<BestPoint> all;
    for (const std::string& workload : workloads) {
        Answer part = answer;
        std::erase_if(part.rows, [&](const AnswerRow& row) { return workload_of(answer, row) != workload; });
        std::size_t count = 0;
        for (const Goal& goal : goals) {
            if (count == most) break;
            if (!varies(part, goal)) continue;
            ++count;
            const AnswerRow* const best = best_point(part, goal);
            const auto row = std::ranges::find(answer.rows, best->number, &AnswerRow::number);
            all.push_back({.workload = workload,
                           .goal = goal,
                           .row = &*row,
                           .edges = edge_sentences(part, *best, goal)});
        }
    }
    return all;
}

}  // namespace systole::sweep
