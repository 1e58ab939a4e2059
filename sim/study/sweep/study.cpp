#include "sim/study/sweep/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/user_error.h"
#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "sim/study/sweep/base_values.h"
#include "sim/study/sweep/command_line.h"
#include "sim/study/sweep/database.h"

namespace systole::sweep {

using machine::ConfigError;

namespace {

/// Keys of files and texts that a point writes or prints: a study keeps records, and has none of them.
constexpr std::array<std::string_view, 3> output_keys{"out", "outputs", "float_outputs"};
/// Keys of runs that compute values.
constexpr std::array<std::string_view, 4> value_keys{"float_reference", "accuracy_by_layer", "registers",
                                                     "print"};

Expression parsed(const std::string& formula, const std::string& place) {
    try {
        return Expression(formula);
    } catch (const ExpressionError& error) {
        throw ConfigError(fmt::format("{} is {}", place, error.what()));
    }
}

std::string derive_place(const StudyDefinition& study, const std::string& key) {
    return fmt::format("{}: derive.{}", study.file, key);
}

}  // namespace

Study::Study(StudyDefinition definition)
    : definition_(std::move(definition)),
      metrics_(definition_.metrics, definition_.file),
      timing_only_(!metrics_.need_values()),
      base_(std::make_unique<BaseValues>(definition_)) {
    for (const run::Setting& setting : definition_.settings) {
        if (setting.key == "timing_only") timing_only_ = setting.value == true;
    }
    check_keys();
    for (const Axis& axis : definition_.axes) keys_.push_back(axis.key);
    order_derived();
    for (const auto& [key, formula] : definition_.derive) keys_.push_back(key);
    check_metric_names();
    for (const std::string& formula : definition_.where) {
        conditions_.push_back(parsed(formula, definition_.file + ": where"));
    }
    if (definition_.sample) {
        draw_sample();
    } else {
        make_grid();
    }
    if (points_.empty()) {
        throw ConfigError(fmt::format("{}: where leaves out all {} points", definition_.file, left_out_));
    }
}

Study::~Study() = default;

void Study::check_keys() const {
    const std::string& file = definition_.file;
    std::set<std::string> taken;
    const auto take = [&](const std::string& key, const char* part) {
        if (std::ranges::find(output_keys, key) != output_keys.end() || key.starts_with("trace")) {
            throw ConfigError(fmt::format("{}: {}.{}: points of a study write no files", file, part, key));
        }
        if (!taken.insert(key).second) {
            throw ConfigError(
                fmt::format("{}: {}.{}: the key has an axis or a formula already", file, part, key));
        }
    };
    for (const Axis& axis : definition_.axes) {
        take(axis.key, "axes");
        if (axis.interval && !definition_.sample) {
            throw ConfigError(fmt::format(
                "{}: axes.{}: from and to alone are all numbers between them; give step, factor or points, "
                "or a sample",
                file, axis.key));
        }
    }
    for (const auto& [key, formula] : definition_.derive) {
        described_key(key, derive_place(definition_, key));
        take(key, "derive");
    }
    for (const run::Setting& setting : definition_.settings) {
        if (taken.contains(setting.key)) {
            throw ConfigError(
                fmt::format("{}: set.{}: the key has an axis or a formula already", file, setting.key));
        }
        described_key(setting.key, file + ": set");
    }
}

void Study::check_metric_names() const {
    for (const Metric& metric : definition_.metrics) {
        const auto is_like = [&](std::string_view name) { return is_same_column(metric.name, name); };
        const auto fail = [&](const std::string& rule) {
            throw ConfigError(fmt::format("{}: metrics.{}: {}; the metric needs another name",
                                          definition_.file, metric.name, rule));
        };
        const auto key = std::ranges::find_if(keys_, is_like);
        if (key != keys_.end()) fail(fmt::format("the study varies the key {}", *key));
        const auto column = std::ranges::find_if(columns_beside_metrics, is_like);
        if (column != columns_beside_metrics.end()) {
            fail(fmt::format("the results have a column {}", *column));
        }
    }
}

void Study::order_derived() {
    std::vector<NamedFormula> ordered;
    std::vector<NamedFormula> waiting = definition_.derive;
    while (!waiting.empty()) {
        const auto ready = std::ranges::find_if(waiting, [&](const NamedFormula& each) {
            const Expression formula = parsed(each.second, derive_place(definition_, each.first));
            return std::ranges::none_of(formula.names(), [&](const std::string& name) {
                return std::ranges::find(waiting, name, &NamedFormula::first) != waiting.end();
            });
        });
        if (ready == waiting.end()) {
            throw ConfigError(fmt::format("{}: its formula leads back to itself",
                                          derive_place(definition_, waiting.front().first)));
        }
        derived_.push_back(parsed(ready->second, derive_place(definition_, ready->first)));
        ordered.push_back(*ready);
        waiting.erase(ready);
    }
    definition_.derive = std::move(ordered);
}

std::vector<Study::Group> Study::groups() const {
    const std::vector<Axis>& axes = definition_.axes;
    std::vector<Group> groups;
    std::vector<bool> grouped(axes.size(), false);
    std::vector<std::vector<std::size_t>> zipped(axes.size());  // by the first axis of each
    for (const std::vector<std::string>& keys : definition_.zip) {
        std::vector<std::size_t> members;
        for (const std::string& key : keys) {
            const auto axis = std::ranges::find(axes, key, &Axis::key);
            const auto index = static_cast<std::size_t>(axis - axes.begin());
            if (axis == axes.end() || grouped[index]) {
                throw ConfigError(fmt::format("{}: zip: {} is {}", definition_.file, key,
                                              axis == axes.end() ? "no axis" : "zipped already"));
            }
            if (axis->values.size() != axes[members.empty() ? index : members.front()].values.size()) {
                throw ConfigError(fmt::format("{}: zip: {} has {} values and {} {}; they must be as many",
                                              definition_.file, key, axis->values.size(), keys.front(),
                                              axes[members.front()].values.size()));
            }
            if (axis->interval) {
                throw ConfigError(
                    fmt::format("{}: zip: {} is all numbers between two; zipped axes have lists of values",
                                definition_.file, key));
            }
            grouped[index] = true;
            members.push_back(index);
        }
        std::ranges::sort(members);
        zipped[members.front()] = members;
    }
    for (std::size_t i = 0; i < axes.size(); ++i) {
        if (!zipped[i].empty()) {
            groups.push_back({.axes = zipped[i], .size = axes[i].values.size()});
        } else if (!grouped[i]) {
            groups.push_back({.axes = {i}, .size = axes[i].values.size()});
        }
    }
    return groups;
}

void Study::make_grid() {
    const std::vector<Group> all = groups();
    std::size_t size = 1;
    for (const Group& group : all) {
        if (size > most_points / group.size) {
            throw ConfigError(fmt::format("{}: axes: the grid has more than {} points; a sample draws some",
                                          definition_.file, most_points));
        }
        size *= group.size;
    }
    for (std::size_t index = 0; index < size; ++index) {
        std::vector<nlohmann::json> values(definition_.axes.size());
        std::size_t rest = index;
        for (std::size_t i = all.size(); i-- > 0;) {
            const Group& group = all[i];
            for (const std::size_t axis : group.axes) {
                values[axis] = definition_.axes[axis].values[rest % group.size];
            }
            rest /= group.size;
        }
        add(index + 1, std::move(values));
    }
}

void Study::draw_sample() {
    const std::vector<Group> all = groups();
    std::mt19937_64 generator(definition_.sample->seed);
    std::set<std::vector<nlohmann::json>> drawn;
    const std::uint64_t wanted = definition_.sample->points;
    if (wanted > most_points) {
        throw ConfigError(fmt::format("{}: sample.points is {}; it must be at most {}", definition_.file,
                                      wanted, most_points));
    }
    const std::uint64_t most_draws = 1000 + 100 * wanted;
    for (std::uint64_t draws = 0; drawn.size() < wanted; ++draws) {
        if (draws == most_draws) {
            throw ConfigError(fmt::format("{}: sample.points is {}; the axes have only about {} points",
                                          definition_.file, wanted, drawn.size()));
        }
        std::vector<nlohmann::json> values(definition_.axes.size());
        for (const Group& group : all) {
            const Axis& first = definition_.axes[group.axes.front()];
            const nlohmann::json value = first.draw(generator);
            const auto place = std::ranges::find(first.values, value) - first.values.begin();
            for (const std::size_t axis : group.axes) {
                values[axis] = axis == group.axes.front()
                                   ? value
                                   : definition_.axes[axis].values[static_cast<std::size_t>(place)];
            }
        }
        if (drawn.insert(values).second) add(drawn.size(), std::move(values));
    }
}

void Study::add(std::uint64_t number, std::vector<nlohmann::json> values) {
    for (std::size_t i = 0; i < derived_.size(); ++i) {
        const std::string place =
            fmt::format("{} at point {}", derive_place(definition_, definition_.derive[i].first), number);
        values.push_back(number_json(value_of(derived_[i], values, place)));
    }
    for (const Expression& condition : conditions_) {
        const std::string place = fmt::format("{}: where at point {}", definition_.file, number);
        if (value_of(condition, values, place) == 0.0) {
            ++left_out_;
            return;
        }
    }
    points_.push_back({.number = number, .values = std::move(values)});
}

double Study::value_of(const Expression& formula, const std::vector<nlohmann::json>& values,
                       const std::string& place) const {
    std::optional<nlohmann::json> machine;
    const auto value_at = [&](const std::string& name) -> const nlohmann::json* {
        const auto key = std::ranges::find(keys_, name);
        std::size_t index = static_cast<std::size_t>(key - keys_.begin());
        if (key == keys_.end()) {  // a derived key, before all are in keys_
            const auto derived = std::ranges::find(definition_.derive, name, &NamedFormula::first);
            if (derived == definition_.derive.end()) return nullptr;
            index = definition_.axes.size() + static_cast<std::size_t>(derived - definition_.derive.begin());
        }
        return index < values.size() ? &values[index] : nullptr;
    };
    if (const nlohmann::json* given = value_at("machine")) machine = *given;
    std::vector<double> operands;
    for (const std::string& name : formula.names()) {
        nlohmann::json value;
        if (const nlohmann::json* given = value_at(name)) {
            value = *given;
        } else {
            described_key(name, place);
            value = base_->find(name, machine);
        }
        if (value.is_boolean()) value = value.get<bool>() ? 1 : 0;
        if (!value.is_number()) {
            throw ConfigError(fmt::format("{}: {} is {}; a formula is of numbers", place, name,
                                          value.is_null() ? "not set" : value.dump()));
        }
        operands.push_back(value.get<double>());
    }
    try {
        return formula.value(operands);
    } catch (const ExpressionError& error) {
        throw ConfigError(fmt::format("{} is {}", place, error.what()));
    }
}

std::vector<run::Setting> Study::settings_of(const Point& point) const {
    std::vector<run::Setting> settings = definition_.settings;
    for (std::size_t i = 0; i < keys_.size(); ++i) settings.push_back({keys_[i], point.values[i]});
    return settings;
}

run::RunSpec Study::spec_of(const Point& point) const {
    std::vector<run::Setting> settings;
    settings.reserve(output_keys.size());
    for (const std::string_view key : output_keys) settings.push_back({std::string(key), nullptr});
    settings.push_back({"trace", nullptr});
    if (timing_only_) {
        for (const std::string_view key : value_keys) settings.push_back({std::string(key), nullptr});
        settings.push_back({"timing_only", true});
    }
    for (run::Setting& setting : settings_of(point)) settings.push_back(std::move(setting));
    const std::string& file = definition_.file;
    const std::string place =
        definition_.run_file.empty() ? file : fmt::format("{} and {}", definition_.run_file.string(), file);
    try {
        run::RunConfig config =
            run::read_run(definition_.run_file, nlohmann::json::object(), settings, place);
        config.settings_place = file;
        return run::make_spec(config);
    } catch (const ConfigError& error) {
        throw ConfigError(blamed(error.what()));
    }
}

/// A message of the reader, "FILE and STUDY: KEY is VALUE; RULE", where the study gives the key: then its
/// file and its part are the place.
std::string Study::blamed(const std::string& message) const {
    const std::string place = definition_.file + ": ";
    std::size_t begin = 0;
    if (!message.starts_with(place)) {
        const std::string second = " and " + place;
        begin = message.find(second);
        if (begin == std::string::npos) return message;
        begin += second.size() - place.size();
    }
    const std::string_view rest = std::string_view(message).substr(begin + place.size());
    for (std::size_t i = 0; i < keys_.size(); ++i) {
        constexpr std::string_view prefix = "machine.";
        std::string_view read = keys_[i];  // the name in the file that has the key
        if (read.starts_with(prefix)) read.remove_prefix(prefix.size());
        if (!rest.starts_with(read) || !rest.substr(read.size()).starts_with(" is ")) continue;
        const bool is_axis = i < definition_.axes.size();
        return fmt::format("{}{}.{}{}", place, is_axis ? "axes" : "derive", keys_[i],
                           rest.substr(read.size()));
    }
    return message;
}

std::set<std::string> Study::axes_of(const Expression& formula) const {
    std::set<std::string> axes;
    const bool varies_machine = std::ranges::find(keys_, "machine") != keys_.end();
    for (const std::string& name : formula.names()) {
        const auto axis = std::ranges::find(definition_.axes, name, &Axis::key);
        const auto derived = std::ranges::find(definition_.derive, name, &NamedFormula::first);
        if (axis != definition_.axes.end()) {
            axes.insert(name);
        } else if (derived != definition_.derive.end()) {
            axes.merge(axes_of(derived_[static_cast<std::size_t>(derived - definition_.derive.begin())]));
        } else if (varies_machine && name.starts_with("machine.")) {
            axes.insert("machine");
        }
    }
    return axes;
}

namespace {

/// The ends of an axis of numbers, without one beyond which the key has no values: there is no batch below 1.
nlohmann::ordered_json ends_of(const Axis& axis, const std::string& file) {
    nlohmann::ordered_json ends = nlohmann::ordered_json::object();
    const bool has_numbers = std::ranges::all_of(axis.values, &nlohmann::json::is_number);
    // Seeds, and the number of images, are no size of anything that may be better.
    constexpr std::array<std::string_view, 3> no_sizes{"random_input", "arrival_seed", "limit"};
    if (axis.values.size() < 2 || !has_numbers || std::ranges::find(no_sizes, axis.key) != no_sizes.end()) {
        return ends;
    }
    const std::optional<machine::KeyDescription> key = described_key(axis.key, file);
    if (!key) return ends;
    machine::RealRange range = key->real_range.value_or(machine::RealRange{});
    if (key->range) {
        range = {.least = static_cast<double>(key->range->least),
                 .most = static_cast<double>(key->range->most)};
    }
    const auto [least, most] = std::ranges::minmax(axis.values);
    // A whole number of 0 turns a key off: it is no smaller size.
    if (least > range.least && !(axis.whole && least <= 1)) ends["least"] = least;
    if (most < range.most) ends["most"] = most;
    return ends;
}

}  // namespace

nlohmann::ordered_json Study::description() const {
    nlohmann::ordered_json conditions = nlohmann::ordered_json::array();
    for (const Expression& condition : conditions_) conditions.push_back(axes_of(condition));
    nlohmann::ordered_json ends = nlohmann::ordered_json::object();
    for (const Axis& axis : definition_.axes) {
        if (auto of_axis = ends_of(axis, definition_.file); !of_axis.empty()) ends[axis.key] = of_axis;
    }
    nlohmann::ordered_json followers = nlohmann::ordered_json::object();
    for (const std::vector<std::string>& keys : definition_.zip) {
        for (std::size_t i = 1; i < keys.size(); ++i) followers[keys[i]] = keys[0];
    }
    std::string command = "sim run";
    if (!definition_.run_file.empty()) command += " " + shell_word(definition_.run_file.string());
    for (const run::Setting& setting : definition_.settings)
        command += set_option(setting.key, setting.value);
    const bool is_said = std::ranges::find(definition_.settings, "timing_only", &run::Setting::key) !=
                         definition_.settings.end();
    if (timing_only_ && !is_said) command += set_option("timing_only", true);
    if (timing_only_ && !definition_.run_file.empty()) {
        const nlohmann::json file = machine::read_json_object(definition_.run_file);
        for (const std::string_view key : value_keys) {  // a timing-only run refuses them
            if (file.contains(std::string(key))) command += set_option(std::string(key), nullptr);
        }
    }
    return {{"study", definition_.name},          {"keys", keys_},
            {"axes", definition_.axes.size()},    {"followers", followers},
            {"conditions", conditions},           {"ends", ends},
            {"metrics", to_json(metrics_.all())}, {"command", command}};
}

}  // namespace systole::sweep
