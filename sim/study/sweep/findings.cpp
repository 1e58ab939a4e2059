// What a study's points say about its knobs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

#include "sim/study/sweep/answer.h"
#include "sim/view/report/numbers.h"

namespace systole::sweep {
namespace {

/// Keys of which more is more machine: it should be no slower.
constexpr std::array<std::string_view, 11> resources{"machine.clock_mhz",
                                                     "machine.matrix_unit.rows",
                                                     "machine.matrix_unit.columns",
                                                     "machine.weight_fifo.depth_tiles",
                                                     "machine.weight_memory.bandwidth_gb_per_s",
                                                     "machine.unified_buffer.rows",
                                                     "machine.unified_buffer.read_ports",
                                                     "machine.unified_buffer.write_ports",
                                                     "machine.accumulators.rows",
                                                     "machine.host_interface.read_gb_per_s",
                                                     "machine.host_interface.write_gb_per_s"};

/// Neighbours on a line, with the smaller value first.
struct Pair {
    const AnswerRow* less;
    const AnswerRow* more;
};

bool is_follower(const Answer& answer, std::size_t key) {
    return answer.followers.contains(key);
}

using Line = std::vector<const AnswerRow*>;

/// The finished points that differ in one axis alone, in the order of its values: a line for each combination
/// of the other axes (derived and zipped keys follow).
std::vector<Line> lines_along(const Answer& answer, std::size_t axis) {
    std::map<std::vector<nlohmann::json>, Line> lines;
    for (const AnswerRow& row : answer.rows) {
        if (row.state != "done") continue;
        std::vector<nlohmann::json> others;
        for (std::size_t key = 0; key < answer.axes; ++key) {
            if (key != axis && !is_follower(answer, key)) others.push_back(row.values[key]);
        }
        lines[others].push_back(&row);
    }
    std::vector<Line> all;
    for (auto& [others, line] : lines) {
        std::ranges::stable_sort(line, [axis](const AnswerRow* a, const AnswerRow* b) {
            return a->values[axis] < b->values[axis];
        });
        all.push_back(std::move(line));
    }
    return all;
}

std::vector<Pair> neighbours(const Answer& answer, std::size_t axis) {
    std::vector<Pair> pairs;
    for (const Line& line : lines_along(answer, axis)) {
        for (std::size_t i = 1; i < line.size(); ++i) pairs.push_back({line[i - 1], line[i]});
    }
    return pairs;
}

/// The largest over the smallest value of a metric on a line; absent without two values above 0.
std::optional<double> spread(const Line& line, std::size_t metric) {
    std::vector<double> values;
    for (const AnswerRow* row : line) {
        const std::optional<double> value = row->metrics[metric];
        if (value && *value > 0.0) values.push_back(*value);
    }
    if (values.size() < 2) return std::nullopt;
    const auto [least, most] = std::ranges::minmax(values);
    return most / least;
}

/// "model and batch": the axis, and those that follow it by zip.
std::string name_of_axis(const Answer& answer, std::size_t axis) {
    std::string name = answer.keys[axis];
    for (const auto& [follower, leader] : answer.followers) {
        if (leader == axis) name += " and " + answer.keys[follower];
    }
    return name;
}

std::string sentence_of_nothing(const Answer& answer, std::size_t axis, std::size_t pairs) {
    return fmt::format(
        "{} changes nothing: all metrics are equal in each of {} pairs of points that differ in it "
        "alone.",
        name_of_axis(answer, axis), report::grouped(pairs));
}

/// Absent if more of the resource is slower nowhere.
std::optional<std::string> slower_sentence(const Answer& answer, std::size_t axis,
                                           std::span<const Pair> pairs) {
    const std::size_t interval = answer.metric("interval_ms", "findings");
    std::size_t slower = 0;
    double worst = 1.0;
    const Pair* worst_pair = nullptr;
    for (const Pair& pair : pairs) {
        const std::optional<double> less = pair.less->metrics[interval];
        const std::optional<double> more = pair.more->metrics[interval];
        if (!less || !more || *less <= 0.0) continue;
        const double factor = *more / *less;
        if (factor <= 1.0 + report::noticeable_change) continue;
        ++slower;
        if (factor <= worst) continue;
        worst = factor;
        worst_pair = &pair;
    }
    if (worst_pair == nullptr) return std::nullopt;
    return fmt::format(
        "More of {} is slower in {} of {} steps: interval_ms rises by up to {:.1f} %, from point {} to point "
        "{}. "
        "Their reports (--report {}) show which layers take longer.",
        name_of_axis(answer, axis), report::grouped(slower), report::grouped(pairs.size()),
        100.0 * (worst - 1.0), worst_pair->less->number, worst_pair->more->number, worst_pair->more->number);
}

/// Why points have no figure that they ask for, those of the same reason in one sentence.
void add_left_out(const Answer& answer, std::vector<std::string>& sentences) {
    std::map<std::string, std::vector<std::uint64_t>> points_by_reason;
    for (const AnswerRow& row : answer.rows) {
        for (const std::string& why : row.left_out) points_by_reason[why].push_back(row.number);
    }
    for (const auto& [why, points] : points_by_reason) {
        sentences.push_back(fmt::format("{} of {} points have {} (point {} first).",
                                        report::grouped(points.size()), report::grouped(answer.count("done")),
                                        why, points.front()));
    }
}

/// Metrics of the study itself that no finished point has: the table has no column for them.
void add_empty_metrics(const Answer& answer, std::vector<std::string>& sentences) {
    if (answer.count("done") == 0) return;
    for (std::size_t metric = 0; metric < answer.metrics.size(); ++metric) {
        const std::string& name = answer.metrics[metric].name;
        if (std::ranges::find(common_metrics(), name, &Metric::name) != common_metrics().end()) continue;
        const bool is_empty = std::ranges::none_of(
            answer.rows, [&](const AnswerRow& row) { return row.metrics[metric].has_value(); });
        if (is_empty) {
            sentences.push_back(
                fmt::format("No point has a value of {} = {}: each report has null there, or a "
                            "part of the formula has no value.",
                            name, answer.metrics[metric].formula));
        }
    }
}

/// Metrics that some finished points have and others do not, those of the same points in one sentence.
void add_missing_values(const Answer& answer, std::vector<std::string>& sentences) {
    std::map<std::vector<std::uint64_t>, std::vector<std::string>> names_by_points;
    std::size_t done = 0;
    for (const AnswerRow& row : answer.rows) done += row.state == "done" ? 1 : 0;
    for (std::size_t metric = 0; metric < answer.metrics.size(); ++metric) {
        if (answer.metrics[metric].name == host_share_metric) continue;  // such a point has no work there
        std::vector<std::uint64_t> without;
        for (const AnswerRow& row : answer.rows) {
            if (row.state == "done" && !row.metrics[metric]) without.push_back(row.number);
        }
        if (!without.empty() && without.size() < done)
            names_by_points[without].push_back(answer.metrics[metric].name);
    }
    for (const auto& [points, names] : names_by_points) {
        sentences.push_back(
            fmt::format("{} of {} points have no value of {}: point {} first, whose report says why "
                        "(--report {}).",
                        report::grouped(points.size()), report::grouped(done), fmt::join(names, ", "),
                        points.front(), points.front()));
    }
}

/// The largest field that the scanners of these processes expose, 26 mm x 33 mm: docs/area.md.
constexpr double largest_field_mm2 = 26.0 * 33.0;

void add_large_dies(const Answer& answer, std::vector<std::string>& sentences) {
    const auto metric = std::ranges::find(answer.metrics, "area_mm2", &Metric::name);
    if (metric == answer.metrics.end()) return;
    const auto area = static_cast<std::size_t>(metric - answer.metrics.begin());
    std::size_t large = 0;
    const AnswerRow* largest = nullptr;
    for (const AnswerRow& row : answer.rows) {
        if (row.metrics[area].value_or(0.0) <= largest_field_mm2) continue;
        ++large;
        if (largest == nullptr || *row.metrics[area] > *largest->metrics[area]) largest = &row;
    }
    if (largest == nullptr) return;
    sentences.push_back(fmt::format(
        "{} of {} points have a die above {:.0f} mm2, which is more than a scanner exposes at once: "
        "nobody can make it in one piece (point {} has {} mm2).",
        report::grouped(large), report::grouped(answer.rows.size()), largest_field_mm2, largest->number,
        number_text(*largest->metrics[area], "mm2")));
}

}  // namespace

std::vector<std::string> findings(const Answer& answer) {
    std::vector<std::string> sentences;
    add_left_out(answer, sentences);
    add_empty_metrics(answer, sentences);
    add_missing_values(answer, sentences);
    add_large_dies(answer, sentences);
    for (std::size_t axis = 0; axis < answer.axes; ++axis) {
        if (is_follower(answer, axis)) continue;
        const std::vector<Pair> pairs = neighbours(answer, axis);
        if (pairs.empty()) continue;
        const bool all_equal = std::ranges::all_of(
            pairs, [](const Pair& pair) { return pair.less->metrics == pair.more->metrics; });
        if (all_equal) {
            sentences.push_back(sentence_of_nothing(answer, axis, pairs.size()));
        } else if (std::ranges::find(resources, answer.keys[axis]) != resources.end()) {
            if (auto sentence = slower_sentence(answer, axis, pairs))
                sentences.push_back(*std::move(sentence));
        }
    }
    return sentences;
}

std::vector<Sensitivity> sensitivity(const Answer& answer) {
    std::vector<Sensitivity> all;
    for (std::size_t axis = 0; axis < answer.axes; ++axis) {
        if (is_follower(answer, axis)) continue;
        Sensitivity& of_axis = all.emplace_back(Sensitivity{.key = axis, .factors = {}});
        const std::vector<Line> lines = lines_along(answer, axis);
        for (std::size_t metric = 0; metric < answer.metrics.size(); ++metric) {
            double sum = 0.0;
            std::size_t count = 0;
            for (const Line& line : lines) {
                if (const std::optional<double> factor = spread(line, metric)) {
                    sum += std::log(*factor);
                    ++count;
                }
            }
            of_axis.factors.push_back(count == 0 ? std::nullopt
                                                 : std::optional(std::exp(sum / static_cast<double>(count))));
        }
    }
    return all;
}

nlohmann::ordered_json to_json(const Answer& answer, const std::vector<Sensitivity>& all) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Sensitivity& each : all) {
        nlohmann::ordered_json factors;
        for (std::size_t i = 0; i < each.factors.size(); ++i) {
            nlohmann::ordered_json& factor = factors[answer.metrics[i].name];
            if (each.factors[i]) factor = *each.factors[i];
        }
        list.push_back({{"key", answer.keys[each.key]}, {"factors", factors}});
    }
    return list;
}

std::vector<std::string> failures(const Answer& answer) {
    struct Group {
        std::uint64_t count = 0;
        std::uint64_t first = 0;
    };
    std::map<std::string, Group> by_error;
    for (const AnswerRow& row : answer.rows) {
        if (row.state != "failed") continue;
        Group& group = by_error.try_emplace(row.error, Group{.count = 0, .first = row.number}).first->second;
        ++group.count;
    }
    std::vector<std::string> sentences;
    constexpr std::size_t most = 5;
    for (const auto& [error, group] : by_error) {
        if (sentences.size() == most) {
            sentences.push_back(fmt::format("{} further messages: the column error of the results has all",
                                            report::grouped(by_error.size() - most)));
            break;
        }
        const std::string others =
            group.count == 1 ? "" : fmt::format(" and {} more", report::grouped(group.count - 1));
        sentences.push_back(fmt::format("point {}{}: {}", group.first, others, error));
    }
    return sentences;
}

}  // namespace systole::sweep
