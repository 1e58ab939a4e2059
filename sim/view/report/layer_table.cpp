#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/view/report/main_layers.h"
#include "sim/view/report/numbers.h"
#include "sim/view/report/report_lines.h"
#include "sim/view/report/texts.h"
#include "sim/view/terminal/layout.h"

namespace systole::report {
namespace {

using terminal::fitted;
using terminal::Role;

/// A whole number in at most `width` characters; with an SI prefix if it has too many digits.
std::string grouped_within(std::size_t width, std::uint64_t value) {
    std::string text = grouped(value);
    return text.size() <= width ? text : si(static_cast<double>(value), "");
}

/// Percent without the sign, for columns whose title has it.
std::string bare_percent(std::optional<double> share) {
    const std::string text = percent(share);
    return text.substr(0, text.find(' '));
}

/// A line of the table: a layer, or several.
struct LayerLine {
    std::string name;
    std::string kind;
    std::uint64_t cycles = 0;
    std::vector<std::uint64_t> classes;  ///< in the order of machine::MainUnit
    std::uint64_t useful_macs = 0;
    std::uint64_t unused_macs = 0;
    std::optional<double> share = {};              ///< of the run's cycles
    std::optional<double> array_utilization = {};  ///< useful MACs of all MACs in active cycles

    /// Adds cycles and MACs, of which shares follow.
    LayerLine& operator+=(const LayerLine& other) {
        cycles += other.cycles;
        for (std::size_t i = 0; i < classes.size(); ++i) classes[i] += other.classes[i];
        useful_macs += other.useful_macs;
        unused_macs += other.unused_macs;
        return *this;
    }
};

class LayerTable : ReportLines {
public:
    LayerTable(const Shown& shown, bool all_layers)
        : ReportLines(shown.look),
          main_(shown.record.main_unit()),
          run_cycles_(shown.report["cycles"]),
          all_layers_(all_layers) {
        for (const Json& layer : shown.report["layers"]) layers_.push_back(line_of(layer));
    }

    std::string write() && {
        const LayerWidths widths = layer_widths();
        line("{}{}{:>{}}{}{}{}", heading("Layers"), std::string(widths.before_cycles() - 6, ' '), "cycles",
             LayerWidths::cycles, widths.run > 0 ? "  % run" : "", class_cells(columns()),
             widths.used > 0 ? "  used" : "");
        const LayerLines lines = layer_lines();
        std::vector<std::string> names;
        for (const LayerLine& layer : layers_) names.push_back(layer.name);
        const std::vector<std::string> shown = terminal::told_apart(names, widths.name);
        for (const std::size_t i : lines.listed) write_layer(layers_[i], shown[i], widths);
        if (!lines.others.empty()) {
            const LayerLine others = sum_of(lines.others);
            write_layer(others, others.name, widths);
        }
        note(2, widths.used > 0
                    ? fmt::format("(in % of the layer's cycles; used: useful MACs {})", main_.main->cells)
                    : std::string("(in % of the layer's cycles)"));
        if (!lines.others.empty()) write_others(lines.others);
        return take();
    }

private:
    LayerLine line_of(const Json& layer) const {
        const auto counter = [&](const std::string& path) {
            return find_path(layer, path)->get<std::uint64_t>();
        };
        LayerLine line{.name = layer["name"],
                       .kind = layer["kind"],
                       .cycles = layer["cycles"],
                       .classes = {},
                       .useful_macs = counter(main_.main->useful_macs),
                       .unused_macs = counter(main_.main->unused_macs),
                       .share = number_at(layer, "share"),
                       .array_utilization = number_at(layer, "array_utilization")};
        for (const machine::CycleClass& each : main_.main->classes) {
            line.classes.push_back(counter(each.counter));
        }
        return line;
    }

    LayerLines layer_lines() const {
        std::vector<std::uint64_t> cycles;
        cycles.reserve(layers_.size());
        for (const LayerLine& layer : layers_) cycles.push_back(layer.cycles);
        return main_layers(cycles, all_layers_);
    }

