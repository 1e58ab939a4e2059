// What a reader should see first: results without a fit, and how close every published figure is.
#include "sim/study/validate/scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "sim/study/validate/comparison.h"
#include "sim/study/validate/output.h"
#include "sim/view/area/area.h"

namespace systole::validate {
namespace {

constexpr std::size_t first_seen_row = 3;  ///< row 4 of Table 3, by index into table_3_rows

Table zero_fit_table(const Results& results) {
    const ByWorkload<double> useful = results.published.table_3(useful_row);
    Table table = results.table("zero_fit");
    const auto add = [&](std::string label, const char* constants, const ByWorkload<double>& errors,
                         double mean) {
        table.add(std::move(label), joined(joined({Cell::words(constants)}, differences(errors, 1, 100.0)),
                                           {Cell::percent(mean)}));
    };
    for (const VariantRecords& zero_fit : results.zero_fit) {
        const CyclesErrors errors = cycles_errors(useful, zero_fit.records);
        add(zero_fit.label, "0", errors.by_workload, errors.mean);
    }
    const CyclesErrors fitted = cycles_errors(useful, results.base);
    add("three parameters fitted", "3", fitted.by_workload, fitted.mean);
    for (const NullModel* model : results.rooflines.models()) {
        add("null: " + model->name, model->constant.empty() ? "0" : "1", model->errors, model->mean);
        if (!model->constant.empty()) {
            table.notes.push_back(fmt::format("The constant of \"{}\" is {}.", model->name, model->constant));
        }
    }
    const ByWorkload<double> authors = results.published.workloads("table_7.model_error_percent");
    table.add("the authors' own model", joined(joined({Cell::words("?")}, numbers(authors, 1)),
                                               {Cell::number(arithmetic_mean(authors), 1)}));
    return table;
}

/// What each mechanism explains: total cycles, and the rows of Table 3 that the fit does not see.
Table mechanisms_table(const Results& results) {
    const ByWorkload<double> useful = results.published.table_3(useful_row);
    Table table = results.table("mechanisms");
    const auto add = [&](std::string label, std::uint32_t constants,
                         const ByWorkload<run::RunRecord>& records) {
        Cells cells{Cell::number(constants, 0), Cell::percent(cycles_errors(useful, records).mean)};
        for (std::size_t row = first_seen_row; row < table_3_rows.size() - 1; ++row) {
            cells.push_back(Cell::number(table_3_difference(row, results.published, records), 1));
        }
        table.add(std::move(label), std::move(cells));
    };
    for (std::size_t i = 0; i < results.mechanisms.size(); ++i) {
        add(results.mechanisms[i].label, results.target.mechanisms[i].constants,
            results.mechanisms[i].records);
    }
    add("the machine file", 3, results.base);
    return table;
}

/// Cycles of matrix work for each tile, by rows 1, 4 and 5: each tile that is waited for shows the cycles of
/// its shift. Absent where no tile is waited for.
std::optional<double> cycles_a_tile(double active, double stall, double shift, double shift_cycles) {
    if (shift == 0.0) return std::nullopt;
    return (active + stall + shift) / shift * shift_cycles;
}

Table layer_ends_table(const Results& results) {
    const Published& published = results.published;
    const machine::MachineConfig& machine = results.zero_fit.at(0).records[MLP0].spec.machine;
    const double shift_cycles = machine.matrix_unit.rows;
    const double seconds =
        shift_cycles * machine.matrix_unit.columns / (machine.weight_memory.bandwidth_gb_per_s * 1e9);
    Table table =
        results.table("layer_ends", {{"shift_cycles", shift_cycles},
                                     {"memory_cycles", seconds * static_cast<double>(machine.clock_hz())}});
    const auto tiles = [&](const auto& row) {
        return by_workload(
            [&](std::size_t i) { return cycles_a_tile(row(0)[i], row(3)[i], row(4)[i], shift_cycles); });
    };
    const auto ours_of = [](const ByWorkload<run::RunRecord>& records) {
        return [&records](std::size_t row) { return table_3_values(row, records); };
    };
    table.add("a tile, published", tiles([&](std::size_t row) { return published.table_3(row); }), 0);
    table.add("  ours, nothing fitted", tiles(ours_of(results.zero_fit.at(0).records)), 0);
    table.add("  ours, fitted", tiles(ours_of(results.base)), 0);
    const auto all_layers = by_workload([&](std::size_t i) {
        double sum = 0.0;
        for (const char* const kind : {"fully_connected", "convolution", "vector", "pool"}) {
            sum += published.workloads(std::string("table_1.") + kind)[i];
        }
        return sum;
    });
    constexpr std::size_t raw_row = 6;
    const ByWorkload<double> useful = published.table_3(useful_row);
    const auto raw = [&](const ByWorkload<double>& shares, const auto& cycles) {
        return by_workload([&](std::size_t i) { return shares[i] / 100.0 * cycles(i) / all_layers[i]; });
    };
    const auto our_cycles = [&](std::size_t i) { return static_cast<double>(results.base[i].cycles); };
    table.add(
        "RAW stalls a layer, published",
        raw(published.table_3(raw_row),
            [&](std::size_t i) { return our_cycles(i) * 100.0 * useful_share(results.base[i]) / useful[i]; }),
        0);
    table.add("  ours, fitted", raw(table_3_values(raw_row, results.base), our_cycles), 0);
    return table;
}

Cells closeness_cells(const Closeness& close) {
    Cells cells{Cell::number(static_cast<double>(close.figures), 0)};
    for (const std::size_t within : close.within) {
        cells.push_back(Cell::number(static_cast<double>(within), 0));
    }
    cells.push_back(std::isfinite(close.median) ? Cell::percent(close.median) : Cell::figure("none"));
    return cells;
}

Cell error_cell(const std::optional<double>& error) {
    return error ? Cell::difference(100.0 * *error, 0) : Cell::figure("no value");
}

Table scores_table(const Results& results, const std::vector<Figure>& figures) {
    Table table = results.table("scores");
    for (std::size_t origin = 0; origin < origin_names.size(); ++origin) {
        std::vector<const Figure*> of_origin;
        std::vector<std::string> places;
        for (const Figure& figure : figures) {
            if (figure.origin != static_cast<Origin>(origin)) continue;
            of_origin.push_back(&figure);
            if (std::ranges::count(places, figure.place) == 0) places.push_back(figure.place);
        }
        const auto add = [&](const std::string& label, const std::vector<const Figure*>& some) {
            const Closeness close = closeness(some);
            table.add(label, joined(closeness_cells(close), {error_cell(close.worst->error())}));
        };
        add(std::string(origin_names[origin]), of_origin);
        for (const std::string& place : places) {
            std::vector<const Figure*> of_place;
            std::ranges::copy_if(of_origin, std::back_inserter(of_place),
                                 [&](const Figure* figure) { return figure->place == place; });
            add("  " + place, of_place);
        }
    }
    return table;
}

/// The figures that a roofline has, too, and how many of both are close.
Table null_scores_table(const Results& results, const std::vector<Figure>& figures) {
    Table table = results.table("null_scores");
    const auto add = [&](const std::string& label, const auto& counts) {
        std::vector<const Figure*> some;
        for (const Figure& figure : figures) {
            if (figure.origin == Origin::Simulated && figure.roofline && counts(figure.place)) {
                some.push_back(&figure);
            }
        }
        Cells cells{Cell::number(static_cast<double>(some.size()), 0)};
        for (const auto error : {&Figure::error, &Figure::roofline_error}) {
            for (const std::size_t within : closeness(some, error).within) {
                cells.push_back(Cell::number(static_cast<double>(within), 0));
            }
        }
        table.add(label, std::move(cells));
    };
    add("all that both have", [](const std::string&) { return true; });
    std::vector<std::string> places;
    for (const Figure& figure : figures) {
        if (figure.origin != Origin::Simulated || !figure.roofline) continue;
        if (std::ranges::count(places, figure.place) == 0) places.push_back(figure.place);
    }
    for (const std::string& group :
         {std::string("Table 3"), std::string("Figure 11"), std::string("Section 7")}) {
        add(group, [&](const std::string& place) { return place.starts_with(group); });
        for (const std::string& place : places) {
            if (place.starts_with(group))
                add("  " + place, [&](const std::string& other) { return other == place; });
        }
    }
    return table;
}

/// What is published and is no figure of the list: as words, with the reason in the notes.
Table not_scored_table(const Results& results) {
    const auto per_instruction = [](const run::RunRecord& record) {
        return static_cast<double>(record.cycles) / static_cast<double>(record.program.instructions);
    };
    const ByWorkload<double> cycles = of_each(results.base, per_instruction);
    const run::RunRecord& mlp0 = results.base[MLP0];
    const double instructions_a_tile = static_cast<double>(mlp0.program.instructions) /
                                       static_cast<double>(mlp0.counters.at("matrix_unit.tiles").value());
    const double tile_cycles =
        static_cast<double>(results.rooflines.chip.array * results.rooflines.chip.array) /
        results.rooflines.chip.weight_bytes_per_second * results.rooflines.chip.clock_hz;
    const Published& published = results.published;
    double buffers = 0.0;
    double die = 1.0;
    if (const auto area = area::area_of(results.machine)) {
        die = area->die.mm2;
        for (const area::UnitArea& unit : area->units) {
            const bool holds_data =
                unit.name == "unified_buffer" || unit.name == "accumulators" || unit.name == "weight_fifo";
            if (holds_data) buffers += unit.area.mm2;
        }
    }
    return results.table("not_scored",
                         {{"least", std::ranges::min(cycles)},
                          {"most", std::ranges::max(cycles)},
                          {"instructions_a_tile", instructions_a_tile},
                          {"tile_cycles", tile_cycles},
                          {"least_a_tile", tile_cycles / published.at("section_2.cycles_an_instruction_to")},
                          {"most_a_tile", tile_cycles / published.at("section_2.cycles_an_instruction_from")},
                          {"buffers", 100.0 * buffers / die}});
}

/// A model of another processor knows too little of it for more than two digits.
Cell ours_cell(const Figure& figure) {
    if (figure.origin == Origin::Model && figure.ours) return Cell::rough(*figure.ours);
    return Cell::number(figure.ours, figure.digits);
}

Table figures_table(const Results& results, const std::vector<Figure>& figures) {
    Table table = results.table("figures");
    for (const Figure& figure : figures) {
        table.add(figure.place,
                  {Cell::words(figure.what),
                   Cell::words(std::string(origin_names[static_cast<std::size_t>(figure.origin)])),
                   Cell::number(figure.published, figure.digits), ours_cell(figure),
                   error_cell(figure.error()), Cell::number(figure.roofline, figure.digits),
                   figure.roofline ? error_cell(figure.roofline_error()) : Cell()});
    }
    return table;
}

}  // namespace

std::vector<Table> score_tables(const Results& results) {
    const std::vector<Figure> figures = figures_of(results);
    return {zero_fit_table(results),        layer_ends_table(results),           mechanisms_table(results),
            scores_table(results, figures), null_scores_table(results, figures), not_scored_table(results),
            figures_table(results, figures)};
}

}  // namespace systole::validate
