#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/view/report/main_layers.h"
#include "sim/view/report/name_patterns.h"
#include "sim/view/report/numbers.h"
#include "sim/view/report/repeated_layers.h"
#include "sim/view/report/report_lines.h"
#include "sim/view/report/texts.h"
#include "sim/view/terminal/layout.h"

namespace systole::report {
namespace {

using terminal::fitted;

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
    std::size_t layers = 1;
    std::uint64_t cycles = 0;
    std::vector<std::uint64_t> classes;  ///< in the order of machine::MainUnit
    std::uint64_t useful_macs = 0;
    std::uint64_t unused_macs = 0;
    std::optional<double> share = {};              ///< of the run's cycles
    std::optional<double> array_utilization = {};  ///< useful MACs of all MACs in active cycles
    std::optional<std::size_t> block = {};         ///< of `repeated_layers`, whose layers it has

    /// Adds layers, cycles and MACs, of which shares follow.
    LayerLine& operator+=(const LayerLine& other) {
        layers += other.layers;
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
        for (const Json& layer : shown.report["layers"]) lines_.push_back(line_of(layer));
        if (all_layers_) return;
        blocks_ = shown.report.value("repeated_layers", Json::array());
        fold(repeats_of(shown.report));
    }

    std::string write() && {
        const LayerLines lines = layer_lines();
        add_titles(lines.listed);
        const LayerWidths widths = layer_widths();
        line("{}{}{:>{}}{}{}{}", heading("Layers"), std::string(widths.before_cycles() - 6, ' '), "cycles",
             LayerWidths::cycles, widths.run > 0 ? "  % run" : "", class_cells(columns()),
             widths.used > 0 ? "  used" : "");
        write_listed(lines.listed, widths);
        std::optional<LayerLine> others;
        if (!lines.others.empty()) {
            others = sum_of(lines.others);
            others->name = fmt::format("({} others)", others->layers);
            write_layer(*others, others->name, widths);
        }
        note(2, widths.used > 0
                    ? fmt::format("(in % of the layer's cycles; used: useful MACs {})", main_.main->cells)
                    : std::string("(in % of the layer's cycles)"));
        write_repeats(lines.listed);
        if (others) write_others(*others, lines.others);
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

    /// Replaces layers that repeat by a line for each place of the block.
    void fold(const std::vector<Repeats>& all) {
        std::vector<LayerLine> folded;
        std::size_t next = 0;
        for (std::size_t block = 0; block < all.size(); ++block) {
            const Repeats& repeats = all[block];
            folded.insert(folded.end(), lines_.begin() + static_cast<std::ptrdiff_t>(next),
                          lines_.begin() + static_cast<std::ptrdiff_t>(repeats.first));
            next = repeats.end();
            for (std::size_t place = 0; place < repeats.length; ++place) {
                std::vector<std::size_t> alike;
                for (std::size_t i = 0; i < repeats.count; ++i) {
                    alike.push_back(repeats.first + i * repeats.length + place);
                }
                LayerLine& line = folded.emplace_back(sum_of(alike));
                line.block = block;
                line.kind = blocks_[block]["places"][place]["kind"];
                line.name = name_in(blocks_[block], place);
            }
        }
        folded.insert(folded.end(), lines_.begin() + static_cast<std::ptrdiff_t>(next), lines_.end());
        lines_ = std::move(folded);
    }

    /// A block of one layer has one line, which says how many there are; others have a title that says it.
    static bool has_title(const Json& block) { return block["layers"] > 1; }
    static std::string title_of(const Json& block) {
        return fmt::format("{} x{}", block["name"].get<std::string>(), block["count"].get<std::uint64_t>());
    }
    static std::string name_in(const Json& block, std::size_t place) {
        if (!has_title(block)) return title_of(block);
        const std::string name = block["places"][place]["name"];
        return std::string(within_scope(name, block["name"].get<std::string>()));
    }

    /// Makes the titles of the blocks that are listed.
    void add_titles(const std::vector<std::size_t>& listed) {
        for (const std::size_t i : listed) {
            const std::optional<std::size_t> block = lines_[i].block;
            if (!block || titles_.contains(*block) || !has_title(blocks_[*block])) continue;
            std::vector<std::size_t> of_block;
            for (std::size_t each = 0; each < lines_.size(); ++each) {
                if (lines_[each].block == block) of_block.push_back(each);
            }
            LayerLine title = sum_of(of_block);
            title.name = title_of(blocks_[*block]);
            title.kind = fmt::format("{} layers", blocks_[*block]["layers"].get<std::uint64_t>());
            titles_.emplace(*block, std::move(title));
        }
    }

    LayerLines layer_lines() const {
        std::vector<std::uint64_t> cycles;
        cycles.reserve(lines_.size());
        for (const LayerLine& line : lines_) cycles.push_back(line.cycles);
        return main_layers(cycles, all_layers_);
    }

    /// The layers that share a line, as one without name and kind.
    LayerLine sum_of(const std::vector<std::size_t>& lines) const {
        LayerLine sum = lines_[lines.front()];
        for (const std::size_t i : std::span(lines).subspan(1)) sum += lines_[i];
        sum.name.clear();
        sum.kind.clear();
        sum.share = share_of(sum.cycles, run_cycles_);
        sum.array_utilization = share_of(sum.useful_macs, sum.useful_macs + sum.unused_macs);
        return sum;
    }

    /// Says what the line of others leaves out.
    void write_others(const LayerLine& sum, const std::vector<std::size_t>& others) {
        std::size_t without = 0;
        for (const std::size_t i : others) {
            if (lines_[i].cycles == 0) without += lines_[i].layers;
        }
        const std::string idle =
            without > 0 ? fmt::format(", {} of them without cycles", without) : std::string();
        note(2, fmt::format("({} others{}; --all lists them)", sum.layers, idle));
    }

    /// Says how much the blocks that share lines differ.
    void write_repeats(const std::vector<std::size_t>& listed) {
        std::set<std::size_t> said;
        for (const std::size_t i : listed) {
            const std::optional<std::size_t> number = lines_[i].block;
            if (!number || !said.insert(*number).second) continue;
            const Json& block = blocks_[*number];
            const std::uint64_t least = block["least_cycles"];
            const std::uint64_t most = block["most_cycles"];
            note(2, fmt::format("({}: {} alike, summed; one takes {} cycles; --all lists them)",
                                title_of(block), grouped(block["count"].get<std::uint64_t>()),
                                least == most ? grouped(least)
                                              : fmt::format("{} to {}", grouped(least), grouped(most))));
        }
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

    void write_listed(const std::vector<std::size_t>& listed, const LayerWidths& widths) {
        // A name is told apart from those of all lines beside it.
        const std::map<std::size_t, std::string> titles = shown_names(titles_, widths.name);
        std::map<std::size_t, LayerLine> outside;
        std::map<std::size_t, LayerLine> inside;
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            const bool is_inside = lines_[i].block && has_title(blocks_[*lines_[i].block]);
            (is_inside ? inside : outside).emplace(i, lines_[i]);
        }
        std::map<std::size_t, std::string> names = shown_names(outside, widths.name);
        names.merge(shown_names(inside, widths.name - std::min(widths.name, indent_of_block)));
        std::optional<std::size_t> title;  // that was written last
        for (const std::size_t i : listed) {
            if (!inside.contains(i)) {
                write_layer(lines_[i], names.at(i), widths);
                continue;
            }
            const std::size_t block = *lines_[i].block;
            if (title != block) write_layer(titles_.at(block), titles.at(block), widths);
            title = block;
            write_layer(lines_[i], std::string(indent_of_block, ' ') + names.at(i), widths);
        }
    }

    static std::map<std::size_t, std::string> shown_names(const std::map<std::size_t, LayerLine>& lines,
                                                          std::size_t width) {
        std::vector<std::string> names;
        names.reserve(lines.size());
        for (const auto& [number, line] : lines) names.push_back(line.name);
        const std::vector<std::string> told = terminal::told_apart(names, width);
        std::map<std::size_t, std::string> shown;
        auto name = told.begin();
        for (const auto& [number, line] : lines) shown.emplace(number, *name++);
        return shown;
    }

    LayerWidths layer_widths() const {
        std::size_t longest = 0;
        for (const LayerLine& line : lines_) {
            longest = std::max(longest, line.name.size() + (line.block ? indent_of_block : 0));
        }
        for (const auto& [block, title] : titles_) longest = std::max(longest, title.name.size());
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
    std::vector<LayerLine> lines_;
    Json blocks_ = Json::array();              ///< `repeated_layers`
    std::map<std::size_t, LayerLine> titles_;  ///< of blocks with a title of which a line is listed

    static constexpr std::size_t indent_of_block = 2;
};

}  // namespace

std::string layer_table(const Shown& shown, bool all_layers) {
    return LayerTable(shown, all_layers).write();
}

}  // namespace systole::report
