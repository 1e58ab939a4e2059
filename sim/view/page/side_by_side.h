#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/view/page/page.h"
#include "sim/view/terminal/look.h"

/// Several reports side by side, computed once from their report.json; the page, the text and CSV show it.
namespace systole::page {

/// A compared figure.
struct Figure {
    std::string name;         ///< "cycles an inference"
    std::string_view format;  ///< as report::Figure has it
    int better = 0;           ///< 1: more is better; -1: less is better; 0: neither can be said
    bool of_clock =
        false;  ///< counted in cycles of clocks that are not the same: no difference means anything
    std::vector<std::optional<double>> values;  ///< of each report; absent if it has none
};

/// The cycles of the layers with one name.
struct LayerCycles {
    std::string name;
    std::vector<std::optional<double>> cycles;  ///< of each report; absent if it has no such layer
    /// Their time, of reports at different clocks; absent without a layer or a clock.
    std::vector<std::optional<double>> seconds = {};

    /// The figures that are compared.
    const std::vector<std::optional<double>>& compared() const { return seconds.empty() ? cycles : seconds; }
};

/// A configuration key whose values are not the same in all reports.
struct DifferingKey {
    std::string key;                                 ///< "machine.clock_mhz"
    std::vector<std::optional<std::string>> values;  ///< of each report; absent if it has no such key
};

struct SideBySide {
    std::vector<std::string> names;     ///< of the reports: their paths without what all have in common
    std::vector<std::string> models;    ///< of the reports
    std::vector<std::size_t> networks;  ///< of each report, the first report with the same network
    std::size_t against = 0;            ///< the report to which differences are shown
    bool each_inference =
        false;  ///< totals are those of one inference, as the reports have different numbers
    /// The clocks of the reports, if they differ: layers are then compared in time.
    std::vector<std::optional<double>> clocks_mhz = {};
    std::vector<Figure> figures;      ///< none that no report has
    std::vector<LayerCycles> layers;  ///< in the order of the first report that has each
    std::vector<DifferingKey> keys;

    /// Whether a figure of the report can be called better or worse than that of `against`.
    bool is_comparable(std::size_t report) const { return networks[report] == networks[against]; }
};

/// The paths without the folders that all of them share, and without the name of the report's file.
std::vector<std::string> short_names(std::span<const NamedReport> reports);

/// The report that the user means by its path, its short name, or its number from 1. Throws ConfigError.
std::size_t find_report(std::span<const NamedReport> reports, const std::string& name_or_number);

/// At least one report; `against` is an index. Totals of different numbers of inferences become totals of one
/// inference, if every report has inferences.
SideBySide side_by_side(std::span<const NamedReport> reports, std::size_t against);

/// For the page.
nlohmann::ordered_json to_json(const SideBySide& compared);

/// Tables of figures, layers and differing keys; runs that do not fit the width follow below. Of many layers
/// the main ones are listed (main_layers.h), unless all are wanted.
std::string to_text(const SideBySide& compared, const terminal::Look& look = {}, bool all_layers = false);

/// A line of titles and a line for each report: names, figures and their differences as fractions of the
/// reference (of shares, as differences of the two), cycles of each layer and, at different clocks, its
/// seconds, values of differing keys. RFC 4180, with line feeds; absent values are empty.
std::string to_csv(const SideBySide& compared);

}  // namespace systole::page
