// What a study's points say about its knobs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

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
/// An axis, or several that move together.
using Axes = std::vector<std::size_t>;

bool contains(const Axes& axes, std::size_t axis) {
    return std::ranges::find(axes, axis) != axes.end();
}

std::vector<nlohmann::json> values_of(const AnswerRow& row, const Axes& axes) {
    std::vector<nlohmann::json> values;
    for (const std::size_t axis : axes) values.push_back(row.values[axis]);
    return values;
}

/// The axes beside these that do not follow another one.
Axes others_of(const Answer& answer, const Axes& axes) {
    Axes others;
    for (std::size_t key = 0; key < answer.axes; ++key) {
        if (!contains(axes, key) && !is_follower(answer, key)) others.push_back(key);
    }
    return others;
}

/// The finished points that differ in these axes alone, in the order of their values: a line for each
/// combination of the other axes (derived and zipped keys follow).
std::vector<Line> lines_along(const Answer& answer, const Axes& axes) {
    const Axes others = others_of(answer, axes);
    std::map<std::vector<nlohmann::json>, Line> lines;
    for (const AnswerRow& row : answer.rows) {
        if (row.state == "done") lines[values_of(row, others)].push_back(&row);
    }
    std::vector<Line> all;
    for (auto& [values, line] : lines) {
        std::ranges::stable_sort(line, [&axes](const AnswerRow* a, const AnswerRow* b) {
            return values_of(*a, axes) < values_of(*b, axes);
        });
        all.push_back(std::move(line));
    }
    return all;
}

/// Whether any two finished points differ in these axes alone.
bool can_move(const Answer& answer, const Axes& axes) {
    return std::ranges::any_of(lines_along(answer, axes), [](const Line& line) { return line.size() > 1; });
}

/// Axes of which none moves alone, in parts that move together, each axis in one. A condition has to name
/// two axes, itself or by further ones, before they count as coupled: points of a random sample differ in all
/// axes at once. An axis that nothing moves is a part of its own.
class CoupledAxes {
public:
    CoupledAxes(const Answer& answer, Axes stuck) : answer_(answer), stuck_(std::move(stuck)) {
        for (std::size_t axis = 0; axis < answer.axes; ++axis) component_.push_back(axis);
        for (const std::vector<std::size_t>& condition : answer.conditions) {
            for (const std::size_t axis : condition) join(leader(axis), leader(condition.front()));
        }
    }

    std::vector<Axes> parts() {
        std::map<std::size_t, Axes> parts;  // by an axis of the part
        std::map<std::size_t, std::size_t> part_of;
        for (const std::size_t axis : stuck_) {
            parts[axis] = {axis};
            part_of[axis] = axis;
        }
        for (const std::size_t one : stuck_) {
            for (const std::size_t other : stuck_) {
                if (other <= one || component_[one] != component_[other]) continue;
                if (part_of[one] == part_of[other] || !can_move(answer_, {one, other})) continue;
                const Axes moved = std::exchange(parts[part_of[other]], {});
                for (const std::size_t axis : moved) {
                    parts[part_of[one]].push_back(axis);
                    part_of[axis] = part_of[one];
                }
            }
        }
        std::vector<Axes> all;
        std::set<std::size_t> done;
        for (auto& [name, part] : parts) {
            if (part.empty() || done.contains(part.front())) continue;
            if (part.size() == 1) part = with_others(part.front(), parts);
            std::ranges::sort(part);
            done.insert(part.begin(), part.end());
            all.push_back(part);
        }
        return all;
    }

private:
    std::size_t leader(std::size_t axis) const {
        const auto found = answer_.followers.find(axis);
        return found == answer_.followers.end() ? axis : found->second;
    }

    void join(std::size_t one, std::size_t other) {
        const std::size_t from = component_[one];
        std::ranges::replace(component_, from, std::size_t{component_[other]});
    }

