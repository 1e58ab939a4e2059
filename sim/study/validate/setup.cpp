#include "sim/study/validate/setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "sim/study/validate/baseline_errors.h"
#include "sim/study/validate/formula_fits.h"
#include "sim/study/validate/linear_models.h"
#include "sim/study/validate/machines.h"
#include "sim/study/validate/rooflines.h"

namespace systole::validate {
namespace {

run::Content pinned(const Setup& setup, const std::string& name, const Model& model) {
    const std::filesystem::path path = setup.beside.find(model.file, "models");
    run::Content content = run::content_of(path);
    if (!model.sha256.empty() && content.hash != model.sha256) {
        throw machine::ConfigError(fmt::format(
            "{}: models.{}: {} has the SHA-256 {}, pinned is {}; a workload of the validation must not "
            "change",
            setup.file, name, path.string(), content.hash, model.sha256));
    }
    return content;
}

bool is_dotted_name(std::string_view name) {
    while (true) {
        const std::size_t dot = name.find('.');
        if (!is_name(name.substr(0, dot))) return false;
        if (dot == std::string_view::npos) return true;
        name.remove_prefix(dot + 1);
    }
}

/// Dotted names are found by their first part: two things of one name would hide each other.
void check_names(const Setup& setup) {
    std::map<std::string, std::string> owners{
        {"machine", "the machine"}, {"fit", "the fit"}, {"trial", "the fit"}};
    const auto take = [&](const std::string& name, const std::string& kind, bool is_dotted = false) {
        if (!(is_dotted ? is_dotted_name(name) : is_name(name))) {
            throw machine::ConfigError(
                fmt::format("{}: \"{}\" is the name of {}; it must have letters, digits and _ alone",
                            setup.file, name, kind));
        }
        const auto [owner, is_new] = owners.emplace(name.substr(0, name.find('.')), kind);
        if (is_new || owner->second == kind) return;
        throw machine::ConfigError(
            fmt::format("{}: {} is the name of {} and of {}", setup.file, owner->first, owner->second, kind));
    };
    const Target& target = setup.target;
    for (const auto& [path, number] : setup.published.numbers) take(path, "published figures", true);
    for (const auto& [name, elements] : target.lists) take(name, "a list");
    for (const auto& [name, baseline] : target.baselines) take(name, "a baseline");
    for (const auto& [name, run] : target.runs) take(name, "a run");
    for (const auto& [name, roofline] : target.rooflines) take(name, "a roofline");
    if (!setup.shapes.empty()) take("shapes", "the shapes");
    for (const auto& [name, constant] : target.constants) take(name, "a constant");
    for (const auto& [name, model] : target.null_models) take(name, "a null model");
    for (const FormulaFit& fit : target.formula_fits) {
        if (std::ranges::count(target.formula_fits, fit.name, &FormulaFit::name) > 1)
            throw machine::ConfigError(
                fmt::format("{}: formula_fits: there are two of the name {}", setup.file, fit.name));
        take(fit.name, "a fit by formulas");
    }
    for (const auto& [name, value] : target.values) take(name, "a value", true);
}

/// "x" beside "x.A" would be a number in one place and a row in another.
void check_values(const Setup& setup) {
    const auto& values = setup.target.values;
    for (const auto& [name, value] : values) {
        for (auto other = values.upper_bound(name + '.');
             other != values.end() && other->first.starts_with(name + '.'); ++other) {
            throw machine::ConfigError(
                fmt::format("{}: values.{} and values.{}: the second is part of the first", setup.file, name,
                            other->first));
        }
    }
}

/// Each workload that runs stands in the shapes, if there are any.
void check_shapes(const Setup& setup) {
    if (setup.target.rooflines.empty() && setup.shapes.empty()) return;
    for (const Element& workload : setup.target.lists.at("workloads")) {
        if (setup.shapes.contains(workload.name)) continue;
        throw machine::ConfigError(
            fmt::format("{}: shapes has no {}, one of the workloads", setup.file, workload.name));
    }
    for (const auto& [name, network] : setup.shapes) {
        if (setup.target.models.contains(name)) continue;
        throw machine::ConfigError(
            fmt::format("{}: shapes has {}, which is none of the models", setup.file, name));
    }
}

/// A choice changes what there is: a misspelt name would change nothing without a word.
void check_change(const Setup& setup, const nlohmann::json& change) {
    for (const char* const section : {"lists", "models", "metrics", "runs", "constants", "null_models",
                                      "networks", "baselines", "values", "json"}) {
        if (!change.contains(section) || !change[section].is_object()) continue;
        for (const auto& [name, value] : change[section].items()) {
            if (setup.json.contains(section) && setup.json[section].contains(name)) continue;
            throw machine::ConfigError(
                fmt::format("{}: a choice changes {}.{}, which is not there", setup.file, section, name));
        }
    }
}

Setup setup_of(nlohmann::json json, std::string file, run::PathFinder beside) {
    Target target = read_target(json, file);
    Setup setup{.file = std::move(file),
                .beside = std::move(beside),
                .json = std::move(json),
                .target = std::move(target)};
    const auto find = [&](const std::string& name, const char* kind) {
        return setup.beside.find(name, kind);
    };
    setup.published = read_published(find(setup.target.published, "published"));
    setup.machine = machine::read_machine(find(setup.target.machine, "machines"));
    for (const auto& [name, baseline] : setup.target.baselines) {
        setup.baselines[name] = baselines::read_baseline(find(baseline.file, "baselines"));
    }
    if (!setup.target.shapes.empty()) setup.shapes = read_shapes(find(setup.target.shapes, "models"));
    for (const auto& [name, model] : setup.target.models) setup.models[name] = pinned(setup, name, model);
    check_names(setup);
    check_values(setup);
    check_shapes(setup);
    if (!setup.target.set.empty() || !setup.target.set_all.empty()) {
        Formulas formulas = formulas_of(setup);
        setup.machine = changed(setup.machine, setup.target.set_all, formulas, setup.file + ": set_all");
        setup.machine = changed(setup.machine, setup.target.set, formulas, setup.file + ": set");
    }
    return setup;
}

}  // namespace

Setup read_setup(const std::string& target, const run::PathFinder& paths) {
    const std::filesystem::path file = paths.find(target, "validation");
    return setup_of(machine::read_json_object(file), file.string(), run::PathFinder(file));
}

Setup changed(const Setup& setup, const nlohmann::json& change) {
    check_change(setup, change);
    nlohmann::json json = setup.json;
    json.merge_patch(change);
    return setup_of(std::move(json), setup.file, setup.beside);
}

std::uint32_t batch_of(const Setup& setup, const std::string& model, Formulas& formulas) {
    const auto found = setup.target.models.find(model);
    if (found == setup.target.models.end()) {
        throw machine::ConfigError(fmt::format("{}: {} is none of the models", setup.file, model));
    }
    constexpr double most = 1e6;
    const std::string place = fmt::format("models.{}.batch", model);
    const Number batch = formulas.value(found->second.batch, place);
    if (batch && *batch >= 1.0 && *batch <= most && *batch == std::floor(*batch)) {
        return static_cast<std::uint32_t>(*batch);
    }
    throw machine::ConfigError(fmt::format("{}: {} is {}; it must be a whole number from 1 to {:.0f}",
                                           setup.file, place, batch ? fmt::format("{}", *batch) : "absent",
                                           most));
}

/// What runs and the fit will tell.
std::set<std::string> expected_names(const Target& target) {
    std::set<std::string> names{
        "fit.error",      "fit.worst", "fit.others_mean", "fit.others_worst", "fit.null_others_mean",
        "fit.simulations"};
    for (const FitRow& row : target.fit.rows) {
        names.insert("fit.errors." + row.name);
        names.insert("fit.left_out." + row.name);
    }
    for (const FormulaFit& fit : target.formula_fits) names.merge(names_of(fit));
    std::vector<std::string> metrics;
    for (const sweep::Metric& metric : sweep::common_metrics()) metrics.push_back(metric.name);
    for (const sweep::Metric& metric : target.metrics) metrics.push_back(metric.name);
    for (const std::string& metric : metrics) {
        names.insert("trial." + metric);
        for (const auto& [run, set] : target.runs) names.insert(fmt::format("{}.{}", run, metric));
    }
    return names;
}

Formulas formulas_of(const Setup& setup) {
    const Target& target = setup.target;
    Formulas formulas(target.lists, setup.file);
    formulas.expect(expected_names(target));
    for (const auto& [path, number] : setup.published.numbers) formulas.know(path, number);
    formulas.know(flattened(machine::to_json(setup.machine), "machine."));
    for (const auto& [name, baseline] : setup.baselines) {
        formulas.know(flattened(baselines::to_json(baseline), name + '.'));
    }
    for (const auto& [name, value] : target.values) {
        if (value.is_null()) {
            formulas.know(name, std::nullopt);
        } else if (value.is_number()) {
            formulas.know(name, value.get<double>());
        } else if (value.is_string()) {
            formulas.define(name, value.get<std::string>());
        } else {
            throw machine::ConfigError(
                fmt::format("{}: values.{} is {}; it must be a formula, a number or null", setup.file, name,
                            value.dump()));
        }
    }
    for (const auto& [name, constant] : target.constants) define_constant(name, constant, formulas);
    know_shapes(setup, formulas);
    know_rooflines(setup, formulas);
    know_null_models(setup, formulas);
    know_baselines(setup, formulas);
    return formulas;
}

}  // namespace systole::validate
