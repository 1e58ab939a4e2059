#include "sim/study/sweep/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <system_error>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "sim/run/run_config.h"

namespace systole::sweep {

using machine::ConfigError;
using machine::KeyDescription;

/// How the values between two are spaced.
enum class Scale : std::uint8_t { Linear, Log };

/// The object that describes an axis in a study file.
struct AxisRange {
    std::optional<double> from = {};
    std::optional<double> to = {};
    std::optional<double> step = {};
    std::optional<double> factor = {};
    std::optional<double> points = {};
    Scale scale = Scale::Linear;
};

template <class Visitor>
void describe(Visitor& visitor, AxisRange& range) {
    constexpr std::array<std::string_view, 2> scales{"linear", "log"};
    const machine::RealRange any{-1e18, 1e18};
    visitor.field({"from", "", "first value"}, range.from, any);
    visitor.field({"to", "", "last value, if a step reaches it"}, range.to, any);
    visitor.field({"step", "", "difference of neighbours"}, range.step, machine::RealRange{1e-12, 1e18});
    visitor.field({"factor", "", "ratio of neighbours"}, range.factor, machine::RealRange{1.0001, 1e18});
    visitor.field({"points", "", "number of values"}, range.points,
                  machine::RealRange{2, static_cast<double>(most_points)});
    visitor.choice({"scale", "", "equal differences, or equal ratios"}, range.scale, scales);
}

namespace {

/// Sums of steps end a little beside the last value.
constexpr double tolerance = 1e-9;

/// The number that people would write: 0.1 + 2 * 0.1 is 0.3.
double written(double value) {
    return std::stod(fmt::format("{:.12g}", value));
}

[[noreturn]] void fail(const std::string& place, std::string_view rule) {
    throw ConfigError(fmt::format("{}: {}", place, rule));
}

std::vector<double> stepped(double from, double to, double step) {
    std::vector<double> values;
    const auto last = static_cast<std::size_t>(std::min((to - from) / step + tolerance, 1e9));
    for (std::size_t i = 0; i <= std::min(last, most_points); ++i) {
        values.push_back(written(from + static_cast<double>(i) * step));
    }
    return values;
}

std::vector<double> powers(double from, double to, double factor) {
    std::vector<double> values;
    for (double value = from; value <= to * (1.0 + tolerance) && values.size() <= most_points;
         value *= factor) {
        values.push_back(written(value));
    }
    return values;
}

std::vector<double> spaced(double from, double to, std::size_t points, Scale scale) {
    std::vector<double> values;
    for (std::size_t i = 0; i < points; ++i) {
        const double part = static_cast<double>(i) / static_cast<double>(points - 1);
        values.push_back(scale == Scale::Log ? from * std::pow(to / from, part) : from + part * (to - from));
    }
    values.back() = to;
    return values;
}

/// The values of a range; those of a key of whole numbers are rounded, each stays once.
void set_values(Axis& axis, const AxisRange& range, const std::string& place) {
    if (!range.from || !range.to) fail(place, "a range has from and to");
    const double from = *range.from;
    const double to = *range.to;
    if (to < from) fail(place, fmt::format("from is {:g} and to {:g}; a range goes upwards", from, to));
    const int ways =
        int{range.step.has_value()} + int{range.factor.has_value()} + int{range.points.has_value()};
    if (ways > 1) fail(place, "it has more than one of step, factor and points");
    if ((range.factor || range.scale == Scale::Log) && from <= 0.0) {
        fail(place, fmt::format("from is {:g}; ratios need numbers above 0", from));
    }
    if (range.scale == Scale::Log && (range.step || range.factor)) {
        fail(place, "scale goes with points, or with from and to alone");
    }
    if (ways == 0) {
        axis.interval = {.from = from, .to = to, .logarithmic = range.scale == Scale::Log};
        return;
    }
    std::vector<double> values;
    if (range.step) values = stepped(from, to, *range.step);
    if (range.factor) values = powers(from, to, *range.factor);
    if (range.points) {
        if (*range.points != std::floor(*range.points)) fail(place, "points must be a whole number");
        values = spaced(from, to, static_cast<std::size_t>(*range.points), range.scale);
    }
    if (axis.whole && !range.step) {
        for (double& value : values) value = std::round(value);
        values.erase(std::unique(values.begin(), values.end()), values.end());
    }
    for (const double value : values) axis.values.push_back(number_json(value));
}

void check_values(const Axis& axis, const std::string& place) {
    if (axis.interval) return;
    if (axis.values.empty()) fail(place, "it has no value");
    if (axis.values.size() > most_points) {
        fail(place, fmt::format("it has more than {} values", most_points));
    }
    for (std::size_t i = 0; i < axis.values.size(); ++i) {
        if (axis.values[i].is_object()) fail(place, "a value is an object; an axis is over single keys");
        if (std::find(axis.values.begin(), axis.values.begin() + static_cast<std::ptrdiff_t>(i),
                      axis.values[i]) != axis.values.begin() + static_cast<std::ptrdiff_t>(i)) {
            fail(place, fmt::format("it has the value {} twice", axis.values[i].dump()));
        }
        if (i >= 10'000) break;  // of long lists, the beginning
    }
}

/// The description of a dotted key among `keys`.
std::optional<KeyDescription> find_key(std::string_view dotted, std::span<const KeyDescription> keys) {
    while (true) {
        const std::string_view name = dotted.substr(0, dotted.find('.'));
        const auto found = std::ranges::find(keys, name, &KeyDescription::name);
        if (found == keys.end()) return std::nullopt;
        if (name.size() == dotted.size()) return *found;
        dotted.remove_prefix(name.size() + 1);
        keys = found->keys;
    }
}

std::optional<double> parse_number(std::string_view text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// "A:B", "A:B:+S", "A:B:*F" as the object of a file; absent for another text.
std::optional<nlohmann::json> parse_range(std::string_view text) {
    const std::size_t first = text.find(':');
    if (first == std::string_view::npos) return std::nullopt;
    const std::size_t second = text.find(':', first + 1);
    const auto from = parse_number(text.substr(0, first));
    const auto to =
        parse_number(text.substr(first + 1, second == std::string_view::npos ? second : second - first - 1));
    if (!from || !to) return std::nullopt;
    nlohmann::json range{{"from", *from}, {"to", *to}};
    if (second == std::string_view::npos) return range;
    const std::string_view way = text.substr(second + 1);
    const auto number = way.empty() ? std::nullopt : parse_number(way.substr(1));
    if (!number || (way.front() != '+' && way.front() != '*')) return std::nullopt;
    range[way.front() == '+' ? "step" : "factor"] = *number;
    return range;
}

/// A text that is nearly a range: only numbers and colons, as "1:8:2".
bool looks_like_range(std::string_view text) {
    return text.find(':') != std::string_view::npos &&
           text.find_first_not_of("0123456789.:+-*eE") == std::string_view::npos;
}

/// A word of a list: JSON, or else a text.
nlohmann::json word_json(const std::string& word) {
    return run::parse_setting("value=" + word).value;
}

}  // namespace

nlohmann::json number_json(double value) {
    constexpr double exact = 9007199254740992.0;  // 2^53: whole numbers up to it are exact
    if (value == std::floor(value) && std::abs(value) <= exact) {
        if (value >= 0.0) return static_cast<std::uint64_t>(value);
        return static_cast<std::int64_t>(value);
    }
    return value;
}

nlohmann::json Axis::draw(std::mt19937_64& generator) const {
    // Not the standard's distributions: each library has its own.
    const std::uint64_t bits = generator();
    if (!interval) return values[bits % values.size()];
    const double part = static_cast<double>(bits >> 11U) * 0x1p-53;  // from 0 to below 1
    double value = interval->logarithmic ? interval->from * std::pow(interval->to / interval->from, part)
                                         : interval->from + part * (interval->to - interval->from);
    if (whole) value = std::round(value);
    return number_json(value);
}

std::optional<KeyDescription> described_key(const std::string& key, const std::string& file) {
    constexpr std::string_view prefix = "machine.";
    const bool is_machine = key.starts_with(prefix);
    const std::string rest = is_machine ? key.substr(prefix.size()) : key;
    static const std::vector<KeyDescription> of_machine = machine::machine_keys();
    static const std::vector<KeyDescription> of_run = run::run_keys();
    const std::vector<KeyDescription>& keys = is_machine ? of_machine : of_run;
    if (is_machine) {
        machine::check_known(rest, keys, file + ": machine");
    } else if (std::ranges::find(keys, key.substr(0, key.find('.')), &KeyDescription::name) == keys.end() &&
               find_key(key, of_machine)) {
        throw ConfigError(fmt::format("{}: {} is a key of the machine: machine.{}", file, key, key));
    } else {
        machine::check_known(rest, keys, file);
    }
    return find_key(rest, keys);
}

Axis axis_of(const std::string& key, const nlohmann::json& given, const std::string& file) {
    const std::string place = fmt::format("{}: axes.{}", file, key);
    Axis axis{.key = key};
    const std::optional<KeyDescription> description = described_key(key, place);
    axis.whole = description && description->type == KeyDescription::Type::WholeNumber;
    if (key == "schema" || key == "machine.schema") fail(place, "the kind of a file is no axis");
    if (given.is_object()) {
        machine::ConfigReader reader(given, file, "axes." + key);
        AxisRange range;
        describe(reader, range);
        reader.check_keys();
        set_values(axis, range, place);
    } else if (given.is_array()) {
        axis.values.assign(given.begin(), given.end());
    } else {
        axis.values.push_back(given);
    }
    check_values(axis, place);
    return axis;
}

Axis axis_of(std::string_view text) {
    const std::string file = "command line";
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
        throw ConfigError(
            fmt::format("--axis {}: it must be KEY=VALUES, as in batch=1,8,64, batch=1:512:*2 or "
                        "machine.clock_mhz=400:1390:+10",
                        text));
    }
    const std::string key(text.substr(0, equals));
    const std::string_view values = text.substr(equals + 1);
    if (const auto range = parse_range(values)) return axis_of(key, *range, file);
    if (looks_like_range(values)) {
        throw ConfigError(fmt::format(
            "--axis {}: a range is FROM:TO:+STEP or FROM:TO:*FACTOR, upwards, as in 400:1390:+10 or 1:512:*2",
            text));
    }
    if (values.front() == '[' || values.front() == '{') {
        const nlohmann::json json = word_json(std::string(values));
        if (json.is_string()) throw ConfigError(fmt::format("--axis {}: its values are no JSON", text));
        return axis_of(key, json, file);
    }
    nlohmann::json list = nlohmann::json::array();
    std::string_view rest = values;
    while (true) {
        const std::string_view word = rest.substr(0, rest.find(','));
        if (word.empty()) throw ConfigError(fmt::format("--axis {}: a value is empty", text));
        list.push_back(word_json(std::string(word)));
        if (word.size() == rest.size()) break;
        rest.remove_prefix(word.size() + 1);
    }
    return axis_of(key, list, file);
}

}  // namespace systole::sweep
