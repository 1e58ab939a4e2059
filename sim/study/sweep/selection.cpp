#include "sim/study/sweep/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string>
#include <system_error>

#include "hw/machine/config_error.h"

namespace systole::sweep {

using machine::ConfigError;

namespace {

struct Range {
    std::uint64_t first;
    std::uint64_t last;
};

std::optional<std::uint64_t> parse_point(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_whole = error == std::errc() && end == text.data() + text.size();
    return is_whole && number > 0 ? std::optional(number) : std::nullopt;
}

std::vector<Range> parse_points(std::string_view text) {
    std::vector<Range> ranges;
    while (true) {
        const std::string_view word = text.substr(0, text.find(','));
        const std::size_t dash = word.find('-');
        const auto first = parse_point(word.substr(0, dash));
        const auto last = dash == std::string_view::npos ? first : parse_point(word.substr(dash + 1));
        if (!first || !last || *last < *first) {
            throw ConfigError(
                fmt::format("--points {}: it must be numbers from 1 and ranges, as in 3,7,10-20", word));
        }
        ranges.push_back({*first, *last});
        if (word.size() == text.size()) return ranges;
        text.remove_prefix(word.size() + 1);
    }
}

/// The values that a setting of an axis keeps.
std::vector<nlohmann::json> kept_values(const Axis& axis, const nlohmann::json& given) {
    std::vector<nlohmann::json> values;
    const bool is_one = !given.is_array() || std::ranges::find(axis.values, given) != axis.values.end();
    if (is_one) {
        values.push_back(given);
    } else {
        values.assign(given.begin(), given.end());
    }
    for (const nlohmann::json& value : values) {
        if (axis.interval || std::ranges::find(axis.values, value) != axis.values.end()) continue;
        std::string known;
        for (std::size_t i = 0; i < std::min<std::size_t>(axis.values.size(), 20); ++i) {
            known += (i == 0 ? "" : ", ") + axis.values[i].dump();
        }
        throw ConfigError(fmt::format("--set {}={}: the axis has no such value; it has {}{}", axis.key,
                                      value.dump(), known, axis.values.size() > 20 ? ", ..." : ""));
    }
    return values;
}

}  // namespace

std::vector<std::uint64_t> select(const Study& study, const Selection& selection) {
    struct Kept {
        std::size_t key;
        std::vector<nlohmann::json> values;
    };
    std::vector<Kept> kept;
    for (const run::Setting& setting : selection.values) {
        const auto& axes = study.definition().axes;
        const auto axis = std::ranges::find(axes, setting.key, &Axis::key);
        kept.push_back({.key = static_cast<std::size_t>(axis - axes.begin()),
                        .values = kept_values(*axis, setting.value)});
    }
    std::vector<Range> ranges;
    if (!selection.points.empty()) ranges = parse_points(selection.points);
    std::vector<std::uint64_t> numbers;
    std::vector<bool> is_met(ranges.size(), false);
    for (const Point& point : study.points()) {
        bool in_range = ranges.empty();
        for (std::size_t i = 0; i < ranges.size(); ++i) {
            if (point.number < ranges[i].first || point.number > ranges[i].last) continue;
            is_met[i] = true;
            in_range = true;
        }
        const bool has_values = std::ranges::all_of(kept, [&](const Kept& each) {
            return std::ranges::find(each.values, point.values[each.key]) != each.values.end();
        });
        if (in_range && has_values) numbers.push_back(point.number);
    }
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        if (is_met[i]) continue;
        const std::uint64_t last = study.points().back().number;
        const std::string which = ranges[i].first == ranges[i].last
                                      ? fmt::format("{}", ranges[i].first)
                                      : fmt::format("{}-{}", ranges[i].first, ranges[i].last);
        throw ConfigError(
            ranges[i].first < last
                ? fmt::format("--points {}: where leaves out what is there", which)
                : fmt::format("--points {}: the study has no such point; its last is {}", which, last));
    }
    if (numbers.empty()) throw ConfigError("--points and --set leave no point of the study");
    return numbers;
}

}  // namespace systole::sweep
