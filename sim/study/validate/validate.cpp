#include "sim/study/validate/validate.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "compiler/frontend/frontend.h"
#include "compiler/operators/operator.h"
#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "sim/run/baselines/expected.h"
#include "sim/study/validate/comparison.h"

namespace systole::validate {
namespace {

/// A layer of one square matrix.
nlohmann::json square_matrix(std::uint32_t width) {
    return {{"schema", "sim.graph/1"},
            {"name", "tiling"},
            {"input", {{"shape", {width}}}},
            {"weights", {{"seed", 1}}},
            {"layers", {{{"name", "matrix"}, {"op", "dense"}, {"inputs", {"input"}}, {"units", width}}}},
            {"output", "matrix"}};
}

void add_prime(Results& results, const ByWorkload<NetworkId>& networks, Simulator& simulator) {
    machine::MachineConfig memory = results.machine;
    memory.weight_memory.bandwidth_gb_per_s = results.machine.peak_ops_per_second() / 2.0 /
                                              results.published.at("tpu_prime.ridge_macs_per_byte") / 1e9;
    machine::MachineConfig clock = results.machine;
    clock.clock_mhz = results.published.at("tpu_prime.clock_mhz");
    machine::MachineConfig both = memory;
    both.clock_mhz = clock.clock_mhz;
    results.prime_memory = simulator.run_all(memory, networks);
    results.prime_clock = simulator.run_all(clock, networks);
    results.prime_both = simulator.run_all(both, networks);
}

/// The expected throughput of a die of the baseline on the workload.
double throughput(const baselines::Baseline& baseline, const ir::Graph& graph, std::uint32_t batch) {
    const auto expected = baselines::expected(baseline, baselines::network_of(graph), batch);
    if (!expected) {
        throw machine::ConfigError(fmt::format(
            "{}: the baseline has no section efficiency, from which its throughput follows", baseline.name));
    }
    return expected->inferences_per_second;
}

}  // namespace

Results validate(const std::string& target, const run::PathFinder& paths) {
    Results results;
    results.target = read_target(paths.find(target, "validation"));
    results.published = read_published(paths.find(results.target.published, "published"));
    results.machine = machine::read_machine(paths.find(results.target.machine, "machines"));
    results.cpu = baselines::read_baseline(paths.find(results.target.cpu, "baselines"));
    results.gpu = baselines::read_baseline(paths.find(results.target.gpu, "baselines"));
    require_watts(results.cpu, results.gpu);
    const Published& published = results.published;
    results.weights = weights_of(published);

    ChipSimulator simulator;
    ByWorkload<NetworkId> networks{};
    ByWorkload<NetworkId> eight_bit{};
    NetworkId largest_batch = 0;
    for (std::size_t i = 0; i < workload_count; ++i) {
        const std::filesystem::path file = paths.find(results.target.models[i]);
        const ir::Graph graph =
            frontend::read_network(file, operators::registry(), frontend::WeightValues::Skipped);
        const auto batch = static_cast<std::uint32_t>(published.workloads("table_1.batch")[i]);
        const run::Content content = run::content_of(file);
        networks[i] = simulator.add(content, batch);
        const bool is_lstm = i == LSTM0 || i == LSTM1;
        eight_bit[i] = is_lstm ? simulator.add(with_8_bit_activations(machine::read_json_object(file)), batch)
                               : networks[i];
        if (i == MLP0) {
            largest_batch = simulator.add(content, published.count("table_4.tpu.at_maximum.batch"));
        }
        results.cpu_inferences_per_second[i] = throughput(results.cpu, graph, batch);
        results.gpu_inferences_per_second[i] = throughput(results.gpu, graph, batch);
    }
    const NetworkId tiling = simulator.add(square_matrix(published.count("tiling.matrix")),
                                           published.count("table_1.batch.LSTM1"));

    results.baseline_errors = baseline_errors(results.cpu, results.gpu, published);
    results.base = simulator.run_all(results.machine, networks);
    results.chip_watts = by_workload([&](std::size_t i) { return die_watts(results.base[i]); });
    results.largest_batch = simulator.run(std::vector<Case>{{largest_batch, results.machine}}).front();
    results.fits =
        fit(results.target.fit, results.machine, published.table_3(useful_row), networks, simulator);
    results.sensitivity = sensitivity(results.machine, networks, simulator);
    results.eight_bit_sensitivity = sensitivity(results.machine, eight_bit, simulator);
    add_prime(results, networks, simulator);
    const std::vector<run::RunRecord> arrays = simulator.run(
        std::vector<Case>{{tiling, results.machine}, {tiling, scaled(results.machine, Matrix, 2.0)}});
    results.tiling = {arrays.at(0), arrays.at(1)};
    const std::vector<studies::FillPoint> points = studies::fill_points();
    results.array_fill = studies::study_fill(results.machine, points);
    return results;
}

}  // namespace systole::validate