    /// The layers that share a line, as one.
    LayerLine sum_of(const std::vector<std::size_t>& layers) const {
        LayerLine sum = layers_[layers.front()];
        for (const std::size_t i : std::span(layers).subspan(1)) sum += layers_[i];
        sum.name = fmt::format("({} others)", layers.size());
        sum.kind.clear();
        sum.share = share_of(sum.cycles, run_cycles_);
        sum.array_utilization = share_of(sum.useful_macs, sum.useful_macs + sum.unused_macs);
        return sum;
    }

    /// Says what the line of others leaves out.
    void write_others(const std::vector<std::size_t>& others) {
        const auto without =
            std::ranges::count_if(others, [&](std::size_t i) { return layers_[i].cycles == 0; });
        const std::string idle =
            without > 0 ? fmt::format(", {} of them without cycles", without) : std::string();
        note(2, fmt::format("({} others{}; --all lists them)", others.size(), idle));
    }

    /// The widths of the columns that depend on the terminal, in characters; 0 if there is no room for one.
    struct LayerWidths {
        std::size_t name = 0;
        std::size_t kind = 0;
        std::size_t run = 0;
        std::size_t used = 0;

        static constexpr std::size_t indent = 2;
        static constexpr std::size_t cycles = 12;
        static constexpr std::size_t classes = 7 + 6 + 6 + 6;

        std::size_t before_cycles() const { return indent + name + 1 + kind; }
    };

    LayerWidths layer_widths() const {
        std::size_t longest = 0;
        for (const LayerLine& layer : layers_) longest = std::max(longest, layer.name.size());
        const std::array<terminal::Column, 4> table{{{.width = 16, .least = 10, .most = longest},
                                                     {.width = 11, .least = 11, .leave = 1},
                                                     {.width = 7, .least = 7, .leave = 3},
                                                     {.width = 6, .least = 6, .leave = 2}}};
        constexpr std::size_t fixed = LayerWidths::indent + 1 + LayerWidths::cycles + LayerWidths::classes;
        const std::vector<std::size_t> widths = terminal::fit(table, columns_ - fixed);
        return {.name = widths[0], .kind = widths[1], .run = widths[2], .used = widths[3]};
    }

    void write_layer(const LayerLine& layer, std::string_view name, const LayerWidths& widths) {
        std::vector<std::string> shares;
        const std::uint64_t of_all_units =
            std::accumulate(layer.classes.begin(), layer.classes.end(), std::uint64_t{0});
        for (const std::uint64_t cycles_of_class : layer.classes) {
            shares.push_back(bare_percent(share_of(cycles_of_class, of_all_units)));
        }
        // A long kind may use blanks at the left of the column of cycles.
        const std::string cycles = grouped_within(LayerWidths::cycles, layer.cycles);
        const std::size_t free_width = widths.kind + LayerWidths::cycles - 1 - cycles.size();
        const std::string kind =
            widths.kind == 0 ? "" : fitted(layer.kind, std::max(widths.kind, free_width));
        line("  {:<{}} {}{:>{}}{}{}{}", name, widths.name, kind, cycles,
             widths.kind + LayerWidths::cycles - kind.size(),
             widths.run > 0 ? fmt::format(" {:>6}", bare_percent(layer.share)) : "", class_cells(shares),
             widths.used > 0 ? fmt::format(" {:>5}", bare_percent(layer.array_utilization)) : "");
    }

    std::vector<std::string> columns() const {
        std::vector<std::string> titles;
        for (const machine::CycleClass& each : main_.main->classes) titles.push_back(each.column);
        return titles;
    }

    /// The classes of cycles side by side; there is room for four.
    std::string class_cells(const std::vector<std::string>& cells) const {
        std::string text;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            text += look_.paint(terminal::role_of_class(i), fmt::format("{:>{}}", cells[i], i == 0 ? 7 : 6));
        }
        return text;
    }

    const machine::UnitDescription& main_;
    const std::uint64_t run_cycles_;
    const bool all_layers_;
    std::vector<LayerLine> layers_;
};

}  // namespace

std::string layer_table(const Shown& shown, bool all_layers) {
    return LayerTable(shown, all_layers).write();
}

}  // namespace systole::report
