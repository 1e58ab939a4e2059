#include <algorithm>
#include <cmath>

#include "sim/study/validate/counters.h"
#include "sim/study/validate/performance.h"
#include "sim/study/validate/tables/tables.h"

namespace systole::validate {

Table summary(const Results& results) {
    const Targets& targets = results.target.targets;
    const CyclesErrors cycles = cycles_errors(results);
    double points = 0.0;
    for (const std::size_t row : partition_rows) {
        points = std::max(points, counter_row_difference(row, results));
    }
    double efficiency = 0.0;
    for (const auto& bars : efficiency_errors(results)) {
        for (const double error : bars) efficiency = std::max(efficiency, std::abs(error));
    }
    const double sensitivity = largest(sensitivity_errors(results, results.eight_bit_sensitivity));

    Table table{.id = "summary",
                .title = "sim validate " + results.target.name + ": held against " + results.published.title,
                .columns = {"measure, %", "ours", "at most", "met"}};
    const auto add = [&](const char* what, double ours, double target) {
        table.rows.push_back(
            {.label = what,
             .cells = {Cell::percent(ours), Cell::percent(target), Cell::met(ours <= target)}});
    };
    add("error of total cycles, mean of the six", cycles.mean, targets.mean_cycles_error);
    add("error of total cycles, largest", cycles.largest, targets.cycles_error);
    table.rows.push_back({.label = "error of total cycles, held out",
                          .cells = {Cell::percent(results.fits.held_out_mean), Cell(), Cell()}});
    add("rows 1, 4, 5, 6 of Table 3, points, largest mean", points / 100.0, targets.counter_points / 100.0);
    add("points of Figure 11, largest error", sensitivity, targets.sensitivity_error);
    add("bars of Figure 9, largest error", efficiency, targets.efficiency_error);
    return table;
}

}  // namespace systole::validate
