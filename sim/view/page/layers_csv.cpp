// The layers of reports as CSV.
#include "sim/view/page/layers_csv.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/view/page/csv_line.h"
#include "sim/view/report/figures.h"
#include "sim/view/report/repeated_layers.h"

namespace systole::page {
namespace {

/// The figures of a layer: titles, and paths in report.json.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> layer_figures{{
    {"cycles", "cycles"},
    {"share", "share"},
    {"array_utilization", "array_utilization"},
    {"macs_per_inference", "macs_per_inference"},
    {"weight_bytes", "weight_bytes"},
    {"achieved_tops", "achieved_tops"},
    {"joules", "energy.joules"},
}};

/// Where a layer is among layers that repeat.
struct PlaceInBlock {
    std::string block;
    std::optional<std::size_t> repeat;  ///< from 1, as `place`
    std::optional<std::size_t> place;
};

std::vector<PlaceInBlock> places_of(const nlohmann::ordered_json& report) {
    std::vector<PlaceInBlock> places(report["layers"].size());
    const std::vector<report::Repeats> all = report::repeats_of(report);
    for (std::size_t block = 0; block < all.size(); ++block) {
        const std::string name = report["repeated_layers"][block]["name"];
        for (std::size_t i = all[block].first; i < all[block].end(); ++i) {
            const std::size_t behind = i - all[block].first;
            places[i] = {.block = name,
                         .repeat = behind / all[block].length + 1,
                         .place = behind % all[block].length + 1};
        }
    }
    return places;
}

}  // namespace

std::string layers_to_csv(std::span<const NamedReport> reports) {
    CsvLine titles;
    for (const char* const title : {"report", "number", "layer", "kind", "block", "repeat", "place"}) {
        titles.add(title);
    }
    for (const auto& [title, path] : layer_figures) titles.add(title);
    std::string text = std::move(titles).take();
    for (const NamedReport& each : reports) {
        const std::vector<PlaceInBlock> places = places_of(each.report);
        for (std::size_t i = 0; i < places.size(); ++i) {
            const nlohmann::ordered_json& layer = each.report["layers"][i];
            CsvLine line;
            line.add(each.name);
            line.add(std::optional(i + 1));
            line.add(layer["name"].get<std::string>());
            line.add(layer["kind"].get<std::string>());
            line.add(places[i].block);
            line.add(places[i].repeat);
            line.add(places[i].place);
            for (const auto& [title, path] : layer_figures) line.add(report::number_at(layer, path));
            text += std::move(line).take();
        }
    }
    return text;
}

}  // namespace systole::page