    /// An axis that moves with no other stuck one: all such axes of its component together, or with another
    /// axis, which also moves alone.
    Axes with_others(std::size_t axis, const std::map<std::size_t, Axes>& parts) const {
        Axes alone;
        for (const auto& [name, part] : parts) {
            if (part.size() == 1 && component_[part.front()] == component_[axis]) {
                alone.push_back(part.front());
            }
        }
        if (alone.size() > 1 && can_move(answer_, alone)) return alone;
        for (std::size_t other = 0; other < answer_.axes; ++other) {
            if (other == axis || is_follower(answer_, other) || component_[other] != component_[axis])
                continue;
            if (can_move(answer_, {axis, other})) return {axis, other};
        }
        return {axis};
    }

    const Answer& answer_;
    const Axes stuck_;
    Axes component_;  ///< of each axis
};

/// The axes with several values, each alone where points differ in it alone, else with those that a condition
/// couples it to. Those that follow another axis are left out.
std::vector<Axes> moves_of(const Answer& answer) {
    std::vector<Axes> moves;
    Axes stuck;
    for (std::size_t axis = 0; axis < answer.axes; ++axis) {
        std::set<nlohmann::json> values;
        for (const AnswerRow& row : answer.rows) {
            if (row.state == "done") values.insert(row.values[axis]);
        }
        if (is_follower(answer, axis) || values.size() < 2) continue;
        if (can_move(answer, {axis})) {
            moves.push_back({axis});
        } else {
            stuck.push_back(axis);
        }
    }
    for (Axes& part : CoupledAxes(answer, stuck).parts()) moves.push_back(std::move(part));
    std::ranges::sort(moves);
    return moves;
}

