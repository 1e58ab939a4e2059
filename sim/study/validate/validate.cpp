#include "sim/study/validate/validate.h"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "compiler/frontend/frontend.h"
#include "compiler/operators/operator.h"
#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "sim/run/baselines/expected.h"
#include "sim/run/execute/scratch_folder.h"
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

}  // namespace

Table Results::table(const std::string& id, const std::map<std::string, double>& numbers) const {
    fmt::dynamic_format_arg_store<fmt::format_context> values;
    values.push_back(fmt::arg("target", target.name));
    values.push_back(fmt::arg("article", published.title));
    for (const auto& [name, number] : numbers) values.push_back(fmt::arg(name.c_str(), number));
    for (const auto& [path, number] : published.numbers) {
        std::string name = path;
        std::replace(name.begin(), name.end(), '.', '_');
        values.push_back(fmt::arg(name.c_str(), number));
    }
    const auto filled = [&](const std::string& text) {
        try {
            return fmt::vformat(text, values);
        } catch (const fmt::format_error& error) {
            throw machine::ConfigError(
                fmt::format("{}: tables.{}: {}: {}", target.name, id, error.what(), text));
        }
    };
    Table table = target.tables.at(id);
    table.title = filled(table.title);
    for (Row& row : table.rows) {
        row.label = filled(row.label);
        for (Cell& cell : row.cells) cell = Cell::words(filled(cell.text()));
    }
    for (std::string& note : table.notes) note = filled(note);
    return table;
}

Results validate(const std::string& target, const run::PathFinder& paths) {
    Results results;
    const std::filesystem::path target_file = paths.find(target, "validation");
    results.target = read_target(target_file);
    const run::PathFinder beside(target_file);
    results.published = read_published(beside.find(results.target.published, "published"));
    results.machine = machine::read_machine(beside.find(results.target.machine, "machines"));
    results.cpu = baselines::read_baseline(beside.find(results.target.cpu, "baselines"));
    results.gpu = baselines::read_baseline(beside.find(results.target.gpu, "baselines"));
    require_watts(results.cpu, results.gpu);
    const Published& published = results.published;
    results.weights = weights_of(published);
    results.baseline_errors = baseline_errors(results.cpu, results.gpu, published);

    const run::ScratchFolder made;
    ByWorkload<run::RunSpec> workloads;
    ByWorkload<run::RunSpec> eight_bit;
    for (std::size_t i = 0; i < workload_count; ++i) {
        const std::filesystem::path file = beside.find(results.target.models[i], "models");
        const ir::Graph graph =
            frontend::read_network(file, operators::registry(), frontend::WeightValues::Skipped);
        const auto batch = static_cast<std::uint32_t>(published.workloads("table_1.batch")[i]);
        workloads[i] = eight_bit[i] = batch_of(run::content_of(file), batch);
        if (i == LSTM0 || i == LSTM1) {
            const nlohmann::json narrow = with_8_bit_activations(machine::read_json_object(file));
            eight_bit[i].network = made.add(narrow.at("name").get<std::string>() + ".json", narrow.dump());
        }
        const baselines::Network network = baselines::network_of(graph);
        if (network.macs() == 0) {
            throw machine::ConfigError(file.string() + ": the network has no multiply-accumulates");
        }
        results.cpu_inferences_per_second[i] =
            baselines::expected(results.cpu, network, batch)->inferences_per_second;
        results.gpu_inferences_per_second[i] =
            baselines::expected(results.gpu, network, batch)->inferences_per_second;
    }

    const machine::MachineConfig& machine = results.machine;
    const Simulate simulate = make_simulate();
    results.base = run_all(workloads, machine, simulate);
    results.chip_watts = by_workload([&](std::size_t i) { return die_watts(results.base[i]); });
    results.fits = fit(results.target.fit, machine, published.table_3(useful_row), workloads, simulate);
    results.sensitivity = sensitivity(workloads, machine, simulate);
    results.eight_bit_sensitivity = sensitivity(eight_bit, machine, simulate);

    machine::MachineConfig memory = machine;
    memory.weight_memory.bandwidth_gb_per_s =
        machine.peak_ops_per_second() / 2.0 / published.at("tpu_prime.ridge_macs_per_byte") / 1e9;
    machine::MachineConfig clock = machine;
    machine::MachineConfig both = memory;
    clock.clock_mhz = both.clock_mhz = published.at("tpu_prime.clock_mhz");
    results.prime_memory = run_all(workloads, memory, simulate);
    results.prime_clock = run_all(workloads, clock, simulate);
    results.prime_both = run_all(workloads, both, simulate);

    const run::RunSpec largest =
        batch_of(*workloads[MLP0].network, published.count("table_4.tpu.at_maximum.batch"));
    const run::RunSpec matrix =
        batch_of(made.add("tiling.json", square_matrix(published.count("tiling.matrix")).dump()),
                 published.count("table_1.batch.LSTM1"));
    const std::vector<run::RunRecord> others =
        simulate(std::vector<run::RunSpec>{with_machine(largest, machine), with_machine(matrix, machine),
                                           with_machine(matrix, scaled(machine, Matrix, 2.0))});
    results.largest_batch = others.at(0);
    results.tiling = {others.at(1), others.at(2)};
    results.array_fill = studies::study_fill(results.machine, studies::fill_points());
    return results;
}

}  // namespace systole::validate
