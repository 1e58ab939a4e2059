// Several reports side by side as text and as CSV.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "sim/view/page/csv_line.h"
#include "sim/view/page/side_by_side.h"
#include "sim/view/report/figures.h"
#include "sim/view/report/main_layers.h"
#include "sim/view/report/numbers.h"
#include "sim/view/table/table.h"

namespace systole::page {
namespace {

using report::figure_text;
using tables::Cell;
using tables::Cells;
using tables::Table;
using Value = std::optional<double>;

std::optional<std::string> difference_of(Value value, Value reference, std::string_view format) {
    return format == "share" ? report::difference_of_shares(value, reference)
                             : report::difference(value, reference);
}

/// A value of each report, with the difference to that of `against` behind it.
Cells cells_of(const std::vector<Value>& values, std::string_view format, std::size_t against) {
    Cells cells;
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::string text = figure_text(values[i], format);
        const auto difference = difference_of(values[i], values[against], format);
        if (i != against && difference) text += fmt::format(" ({})", *difference);
        cells.push_back(Cell::figure(std::move(text)));
    }
    return cells;
}

/// "700 MHz".
std::string clock_text(Value mhz) {
    return mhz ? fmt::format("{} MHz", *mhz) : "an unknown clock";
}

/// Cycles of each report at its clock.
Cells cells_at_clocks(const std::vector<Value>& cycles, const std::vector<Value>& clocks_mhz) {
    Cells cells;
    for (std::size_t i = 0; i < cycles.size(); ++i) {
        cells.push_back(Cell::figure(
            cycles[i] ? fmt::format("{} at {}", figure_text(cycles[i], "count"), clock_text(clocks_mhz[i]))
                      : "-"));
    }
    return cells;
}

/// The time of a layer in each report, its difference, and the cycles that it is.
Cells cells_of_layer(const std::vector<Value>& seconds, const std::vector<Value>& cycles,
                     std::size_t against) {
    Cells cells;
    for (std::size_t i = 0; i < seconds.size(); ++i) {
        std::string text = figure_text(seconds[i], "s");
        const auto difference = report::difference(seconds[i], seconds[against]);
        if (i != against && difference) text += fmt::format(" ({})", *difference);
        if (cycles[i]) text += fmt::format(", {} cycles", figure_text(cycles[i], "count"));
        cells.push_back(Cell::figure(std::move(text)));
    }
    return cells;
}

Table table_of(const SideBySide& compared, std::string title) {
    Table table{.id = {}, .title = std::move(title), .columns = {""}};
    table.columns.insert(table.columns.end(), compared.names.begin(), compared.names.end());
    return table;
}

Table figure_table(const SideBySide& compared) {
    const std::size_t count = compared.names.size();
    Table table =
        table_of(compared, count == 1 ? "Figures"
                                      : fmt::format("{} reports side by side; differences are to {}", count,
                                                    compared.names[compared.against]));
    for (const Figure& figure : compared.figures) {
        table.add(figure.name, figure.of_clock ? cells_at_clocks(figure.values, compared.clocks_mhz)
                                               : cells_of(figure.values, figure.format, compared.against));
    }
    const bool has_shares =
        std::ranges::find(compared.figures, "share", &Figure::format) != compared.figures.end();
    if (count > 1 && has_shares) table.notes.emplace_back("Differences of shares are in percentage points.");
    for (std::size_t i = 0; i < count; ++i) {
        if (compared.is_comparable(i)) continue;
        table.notes.push_back(fmt::format("{} runs another network, {}: no figure of it is better or worse.",
                                          compared.names[i], compared.models[i]));
    }
    return table;
}

Table layer_table(const SideBySide& compared, bool all_layers) {
    const bool in_time = !compared.clocks_mhz.empty();
    const std::string what = in_time ? "Time" : "Cycles";
    Table table =
        table_of(compared, compared.each_inference ? what + (in_time ? " of" : "") + " an inference by layer"
                                                   : what + " by layer");
    if (in_time) {
        for (std::size_t i = 0; i < compared.names.size(); ++i) {
            table.columns[i + 1] += " at " + clock_text(compared.clocks_mhz[i]);
        }
    }
    const auto add = [&](std::string name, const LayerCycles& layer) {
        table.add(std::move(name), in_time ? cells_of_layer(layer.seconds, layer.cycles, compared.against)
                                           : cells_of(layer.cycles, "count", compared.against));
    };
    std::vector<std::uint64_t> sums;  // of cycles or nanoseconds: whole numbers
    constexpr double nano = 1e9;
    for (const LayerCycles& layer : compared.layers) {
        double sum = 0.0;
        for (const Value value : layer.compared()) sum += value.value_or(0.0);
        sums.push_back(static_cast<std::uint64_t>(std::llround(in_time ? nano * sum : sum)));
    }
    const report::LayerLines lines = report::main_layers(sums, all_layers);
    for (const std::size_t i : lines.listed) add(compared.layers[i].name, compared.layers[i]);
    if (lines.others.empty()) return table;
    const auto sum_of = [&](auto values_of) {
        std::vector<Value> others(compared.names.size());
        for (const std::size_t i : lines.others) {
            const std::vector<Value>& values = values_of(compared.layers[i]);
            for (std::size_t report = 0; report < values.size(); ++report) {
                if (values[report]) others[report] = others[report].value_or(0.0) + *values[report];
            }
        }
        return others;
    };
    add(fmt::format("({} others)", lines.others.size()),
        {.name = {},
         .cycles = sum_of([](const LayerCycles& layer) -> const auto& { return layer.cycles; }),
         .seconds = sum_of([](const LayerCycles& layer) -> const auto& { return layer.seconds; })});
    table.notes.push_back(fmt::format("({} others: --all lists them)", lines.others.size()));
    return table;
}

/// Keys of the machine are most of the keys, and long; like the text of a run, this one leaves out
/// "machine.".
std::string label_of(const std::string& key) {
    constexpr std::string_view machine = "machine.";
    return key.starts_with(machine) ? key.substr(machine.size()) : key;
}

Table key_table(const SideBySide& compared) {
    Table table = table_of(compared, "Differences of the configurations");
    for (const DifferingKey& key : compared.keys) {
        Cells cells;
        for (const auto& value : key.values) cells.push_back(Cell::words(value.value_or("not there")));
        table.add(label_of(key.key), std::move(cells));
    }
    return table;
}

/// The column of a figure: "cycles_an_inference".
std::string column_of(std::string name) {
    std::erase(name, ',');
    std::ranges::replace(name, ' ', '_');
    return name;
}

std::string csv_titles(const SideBySide& compared) {
    CsvLine line;
    line.add("report");
    line.add("model");
    for (const Figure& figure : compared.figures) {
        line.add(column_of(figure.name));
        line.add(column_of(figure.name) + "_difference");
    }
    for (const LayerCycles& layer : compared.layers) {
        line.add("cycles of " + layer.name);
        if (!layer.seconds.empty()) line.add("seconds of " + layer.name);
    }
    for (const DifferingKey& key : compared.keys) line.add(key.key);
    return std::move(line).take();
}

Value csv_difference(const Figure& figure, Value value, Value reference) {
    if (!value || !reference || figure.of_clock) return std::nullopt;
    if (figure.format == "share") return *value - *reference;
    return *reference != 0.0 ? Value(*value / *reference - 1.0) : std::nullopt;
}

std::string csv_line(const SideBySide& compared, std::size_t report) {
    CsvLine line;
    line.add(compared.names[report]);
    line.add(compared.models[report]);
    for (const Figure& figure : compared.figures) {
        const Value value = figure.values[report];
        const Value reference = figure.values[compared.against];
        line.add(value);
        line.add(csv_difference(figure, value, reference));
    }
    for (const LayerCycles& layer : compared.layers) {
        line.add(layer.cycles[report]);
        if (!layer.seconds.empty()) line.add(layer.seconds[report]);
    }
    for (const DifferingKey& key : compared.keys) line.add(key.values[report].value_or(""));
    return std::move(line).take();
}

}  // namespace

std::string to_text(const SideBySide& compared, const terminal::Look& look, bool all_layers) {
    // A file has room for any number of columns, yet people read it.
    const terminal::Look narrow{.colours = look.colours, .columns = look.width()};
    std::string text = tables::to_text(figure_table(compared), narrow);
    if (!compared.layers.empty()) text += '\n' + tables::to_text(layer_table(compared, all_layers), narrow);
    if (compared.names.size() > 1 && !compared.keys.empty()) {
        text += '\n' + tables::to_text(key_table(compared), narrow);
    }
    return text;
}

std::string to_csv(const SideBySide& compared) {
    std::string text = csv_titles(compared);
    for (std::size_t i = 0; i < compared.names.size(); ++i) text += csv_line(compared, i);
    return text;
}

}  // namespace systole::page
