#include "sim/study/sweep/study_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "sim/run/path_finder.h"

namespace systole::sweep {

using machine::ConfigError;

/// The keys of a study file.
struct StudyFile {
    std::string schema{study_schema};
    std::string name;
    std::string run;
    std::map<std::string, nlohmann::json> set;
    std::map<std::string, nlohmann::json> axes;
    std::vector<std::string> zip;
    Sample sample;
    std::map<std::string, std::string> derive;
    std::vector<std::string> where;
    std::map<std::string, nlohmann::json> metrics;
};

/// A metric of a study file with more than its formula.
struct MetricKeys {
    std::string formula;
    std::string unit;
    std::string meaning;
};

template <class Visitor>
void describe(Visitor& visitor, MetricKeys& metric) {
    visitor.field(machine::needed("formula", "", "as without an object"), metric.formula);
    visitor.field({"unit", "", "that its numbers are shown with"}, metric.unit);
    visitor.field({"meaning", "", "a sentence beside its formula"}, metric.meaning);
}

template <class Visitor>
void describe(Visitor& visitor, Sample& sample) {
    visitor.field({"points", "", "number of points; 0: all of the grid"}, sample.points,
                  machine::Range{0, most_points});
    visitor.field({"seed", "", "of the random numbers"}, sample.seed,
                  machine::Range{0, std::numeric_limits<std::uint64_t>::max()});
}

template <class Visitor>
void describe(Visitor& visitor, StudyFile& study) {
    visitor.field(machine::needed("schema", "", "kind and version of the file: sim.study/1"), study.schema);
    visitor.field({.key = "name",
                   .meaning = "name of the study, and of its file of results",
                   .if_absent = "the file's"},
                  study.name);
    visitor.field({.key = "run",
                   .meaning = "run file that every point begins with, or its name in configs/runs",
                   .if_absent = "set says all"},
                  study.run);
    visitor.values({"set", "", "keys that are the same in every point, as --set takes them"}, study.set);
    visitor.values(
        {"axes", "",
         "keys to vary: each has a list of values, or from and to with step, factor, or points and scale "
         "(linear or log); without these, sample draws from all numbers between"},
        study.axes);
    visitor.field({"zip", "", "keys of axes that take their values together: KEY,KEY"}, study.zip);
    visitor.section({"sample", "", "random points instead of all"}, study.sample);
    visitor.texts({"derive", "", "keys that follow from others: formulas of keys"}, study.derive);
    visitor.field({"where", "", "formulas of keys: a point for which one is 0 (false) is left out"},
                  study.where);
    visitor.values(
        {"metrics", "",
         "further metrics by name: formulas of paths in report.json, metrics and keys, each after "
         "max: or min: if more or less of it is better; or objects with formula, unit and meaning"},
        study.metrics);
}

std::vector<machine::KeyDescription> study_keys() {
    return machine::keys_of<StudyFile>();
}

namespace {

/// The entries of an object in the order of the file, which std::map does not keep.
template <class Value>
std::vector<std::pair<std::string, Value>> in_order(const std::map<std::string, Value>& values,
                                                    const nlohmann::ordered_json& file, const char* key) {
    std::vector<std::pair<std::string, Value>> ordered;
    if (values.empty()) return ordered;
    for (const auto& [name, unused] : file.at(key).items()) ordered.emplace_back(name, values.at(name));
    return ordered;
}

Metric metric_of(const std::string& name, const nlohmann::json& given, const std::string& file) {
    if (given.is_string()) return {.name = name, .formula = given.get<std::string>()};
    if (!given.is_object()) {
        throw ConfigError(fmt::format("{}: metrics.{} is {}; it must be a formula, or an object with one",
                                      file, name, given.dump()));
    }
    machine::ConfigReader reader(given, file, "metrics." + name);
    MetricKeys keys;
    describe(reader, keys);
    reader.check_keys();
    return {.name = name, .formula = keys.formula, .unit = keys.unit, .meaning = keys.meaning};
}

}  // namespace

StudyDefinition read_study(const std::filesystem::path& file) {
    return parse_study(machine::read_json_text(file), file);
}

StudyDefinition parse_study(std::string_view text, const std::filesystem::path& file) {
    const nlohmann::json object = machine::parse_json_object(text, file.string());
    const nlohmann::ordered_json ordered = machine::parse_ordered_json_object(text, file.string());
    StudyFile read;
    machine::ConfigReader reader(object, file.string());
    reader.check_schema(study_schema);
    describe(reader, read);
    reader.check_keys();

    StudyDefinition study{.name = read.name, .file = file.string()};
    if (study.name.empty()) study.name = file.stem().string();
    check_name(study.name, study.file + ": name");
    if (!read.run.empty()) {
        // As in a run file: relative to the study file as well.
        study.run_file = run::PathFinder(file).find(read.run, "runs");
    }
    for (auto& [key, value] : in_order(read.set, ordered, "set")) study.settings.push_back({key, value});
    for (const auto& [key, value] : in_order(read.axes, ordered, "axes")) {
        study.axes.push_back(axis_of(key, value, study.file));
    }
    for (const std::string& keys : read.zip) study.zip.push_back(parse_zip(keys, study.file + ": zip"));
    if (read.sample.points > 0) study.sample = read.sample;
    study.derive = in_order(read.derive, ordered, "derive");
    study.where = read.where;
    for (auto& [name, given] : in_order(read.metrics, ordered, "metrics")) {
        study.metrics.push_back(metric_of(name, given, study.file));
    }
    return study;
}

void check_name(const std::string& name, const std::string& place) {
    constexpr std::size_t longest = 100;
    if (!name.empty() && name.size() <= longest && name.find('/') == std::string::npos &&
        !name.starts_with('.')) {
        return;
    }
    throw ConfigError(
        fmt::format("{} is \"{}\"; it names files: it has 1 to {} letters, no / and no . at its begin", place,
                    name, longest));
}

std::vector<std::string> parse_zip(std::string_view text, const std::string& place) {
    std::vector<std::string> keys;
    while (true) {
        std::string_view word = text.substr(0, text.find(','));
        const std::size_t whole = word.size();
        while (word.starts_with(' ')) word.remove_prefix(1);
        while (word.ends_with(' ')) word.remove_suffix(1);
        keys.emplace_back(word);
        if (whole == text.size()) break;
        text.remove_prefix(whole + 1);
    }
    if (keys.size() < 2 || std::ranges::find(keys, std::string()) != keys.end()) {
        throw ConfigError(fmt::format("{}: it must be two keys of axes or more, as KEY,KEY", place));
    }
    return keys;
}

NamedFormula parse_formula(std::string_view text, std::string_view option) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string_view::npos || equals + 1 == text.size()) {
        throw ConfigError(fmt::format("{} {}: it must be NAME=FORMULA", option, text));
    }
    return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

}  // namespace systole::sweep
