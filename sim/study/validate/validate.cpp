#include "sim/study/validate/validate.h"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "compiler/frontend/frontend.h"
#include "compiler/operators/operator.h"
#include "hw/machine/config_error.h"
#include "sim/run/baselines/expected.h"
#include "sim/run/execute/scratch_folder.h"
#include "sim/study/validate/comparison.h"
#include "sim/study/validate/setup.h"

namespace systole::validate {

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
    Results results = validate(read_setup(target, paths), make_simulate());
    results.array_fill = studies::study_fill(results.machine, studies::fill_points());
    return results;
}

Results validate(const Setup& setup, const Simulate& simulate) {
    Results results;
    results.target = setup.target;
    results.published = setup.published;
    results.machine = setup.machine;
    results.cpu = setup.cpu;
    results.gpu = setup.gpu;
    const Published& published = results.published;
    results.weights = weights_of(published);
    results.baseline_errors = baseline_errors(results.cpu, results.gpu, published);

    const ByWorkload<run::RunSpec>& workloads = setup.workloads;
    for (std::size_t i = 0; i < workload_count; ++i) {
        const std::filesystem::path file = workloads[i].network.value().path.text;
        const std::uint32_t batch = workloads[i].compiler.batch;
        const baselines::Network network = baselines::network_of(
            frontend::read_network(file, operators::registry(), frontend::WeightValues::Skipped));
        if (network.macs() == 0) {
            throw machine::ConfigError(file.string() + ": the network has no multiply-accumulates");
        }
        results.cpu_inferences_per_second[i] =
            baselines::expected(results.cpu, network, batch)->inferences_per_second;
        results.gpu_inferences_per_second[i] =
            baselines::expected(results.gpu, network, batch)->inferences_per_second;
    }

    const machine::MachineConfig& machine = results.machine;
    const auto run_variants = [&](const std::vector<Variant>& variants) {
        std::vector<VariantRecords> all;
        all.reserve(variants.size());
        for (const Variant& variant : variants) {
            all.push_back(
                {variant.label, run_variant(setup, variant, setup.published_machine, simulate).records});
        }
        return all;
    };
    results.zero_fit = run_variants(setup.target.zero_fit);
    results.mechanisms = run_variants(setup.target.mechanisms);
    results.base = run_all(workloads, machine, simulate);
    ByWorkload<run::RunSpec> product = workloads;
    for (run::RunSpec& spec : product) spec.compiler.mapping = run::mapping_named(run::MappingName::Best);
    results.product = run_all(product, machine, simulate);
    std::vector<Variant> product_zero_fit = setup.target.zero_fit;
    for (Variant& variant : product_zero_fit) variant.mapping_name = run::MappingName::Best;
    results.product_zero_fit = run_variants(product_zero_fit);
    results.chip_watts = by_workload([&](std::size_t i) { return die_watts(results.base[i]); });
    results.fits =
        fit_splits(results.target.fit, machine, published.table_3(useful_row), workloads, simulate);
    std::vector<Workloads> splits;
    for (const Fit& split : results.fits.splits) splits.push_back(split.fitted);
    results.rooflines = rooflines(published, setup.shapes, splits);
    results.sensitivity = sensitivity(workloads, machine, simulate);
    const run::ScratchFolder made;
    results.eight_bit_sensitivity = sensitivity(with_8_bit_lstms(workloads, made), machine, simulate);

    machine::MachineConfig memory = machine;
    memory.weight_memory.bandwidth_gb_per_s =
        machine.peak_ops_per_second() / 2.0 / published.at("tpu_prime.ridge_macs_per_byte") / 1e9;
    machine::MachineConfig clock = machine;
    machine::MachineConfig both = memory;
    clock.clock_mhz = both.clock_mhz = published.at("tpu_prime.clock_mhz");
    results.prime_memory = run_all(workloads, memory, simulate);
    results.prime_clock = run_all(workloads, clock, simulate);
    results.prime_both = run_all(workloads, both, simulate);

    const run::Mapping& mapping = setup.target.mapping.choices;
    const run::RunSpec largest =
        batch_of(*workloads[MLP0].network, published.count("table_4.tpu.at_maximum.batch"), mapping);
    const run::RunSpec matrix =
        batch_of(made.add("tiling.json", square_matrix(published.count("tiling.matrix")).dump()),
                 published.count("table_1.batch.LSTM1"), mapping);
    const std::vector<run::RunRecord> others =
        simulate(std::vector<run::RunSpec>{with_machine(largest, machine), with_machine(matrix, machine),
                                           with_machine(matrix, scaled(machine, Matrix, 2.0))});
    results.largest_batch = others.at(0);
    results.tiling = {others.at(1), others.at(2)};
    return results;
}

}  // namespace systole::validate
