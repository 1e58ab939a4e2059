// The registers of the array, cycle by cycle.
#include <fmt/format.h>

#include <algorithm>

#include "sim/report/report.h"

namespace systole::report {
namespace {

/// Characters of the widest value of each kind.
struct Widths {
    std::size_t cycle = 5;
    std::size_t activation = 1;
    std::size_t weight = 1;
    std::size_t shadow = 1;
    std::size_t sum = 3;

    explicit Widths(const run::RegisterDump& dump) {
        const auto widen = [](std::size_t& width, const auto& values) {
            for (const auto value : values) width = std::max(width, fmt::formatted_size("{}", value));
        };
        for (const run::CycleRegisters& each : dump.cycles) {
            cycle = std::max(cycle, fmt::formatted_size("{}", each.cycle));
            widen(activation, each.activations);
            widen(weight, each.weights);
            widen(shadow, each.shadow_weights);
            widen(sum, each.partial_sums);
        }
    }
};

}  // namespace

std::string register_table(const run::RegisterDump& dump) {
    const Widths widths(dump);
    const auto cell = [&](const auto& activation, const auto& weight, const auto& shadow, const auto& sum) {
        return fmt::format(" | {:>{}} {:>{}} {:>{}} {:>{}}", activation, widths.activation, weight,
                           widths.weight, shadow, widths.shadow, sum, widths.sum);
    };
    const std::size_t cell_width = cell("", "", "", "").size() - 3;
    std::string title = fmt::format("{:>{}}", "cell", widths.cycle);
    std::string legend = fmt::format("{:>{}}", "cycle", widths.cycle);
    for (std::size_t row = 0; row < dump.rows; ++row) {
        for (std::size_t column = 0; column < dump.columns; ++column) {
            title += fmt::format(" | {:<{}}", fmt::format("{},{}", row, column), cell_width);
            legend += cell("a", "w", "s", "sum");
        }
    }
    std::string table = fmt::format(
        "Registers of each cell at the end of a cycle, row,column: activation (a),\n"
        "weight (w), shadow weight (s), partial sum\n{}\n{}\n",
        title.substr(0, title.find_last_not_of(' ') + 1), legend);
    for (const run::CycleRegisters& each : dump.cycles) {
        table += fmt::format("{:>{}}", each.cycle, widths.cycle);
        for (std::size_t i = 0; i < each.activations.size(); ++i) {
            table += cell(each.activations[i], each.weights[i], each.shadow_weights[i], each.partial_sums[i]);
        }
        table += '\n';
    }
    return table;
}

}  // namespace systole::report