std::vector<Pair> neighbours(const Answer& answer, const Axes& axes) {
    std::vector<Pair> pairs;
    for (const Line& line : lines_along(answer, axes)) {
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

/// "a, b and c".
std::string in_words(std::vector<std::string> names) {
    if (names.size() == 1) return names.front();
    const std::string last = std::move(names.back());
    names.pop_back();
    return fmt::format("{} and {}", fmt::join(names, ", "), last);
}

/// "model and batch": the axes, and those that follow them by zip.
std::string name_of(const Answer& answer, const Axes& axes) {
    std::vector<std::string> names;
    for (const std::size_t axis : axes) {
        names.push_back(answer.keys[axis]);
        for (const auto& [follower, leader] : answer.followers) {
            if (leader == axis) names.push_back(answer.keys[follower]);
        }
    }
    return in_words(std::move(names));
}

/// Whether the name is of several keys.
bool is_many(const Answer& answer, const Axes& axes) {
    return axes.size() > 1 || std::ranges::any_of(answer.followers, [&](const auto& pair) {
               return pair.second == axes.front();
           });
}

std::string sentence_of_nothing(const Answer& answer, const Axes& axes, std::size_t pairs) {
    const bool many = is_many(answer, axes);
    return fmt::format(
        "{} {} nothing: all metrics are equal in each of {} pairs of points that differ in {} alone.",
        name_of(answer, axes), many ? "change" : "changes", report::grouped(pairs), many ? "them" : "it");
}

/// Whether the second point has more of each of these axes, or as much.
bool is_more_of_all(const Pair& pair, const Axes& axes) {
    return std::ranges::all_of(
        axes, [&](std::size_t axis) { return pair.less->values[axis] <= pair.more->values[axis]; });
}

/// Absent if more of the resource is slower nowhere.
std::optional<std::string> slower_sentence(const Answer& answer, const Axes& axes,
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
        "More of {} {} slower in {} of {} steps: interval_ms rises by up to {:.1f} %, from point {} to point "
        "{}. "
        "Their reports (--report {}) show which layers take longer.",
        name_of(answer, axes), is_many(answer, axes) ? "are" : "is", report::grouped(slower),
        report::grouped(pairs.size()), 100.0 * (worst - 1.0), worst_pair->less->number,
        worst_pair->more->number, worst_pair->more->number);
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
    for (const Axes& axes : moves_of(answer)) {
        std::vector<Pair> pairs = neighbours(answer, axes);
        if (pairs.empty()) continue;
        const bool all_equal = std::ranges::all_of(
            pairs, [](const Pair& pair) { return pair.less->metrics == pair.more->metrics; });
        const bool are_resources = std::ranges::all_of(axes, [&](std::size_t axis) {
            return std::ranges::find(resources, answer.keys[axis]) != resources.end();
        });
        if (all_equal) {
            sentences.push_back(sentence_of_nothing(answer, axes, pairs.size()));
        } else if (are_resources) {
            std::erase_if(pairs, [&](const Pair& pair) { return !is_more_of_all(pair, axes); });
            if (auto sentence = slower_sentence(answer, axes, pairs))
                sentences.push_back(*std::move(sentence));
        }
    }
    return sentences;
}

namespace {

/// The finished point nearest to this one that has less of an axis, or more, while all axes stay that do not
/// move with it; null without one.
const AnswerRow* next_inside(const Answer& answer, const std::vector<Axes>& moves, const AnswerRow& point,
                             std::size_t axis, bool is_less) {
    const auto follows = answer.followers.find(axis);
    const std::size_t leader = follows == answer.followers.end() ? axis : follows->second;
    Axes moving{leader};
    for (const Axes& axes : moves) {
        if (contains(axes, leader)) moving = axes;
    }
    const Axes others = others_of(answer, moving);
    const AnswerRow* nearest = nullptr;
    for (const AnswerRow& row : answer.rows) {
        if (row.state != "done" || values_of(row, others) != values_of(point, others)) continue;
        const nlohmann::json& value = row.values[axis];
        if (value == point.values[axis] || (value < point.values[axis]) != is_less) continue;
        if (nearest == nullptr || (value < nearest->values[axis]) != is_less) nearest = &row;
    }
    return nearest;
}

/// "a = 512 and b = 16, the largest of their axes: larger ones may be better".
std::string edge_sentence(const std::vector<std::string>& keys, bool is_most) {
    const bool many = keys.size() > 1;
    return fmt::format(
        "The best has {}, the {} of {}: {} may be better.", in_words(keys), is_most ? "largest" : "smallest",
        many ? "their axes" : "its axis",
        fmt::format(fmt::runtime(many ? "{} ones" : "a {} one"), is_most ? "larger" : "smaller"));
}

}  // namespace

std::vector<std::string> edge_sentences(const Answer& answer, const AnswerRow& best, const Goal& goal) {
    const std::vector<Axes> moves = moves_of(answer);
    std::vector<std::string> largest;
    std::vector<std::string> smallest;
    for (const auto& [axis, ends] : answer.ends) {
        if (!best.values[axis].is_number()) continue;
        const auto value = best.values[axis].get<double>();
        for (const bool is_most : {true, false}) {
            const std::optional<double> end = is_most ? ends.most : ends.least;
            if (!end || value != *end) continue;
            const AnswerRow* const inside = next_inside(answer, moves, best, axis, is_most);
            const double here = best.metrics[goal.metric].value_or(0.0);
            const std::optional<double> there =
                inside == nullptr ? std::nullopt : inside->metrics[goal.metric];
            if (there && std::abs(*there - here) <= report::noticeable_change * std::abs(here)) continue;
            (is_most ? largest : smallest)
                .push_back(fmt::format("{} = {}", answer.keys[axis], best.values[axis].dump()));
        }
    }
    std::vector<std::string> sentences;
    if (!largest.empty()) sentences.push_back(edge_sentence(largest, true));
    if (!smallest.empty()) sentences.push_back(edge_sentence(smallest, false));
    return sentences;
}

std::vector<Sensitivity> sensitivity(const Answer& answer) {
    std::vector<Sensitivity> all;
    for (const Axes& axes : moves_of(answer)) {
        Sensitivity& of_axes = all.emplace_back(Sensitivity{.keys = axes, .factors = {}});
        const std::vector<Line> lines = lines_along(answer, axes);
        for (std::size_t metric = 0; metric < answer.metrics.size(); ++metric) {
            double sum = 0.0;
            std::size_t count = 0;
            for (const Line& line : lines) {
                if (const std::optional<double> factor = spread(line, metric)) {
                    sum += std::log(*factor);
                    ++count;
                }
            }
            of_axes.factors.push_back(count == 0 ? std::nullopt
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
        nlohmann::ordered_json keys = nlohmann::ordered_json::array();
        for (const std::size_t key : each.keys) keys.push_back(answer.keys[key]);
        list.push_back({{"keys", keys}, {"factors", factors}});
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
