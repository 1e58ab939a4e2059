#include "sim/study/validate/baseline_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/frontend/door/read_network.h"
#include "hw/machine/config_error.h"

namespace systole::validate {
namespace {

using baselines::Baseline;
using baselines::Expected;
using baselines::expected_at;
using machine::ConfigError;

/// A number above 0, or from 0 on.
double number_of(const Setup& setup, const std::string& formula, const std::string& place, Formulas& formulas,
                 double least = 1e-6) {
    const Number value = formulas.value(formula, place);
    if (value && *value >= least) return *value;
    throw ConfigError(fmt::format("{}: {}: \"{}\" is {}; it must be a number from {} on", setup.file, place,
                                  formula, value ? fmt::format("{}", *value) : "nothing", least));
}

std::uint32_t rounded_batch(const Setup& setup, const std::string& formula, const std::string& place,
                            Formulas& formulas) {
    return static_cast<std::uint32_t>(std::llround(number_of(setup, formula, place, formulas, 1.0)));
}

/// What the model expects of a baseline that has one.
Expected expected_of(const Baseline& baseline, const baselines::Network& network, std::uint32_t batch) {
    if (!baseline.efficiency.known()) {
        throw ConfigError(fmt::format("{}: efficiency is missing; without it nothing can be expected of it",
                                      baseline.name));
    }
    const auto expected = expected_at(baseline, network, batch);
    if (!expected) {
        throw ConfigError(fmt::format("{}: nothing can be expected of the network {}, which has no work",
                                      baseline.name, network.name));
    }
    return *expected;
}

const Baseline& baseline_of(const Setup& setup, const std::string& name) {
    const auto found = setup.baselines.find(name);
    if (found != setup.baselines.end()) return found->second;
    throw ConfigError(fmt::format("{}: {} is none of the baselines", setup.file, name));
}

std::string short_name(const Baseline& baseline) {
    return baseline.name.substr(0, baseline.name.find('_'));
}

void add_points(const Setup& setup, const std::string& name, Formulas& formulas, BaselineErrors& errors) {
    const Baseline& baseline = baseline_of(setup, name);
    const std::vector<PublishedThroughput> rows = published_throughput(setup, name, formulas);
    if (rows.size() == 1) {
        throw ConfigError(
            fmt::format("{}: baselines.{}: one point alone cannot be left out", setup.file, name));
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto& [network, batch, figure, value] = rows[i].known;
        const Expected ours = expected_of(baseline, network, batch);
        std::vector<baselines::KnownThroughput> others;
        for (std::size_t j = 0; j < rows.size(); ++j) {
            if (j != i) others.push_back(rows[j].known);
        }
        Baseline left_out = baseline;
        left_out.efficiency = baselines::fit_efficiency(baseline, others);
        const Expected unseen = expected_of(left_out, network, batch);
        BaselineErrorRow error{.source = rows[i].point->source,
                               .baseline = baseline.name,
                               .label = short_name(baseline),
                               .workload = network.name,
                               .batch = batch,
                               .unit = rows[i].point->unit,
                               .published = value,
                               .ours = ours.*figure,
                               .left_out_error = unseen.*figure / value - 1.0};
        errors.throughput.push_back(error);
        if (!(rows[i].latency_ms > 0.0) || !ours.latency_seconds) continue;
        error.unit = "ms";
        error.published = rows[i].latency_ms;
        error.ours = *ours.latency_seconds * 1e3;
        error.left_out_error.reset();
        errors.latency.push_back(error);
    }
}

void add_batch(const Setup& setup, const std::string& name, const BaselineSet& set, Formulas& formulas,
               BaselineErrors& errors) {
    if (set.within_network.empty()) return;
    const Baseline& baseline = baseline_of(setup, name);
    const std::string place = fmt::format("baselines.{}", name);
    if (baseline.efficiency.largest_batch == 0) {
        throw ConfigError(fmt::format("{}: {}: {} has no efficiency.largest_batch up to which to look",
                                      setup.file, place, baseline.name));
    }
    const baselines::Network network = evenly_shared(setup, set.within_network, formulas);
    const auto within = baselines::expected_within(
        baseline, network, baseline.efficiency.largest_batch,
        number_of(setup, set.within_limit_ms, place + ".within_limit_ms", formulas) * 1e-3);
    errors.batch.push_back(
        {.source = set.within_source,
         .baseline = baseline.name,
         .label = short_name(baseline),
         .workload = network.name,
         .unit = "batch",
         .published = number_of(setup, set.within_published, place + ".within_published", formulas),
         .ours = within ? within->batch : 0.0});
}

void add_ratios(const Setup& setup, const BaselineRatio& ratio, Formulas& formulas, BaselineErrors& errors) {
    const Baseline& of = baseline_of(setup, ratio.of);
    const Baseline& than = baseline_of(setup, ratio.than);
    const auto rate = [&](const Baseline& baseline, const std::string& name, const std::string& workload) {
        for (const PublishedThroughput& row : published_throughput(setup, name, formulas)) {
            if (row.known.network.name != workload || row.point->source.find(ratio.points) != 0) continue;
            return expected_of(baseline, row.known.network, row.known.batch).inferences_per_second;
        }
        throw ConfigError(fmt::format("{}: ratios: {} has no point of {} whose source begins with \"{}\"",
                                      setup.file, name, workload, ratio.points));
    };
    const auto& sets = setup.target.baselines;
    for (const auto& [workload, published] : formulas.row(ratio.published, "ratios.published")) {
        if (!published) {
            throw ConfigError(fmt::format("{}: ratios.published: \"{}\" has no value for {}", setup.file,
                                          ratio.published, workload));
        }
        errors.ratio.push_back({.source = ratio.source,
                                .baseline = of.name + " / " + than.name,
                                .label = sets.at(ratio.of).label + "/" + sets.at(ratio.than).label,
                                .workload = workload,
                                .unit = "ratio",
                                .published = *published,
                                .ours = rate(of, ratio.of, workload) / rate(than, ratio.than, workload)});
    }
}

}  // namespace

baselines::Network evenly_shared(const Setup& setup, const std::string& name, Formulas& formulas) {
    const auto found = setup.target.networks.find(name);
    if (found == setup.target.networks.end()) {
        throw ConfigError(fmt::format("{}: {} is none of the networks", setup.file, name));
    }
    const auto count = [&](const std::string& formula, const char* key, double least) {
        const std::string place = fmt::format("networks.{}.{}", name, key);
        return static_cast<std::uint64_t>(std::llround(number_of(setup, formula, place, formulas, least)));
    };
    const std::uint64_t weight_layers = count(found->second.weight_layers, "weight_layers", 1.0);
    const std::uint64_t other_layers = count(found->second.other_layers, "other_layers", 0.0);
    const std::uint64_t all_weights = count(found->second.weights, "weights", 1.0);
    const std::uint64_t all_macs = count(found->second.macs, "macs", 1.0);
    baselines::Network network{.name = name, .layers = {}};
    for (std::uint64_t i = 0; i < weight_layers; ++i) {
        network.layers.push_back(
            {.macs = all_macs / weight_layers, .weights = all_weights / weight_layers, .activations = 0});
    }
    // The remainder of the division.
    network.layers.front().macs += all_macs % weight_layers;
    network.layers.front().weights += all_weights % weight_layers;
    network.layers.resize(weight_layers + other_layers);
    return network;
}

std::vector<PublishedThroughput> published_throughput(const Setup& setup, const std::string& baseline,
                                                      Formulas& formulas) {
    const auto found = setup.target.baselines.find(baseline);
    if (found == setup.target.baselines.end()) {
        throw ConfigError(fmt::format("{}: {} is none of the baselines", setup.file, baseline));
    }
    std::vector<PublishedThroughput> rows;
    for (const BaselinePoint& point : found->second.points) {
        const std::string place = fmt::format("baselines.{}.points[{}]", baseline, rows.size());
        rows.push_back(
            {.point = &point,
             .known = {.network = evenly_shared(setup, point.network, formulas),
                       .batch = rounded_batch(setup, point.batch, place + ".batch", formulas),
                       .figure = point.unit == "TOPS" ? &Expected::tops : &Expected::inferences_per_second,
                       .value = number_of(setup, point.published, place + ".published", formulas)},
             .latency_ms = point.latency_ms.empty()
                               ? 0.0
                               : number_of(setup, point.latency_ms, place + ".latency_ms", formulas)});
    }
    return rows;
}

BaselineErrors baseline_errors(const Setup& setup, Formulas& formulas) {
    BaselineErrors errors;
    for (const auto& [name, set] : setup.target.baselines) {
        add_points(setup, name, formulas, errors);
        add_batch(setup, name, set, formulas, errors);
    }
    for (const BaselineRatio& ratio : setup.target.ratios) add_ratios(setup, ratio, formulas, errors);
    return errors;
}

void know_baselines(const Setup& setup, Formulas& formulas) {
    for (const auto& [name, set] : setup.target.baselines) {
        const std::map<std::string, Number> keys =
            flattened(baselines::to_json(baseline_of(setup, name)), "");
        for (const PublishedThroughput& row : published_throughput(setup, name, formulas)) {
            if (row.point->name.empty()) continue;
            if (keys.contains(row.point->name)) {
                throw ConfigError(fmt::format("{}: baselines.{}: a point has the name of its key {}",
                                              setup.file, name, row.point->name));
            }
            const Expected ours = expected_of(baseline_of(setup, name), row.known.network, row.known.batch);
            formulas.know(fmt::format("{}.{}", name, row.point->name), ours.*row.known.figure);
        }
    }
    if (setup.baselines.empty()) return;
    for (const Element& workload : setup.target.lists.at("workloads")) {
        const auto model = setup.models.find(workload.name);
        if (model == setup.models.end()) continue;
        const std::string& file = model->second.path.text;
        const baselines::Network network =
            baselines::network_of(frontend::read_network(file, frontend::WeightValues::Skipped));
        if (network.macs() == 0) throw ConfigError(file + ": the network has no multiply-accumulates");
        for (const auto& [name, baseline] : setup.baselines) {
            const auto expected =
                baselines::expected(baseline, network, batch_of(setup, workload.name, formulas));
            formulas.know(fmt::format("{}.expected.{}", name, workload.name),
                          expected ? Number(expected->inferences_per_second) : std::nullopt);
        }
    }
}

}  // namespace systole::validate
