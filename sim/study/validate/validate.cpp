#include "sim/study/validate/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "compiler/frontend/frontend.h"
#include "compiler/operators/operator.h"
#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "sim/run/baselines/expected.h"
#include "sim/study/validate/eight_bit.h"
#include "sim/study/validate/power.h"
#include "sim/study/validate/simulations.h"

namespace systole::validate {
namespace {

struct Networks {
    ByWorkload<NetworkId> as_they_are{};
    ByWorkload<NetworkId> eight_bit{};  ///< LSTMs with 8-bit activations, the others as they are
    NetworkId largest_batch = 0;        ///< MLP0, Table 4's last row
    NetworkId tiling = 0;
};

/// A layer of one square matrix.
nlohmann::json square_matrix(std::uint32_t width) {
    return {{"schema", "sim.graph/1"},
            {"name", "tiling"},
            {"input", {{"shape", {width}}}},
            {"weights", {{"seed", 1}}},
            {"layers", {{{"name", "matrix"}, {"op", "dense"}, {"inputs", {"input"}}, {"units", width}}}},
            {"output", "matrix"}};
}

void add_prime(Results& results, const Networks& networks, Simulator& simulator) {
    const TpuPrime& prime = results.published.tpu_prime;
    machine::MachineConfig memory = results.machine;
    memory.weight_memory.bandwidth_gb_per_s =
        results.machine.peak_ops_per_second() / 2.0 / prime.ridge_macs_per_byte / 1e9;
    machine::MachineConfig clock = results.machine;
    clock.clock_mhz = prime.clock_mhz;
    machine::MachineConfig both = memory;
    both.clock_mhz = prime.clock_mhz;
    results.prime_memory = measure_all(memory, networks.as_they_are, simulator);
    results.prime_clock = measure_all(clock, networks.as_they_are, simulator);
    results.prime_both = measure_all(both, networks.as_they_are, simulator);
}

void add_tiling(Results& results, NetworkId network, Simulator& simulator) {
    const std::array<double, 2> array_scales{1.0, 2.0};
    std::vector<Case> cases;
    for (std::size_t i = 0; i < array_scales.size(); ++i) {
        cases.push_back({network, scaled(results.machine, Matrix, array_scales[i])});
        results.tiling_arrays[i] = cases.back().machine.matrix_unit.rows;
    }
    const std::vector<Measurement> measured = simulator.run(cases);
    std::copy(measured.begin(), measured.end(), results.tiling.begin());
}

/// What a die of the baseline is expected to do with the workload.
double throughput(const baselines::Baseline& baseline, const ir::Graph& graph, std::uint32_t batch) {
    const auto expected = baselines::expected(baseline, baselines::network_of(graph), batch);
    if (!expected) {
        throw machine::ConfigError(fmt::format(
            "{}: the baseline has no section efficiency, from which its throughput follows", baseline.name));
    }
    return expected->inferences_per_second;
}

void add_baselines(Results& results, const std::vector<ir::Graph>& graphs) {
    for (std::size_t i = 0; i < workload_count; ++i) {
        const std::uint32_t batch = results.published.table_1.batch[i];
        results.cpu_inferences_per_second[i] = throughput(results.cpu, graphs[i], batch);
        results.gpu_inferences_per_second[i] = throughput(results.gpu, graphs[i], batch);
    }
    results.baseline_errors = baseline_errors(results.cpu, results.gpu, results.published);
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
    results.weights = weights_of(results.published);

    ChipSimulator simulator;
    Networks networks;
    std::vector<ir::Graph> graphs;
    std::vector<run::Content> files;
    for (std::size_t i = 0; i < workload_count; ++i) {
        const std::filesystem::path file = paths.find(results.target.models[i]);
        graphs.push_back(
            frontend::read_network(file, operators::registry(), frontend::WeightValues::Skipped));
        const std::uint32_t batch = results.published.table_1.batch[i];
        files.push_back(run::content_of(file));
        networks.as_they_are[i] = simulator.add(files[i], batch);
        networks.eight_bit[i] =
            i == LSTM0 || i == LSTM1
                ? simulator.add(with_8_bit_activations(machine::read_json_object(file)), batch)
                : networks.as_they_are[i];
    }
    networks.largest_batch = simulator.add(files[MLP0], results.published.table_4.tpu.at_maximum.batch);
    networks.tiling =
        simulator.add(square_matrix(results.published.tiling.matrix), results.published.table_1.batch[LSTM1]);

    add_baselines(results, graphs);
    results.base = measure_all(results.machine, networks.as_they_are, simulator);
    results.largest_batch =
        simulator.run(std::vector<Case>{{networks.largest_batch, results.machine}}).front();
    ByWorkload<double> useful_percent{};
    for (std::size_t i = 0; i < workload_count; ++i) useful_percent[i] = results.published.table_3.rows[1][i];
    results.fits = fit(results.target.fit, results.machine, useful_percent, networks.as_they_are, simulator);
    results.sensitivity = sensitivity(results.machine, networks.as_they_are, simulator);
    results.eight_bit_sensitivity = sensitivity(results.machine, networks.eight_bit, simulator);
    add_prime(results, networks, simulator);
    add_tiling(results, networks.tiling, simulator);
    const std::vector<studies::FillPoint> points = studies::fill_points();
    results.array_fill = studies::study_fill(results.machine, points);
    return results;
}

}  // namespace systole::validate
