#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/study/sweep/database.h"
#include "sim/study/sweep/expression.h"
#include "sim/study/sweep/metrics.h"
#include "sim/view/table/table.h"

/// What the points of a study say. Text, files and the page are made from Answer alone.
namespace systole::sweep {

/// A point with its numbers.
struct AnswerRow {
    std::uint64_t number = 0;
    std::vector<nlohmann::json> values = {};          ///< of Answer::keys
    std::string state = {};                           ///< "done", "failed", "pending", "running"
    std::vector<std::optional<double>> metrics = {};  ///< of Answer::metrics; absent unless done
    std::string error = {};
    std::vector<std::string> left_out = {};  ///< why there is no figure that the run asks for
};

/// The ends of an axis of numbers beyond which the key has further values.
struct AxisEnds {
    std::optional<double> least = {};
    std::optional<double> most = {};
};

struct Answer {
    std::string study;
    std::vector<std::string> keys;  ///< those of the axes, then the derived ones
    std::size_t axes = 0;           ///< the number of the former
    std::map<std::size_t, std::size_t> followers =
        {};  ///< axes that follow another one, by zip, and that one
    /// For each condition of the study, the axes that it names: it may couple them.
    std::vector<std::vector<std::size_t>> conditions = {};
    std::map<std::size_t, AxisEnds> ends = {};  ///< by axis
    std::vector<Metric> metrics;
    std::string command;  ///< the command line of a point, without the settings that vary
    std::vector<AnswerRow> rows = {};

    std::uint64_t count(std::string_view state) const;
    /// Throws ConfigError, beginning with `place`, where there is no such metric.
    std::size_t metric(std::string_view name, std::string_view place) const;
    /// The same for a key.
    std::size_t key(std::string_view name, std::string_view place) const;
};

/// Of the points that the database has selected. Throws ConfigError where it has no study, or is damaged.
Answer read_answer(Database& database);
/// The keys that the database's study varies; none where it has no study. Throws ConfigError where it is
/// damaged.
std::vector<std::string> keys_of_study(Database& database);
/// Of a study that has not run: without rows. `description` is that of the study.
Answer answer_without_rows(const nlohmann::ordered_json& description);
/// Only the finished points for which all formulas of metrics and varying keys hold. Throws ConfigError where
/// a formula is broken, also without points.
Answer subject_to(const Answer& answer, std::span<const std::string> conditions);
/// The keys that vary and choose what is computed (model, input, ...): points that differ in them are
/// different questions.
std::vector<std::size_t> workload_keys(const Answer& answer);

/// The command line that runs the point alone.
std::string command_of(const Answer& answer, const AnswerRow& row);

nlohmann::ordered_json to_json(const Answer& answer);

/// A number of a metric for people: "1,584,664", "0.1884", "23.2 uJ".
std::string number_text(double value, std::string_view unit);

struct TableChoice {
    std::vector<std::string> metrics = {};  ///< columns; empty: the usual ones and those of the study
    std::string sort = {};                  ///< metric or key; best or smallest first; empty: by number
    std::size_t top = 20;                   ///< rows; 0: all
};

/// A line for each point that is done, with notes: the metrics' units and definitions, and what is left out.
tables::Table point_table(const Answer& answer, const TableChoice& choice);

/// A metric over two keys: lines and columns.
struct Pivot {
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::size_t metric = 0;
};
/// ROWS,COLUMNS or ROWS,COLUMNS,METRIC; without a metric, `usual`. Throws ConfigError.
Pivot parse_pivot(const Answer& answer, std::span<const std::string> words, const std::string& usual);
/// Where several points fall into a cell, their best value, or the smallest where the metric has no better
/// way.
tables::Table pivot_table(const Answer& answer, const Pivot& pivot);

/// All points and columns as CSV (RFC 4180), numbers in full.
std::string to_csv(const Answer& answer);

/// A metric and which way it is better: "latency_ms", "max:inf_per_mm2".
struct Goal {
    std::size_t metric = 0;
    bool lower = true;
};
/// Throws ConfigError, beginning with `place`.
Goal parse_goal(const Answer& answer, std::string_view text, std::string_view place);

/// The rows that no other row beats: none is at least as good in every goal and better in one. Sorted by the
/// first goal, the best first. Equal rows are all kept.
std::vector<const AnswerRow*> pareto_front(const Answer& answer, std::span<const Goal> goals);

/// The front, and what each step along it buys.
tables::Table pareto_table(const Answer& answer, std::span<const Goal> goals);

/// The finished point with the best value; null if none has one.
const AnswerRow* best_point(const Answer& answer, const Goal& goal);

/// Sentences that a reader of the numbers should know: keys that change nothing, resources of which more
/// makes the machine slower, metrics that some points do not have, dies that are too large to be made.
std::vector<std::string> findings(const Answer& answer);

/// A sentence for each message of failed points, with the first such point and their number; of many messages
/// the first ones.
std::vector<std::string> failures(const Answer& answer);

/// The best point of a workload by one metric.
struct BestPoint {
    std::string workload;  ///< "model=a.onnx"; empty where all points compute the same
    Goal goal;
    const AnswerRow* row = nullptr;
    std::vector<std::string> edges = {};  ///< edge_sentences
};

/// What a study asks for, by its own metrics that have a better way, then by throughput, latency and energy.
/// Of each workload, the first ones where there are many. Metrics that all points share have no best point.
std::vector<BestPoint> best_points(const Answer& answer);

/// A sentence for the axes of which this point has the largest value, and one for those of which it has the
/// smallest: beyond them may be a better one. An end at which the metric no longer changes is not named.
std::vector<std::string> edge_sentences(const Answer& answer, const AnswerRow& best, const Goal& goal);

/// How much a key, or several that a condition couples, moves the metrics.
struct Sensitivity {
    std::vector<std::size_t> keys;
    /// For each metric: the largest value over the smallest along the keys, while all other keys stay; the
    /// geometric mean over all such lines of points. Absent where no line has two points above 0.
    std::vector<std::optional<double>> factors;
};
/// Of each axis with several values that does not follow another; coupled axes have one entry.
std::vector<Sensitivity> sensitivity(const Answer& answer);
nlohmann::ordered_json to_json(const Answer& answer, const std::vector<Sensitivity>& all);

/// "batch=256, machine.clock_mhz=700".
std::string settings_text(const Answer& answer, const AnswerRow& row);

}  // namespace systole::sweep
