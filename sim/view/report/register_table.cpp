// The registers of the array, cycle by cycle.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/view/report/texts.h"
#include "sim/view/terminal/layout.h"

namespace systole::report {
namespace {

/// The registers of all cells at the end of a cycle.
struct CycleRegisters {
    explicit CycleRegisters(const Json& each)
        : cycle(each["cycle"].get<std::uint64_t>()),
          activations(each["activations"].get<std::vector<std::int64_t>>()),
          weights(each["weights"].get<std::vector<std::int64_t>>()),
          shadow_weights(each["shadow_weights"].get<std::vector<std::int64_t>>()),
          partial_sums(each["partial_sums"].get<std::vector<std::int64_t>>()) {}

    std::uint64_t cycle;
    std::vector<std::int64_t> activations;
    std::vector<std::int64_t> weights;
    std::vector<std::int64_t> shadow_weights;
    std::vector<std::int64_t> partial_sums;
};

/// The width of the widest value of each kind, in characters.
struct Widths {
    std::size_t cycle = 5;
    std::size_t activation = 1;
    std::size_t weight = 1;
    std::size_t shadow = 1;
    std::size_t sum = 3;

    explicit Widths(const std::vector<CycleRegisters>& cycles) {
        const auto widen = [](std::size_t& width, const std::vector<std::int64_t>& values) {
            for (const std::int64_t value : values) {
                width = std::max(width, fmt::formatted_size("{}", value));
            }
        };
        for (const CycleRegisters& each : cycles) {
            cycle = std::max(cycle, fmt::formatted_size("{}", each.cycle));
            widen(activation, each.activations);
            widen(weight, each.weights);
            widen(shadow, each.shadow_weights);
            widen(sum, each.partial_sums);
        }
    }
};

}  // namespace

std::string register_table(const Json& registers, const terminal::Look& look) {
    const std::vector<CycleRegisters> cycles(registers["cycles"].begin(), registers["cycles"].end());
    const Widths widths(cycles);
    const std::size_t columns = registers["columns"];
    const auto cell = [&](const auto& activation, const auto& weight, const auto& shadow, const auto& sum) {
        return fmt::format(" | {:>{}} {:>{}} {:>{}} {:>{}}", activation, widths.activation, weight,
                           widths.weight, shadow, widths.shadow, sum, widths.sum);
    };
    const std::size_t cell_width = cell("", "", "", "").size();
    const std::size_t cells = registers["rows"].get<std::size_t>() * columns;
    const std::size_t room = look.width() > widths.cycle ? look.width() - widths.cycle : 0;
    const std::size_t cells_a_line = look.columns ? std::max<std::size_t>(1, room / cell_width) : cells;

    const auto heading = [&](std::string_view line) {
        return look.paint(terminal::Role::Heading, terminal::wrapped(line, look.width())) + '\n';
    };
    std::string text = heading("Registers of each cell at the end of a cycle, row,column: activation (a),") +
                       heading("weight (w), shadow weight (s), partial sum");
    for (std::size_t first = 0; first < cells; first += cells_a_line) {
        const std::size_t end = std::min(first + cells_a_line, cells);
        std::string title = fmt::format("{:>{}}", "cell", widths.cycle);
        std::string legend = fmt::format("{:>{}}", "cycle", widths.cycle);
        for (std::size_t i = first; i < end; ++i) {
            const std::string place = fmt::format("{},{}", i / columns, i % columns);
            title += fmt::format(" | {:<{}}", place, cell_width - 3);
            legend += cell("a", "w", "s", "sum");
        }
        text += fmt::format("{}{}\n{}\n", first == 0 ? "" : "\n",
                            title.substr(0, title.find_last_not_of(' ') + 1), legend);
        for (const CycleRegisters& each : cycles) {
            text += fmt::format("{:>{}}", each.cycle, widths.cycle);
            for (std::size_t i = first; i < end; ++i) {
                text +=
                    cell(each.activations[i], each.weights[i], each.shadow_weights[i], each.partial_sums[i]);
            }
            text += '\n';
        }
    }
    return text;
}

}  // namespace systole::report
