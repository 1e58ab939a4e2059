#include "sim/study/validate/fit.h"

#include <fmt/format.h>

#include "sim/study/validate/tables/tables.h"

namespace systole::validate {
namespace {

Row fit_row(std::string label, const Fit& fit, bool held_out) {
    const Parameters& p = fit.parameters;
    Row row{.label = std::move(label),
            .cells = {Cell::number(p.weight_memory_gb_per_s, 3), Cell::number(p.activation_latency_ns, 0),
                      Cell::number(p.host_latency_ns, 0), Cell::percent(fit.fitted_error)}};
    row.cells.push_back(held_out ? Cell::percent(fit.held_out_error) : Cell());
    return row;
}

}  // namespace

Table fit_table(const Results& results) {
    Table table{.id = "fits",
                .title = "Three free parameters, fitted to three workloads and held against the other three",
                .columns = {"fitted to", "GB/s", "act. ns", "host ns", "fit err. %", "held out %"}};
    for (const Fit& fit : results.fits.splits) {
        std::string names;
        for (const std::size_t workload : fit.fitted) {
            names += fmt::format("{}{}", names.empty() ? "" : " ", workload_names[workload]);
        }
        table.rows.push_back(fit_row(std::move(names), fit, true));
    }
    Row mean{.label = "mean of the splits", .cells = {{}, {}, {}, {}}};
    mean.cells.push_back(Cell::percent(results.fits.held_out_mean));
    table.rows.push_back(std::move(mean));
    table.rows.push_back(fit_row("all six", results.fits.all, false));
    const Parameters used = parameters_of(results.machine);
    Row machine{
        .label = "machine file",
        .cells = {Cell::number(used.weight_memory_gb_per_s, 3), Cell::number(used.activation_latency_ns, 0),
                  Cell::number(used.host_latency_ns, 0)}};
    table.rows.push_back(std::move(machine));
    table.notes.emplace_back(
        fmt::format("weight_memory.bandwidth_gb_per_s, activation_unit.latency_ns and "
                    "host_interface.latency_ns: the same for all workloads. Mean absolute error of total "
                    "cycles; from {} simulations.",
                    results.fits.simulations));
    return table;
}

}  // namespace systole::validate
