// Compares the run with the published claim, and gives reasons.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "sim/view/report/numbers.h"
#include "sim/view/report/report_lines.h"
#include "sim/view/report/sections.h"
#include "sim/view/report/texts.h"
#include "sim/view/terminal/layout.h"

namespace systole::report {
namespace {

using terminal::fitted;
using terminal::Role;

/// "15X - 30X faster than its contemporary GPU or CPU, with TOPS/Watt about 30X - 80X higher": Jouppi et al.,
/// ISCA 2017, abstract.
struct Range {
    double least;
    double most;

    std::string_view place_of(double value) const {
        if (value < least) return "below";
        return value > most ? "above" : "within";
    }
    Json json() const { return {{"least", least}, {"most", most}}; }
};
constexpr Range performance{15.0, 30.0};
constexpr Range performance_per_watt{30.0, 80.0};

/// By the best known figure of the baseline. Performance per watt is judged by the incremental figure, as in
/// the paper's claim, or by the total if there is none.
Json against_json(const Json& comparison) {
    const bool is_measured = !comparison["measured"].is_null();
    const bool is_expected = !is_measured && !comparison["expected"].is_null();
    const Json& figures = is_measured   ? comparison["measured"]["fp32"]
                          : is_expected ? comparison["expected"]
                                        : comparison;
    const Json& speedup = figures["speedup"];
    const Json& per_watt = figures["performance_per_watt"];
    const Json& judged = per_watt["incremental"].is_null() ? per_watt["total"] : per_watt["incremental"];
    return {{"baseline", comparison["baseline"]},
            {"basis", is_measured   ? "measured"
                      : is_expected ? "expected"
                                    : "upper bound"},
            {"performance", speedup},
            {"performance_place", performance.place_of(speedup.get<double>())},
            {"performance_per_watt", per_watt},
            {"band",
             {{"performance", figures["band"]["speedup"]},
              {"performance_per_watt", figures["band"]["performance_per_watt"]}}},
            {"performance_per_watt_place",
             judged.is_null() ? Json(nullptr) : Json(performance_per_watt.place_of(judged.get<double>()))}};
}

/// The parts of the array's possible MACs (cells times cycles), each with its reason as text. They sum to 1.
struct Part {
    std::string_view key;
    std::string_view sentence;
    Role role;
};

constexpr std::array<Part, 5> parts{
    {{"useful_share", "multiplied for the network", Role::Active},
     {"unused_share", "in active cycles, but the network's layers did not fill the array", Role::Active},
     {"weight_stall_share", "waited for weights from memory", Role::WeightStall},
     {"weight_shift_share", "waited for weights shifting into the array", Role::WeightShift},
     {"non_matrix_share", "had no matrix instruction, or not yet its input", Role::NonMatrix}}};

/// The most of these shares but the useful one.
std::string largest_loss(const Json& array) {
    const Part& largest = *std::max_element(
        parts.begin() + 1, parts.end(),
        [&](const Part& a, const Part& b) { return array[std::string(a.key)] < array[std::string(b.key)]; });
    return std::string(largest.key.substr(0, largest.key.rfind('_')));
}

std::string with_place(std::optional<double> factor, std::string_view place) {
    return factor && !place.empty() ? fmt::format("{} {}", rough_times(factor), place) : rough_times(factor);
}

/// The ends of the bands of one baseline's figures; empty without a band.
std::string bands_text(const Json& against) {
    const Json& band = against["band"];
    if (band["performance"].is_null()) return {};
    std::string text = band_text(band["performance"], rough_times);
    const Json& per_watt = band["performance_per_watt"];
    if (!per_watt["total"].is_null()) {
        text += fmt::format("; per W {} total", band_text(per_watt["total"], rough_times));
    }
    if (!per_watt["incremental"].is_null()) {
        text += fmt::format(", {} incremental", band_text(per_watt["incremental"], rough_times));
    }
    return fmt::format("({})", text);
}

bool falls_short(const Json& against) {
    return against["performance_place"] == "below" || against["performance_per_watt_place"] == "below";
}

/// A line for each baseline and, if the run falls short against one, the shares of the array's cycles.
class ClaimText : ReportLines {
public:
    ClaimText(const Json& claim, const terminal::Look& look) : ReportLines(look), claim_(claim) {}

    std::string write() && {
        line("{}",
             look_.paint(Role::Heading, terminal::wrapped("The claim: 15-30x the performance and 30-80x the "
                                                          "performance/W of CPUs and GPUs",
                                                          columns_)));
        const Widths widths = column_widths();
        const auto basis = [&](const std::string& shown) {
            return widths.basis > 0 ? fmt::format("   {}", shown) : std::string();
        };
        line("  {:<{}} {:>14} {:>11} {:>16}{}", fitted("against a die of", widths.name), widths.name,
             "performance", "per W total", "incremental", basis("basis"));
        for (const Json& each : claim_["against"]) {
            const bool by_incremental = number_at(each, "performance_per_watt.incremental").has_value();
            const std::string place = each.value("performance_per_watt_place", Json()).is_null()
                                          ? std::string()
                                          : each["performance_per_watt_place"].get<std::string>();
            line("  {:<{}}{}{}{}{}", fitted(each["baseline"].get<std::string>(), widths.name), widths.name,
                 cell(number_at(each, "performance"), each["performance_place"].get<std::string>(), 14),
                 cell(number_at(each, "performance_per_watt.total"), by_incremental ? "" : place, 11),
                 cell(number_at(each, "performance_per_watt.incremental"), by_incremental ? place : "", 16),
                 basis(each["basis"]));
            const std::string bands = bands_text(each);
            if (!bands.empty()) note(4, bands);
        }
        note(2, fmt::format("({})", claim_["host_time"].get<std::string>()));
        if (std::ranges::none_of(claim_["against"], falls_short)) return take();
        note(2, "Why: of all the multiply-accumulates that the array had cells and cycles for");
        for (const Part& part : parts) {
            const std::optional<double> share = number_at(claim_["array"], part.key);
            line_and(fmt::format("  {}  ", look_.paint(part.role, fmt::format("{:>9}", percent(share)))),
                     part.sentence);
        }
        return take();
    }

private:
    /// The widths of the columns that depend on the terminal, in characters.
    struct Widths {
        std::size_t name = 0;
        std::size_t basis = 0;  ///< 0 if there is no room for it
    };

    Widths column_widths() const {
        constexpr std::size_t fixed = 2 + 15 + 12 + 17;
        std::size_t longest = 0;
        for (const Json& each : claim_["against"]) {
            longest = std::max(longest, each["baseline"].get_ref<const std::string&>().size());
        }
        const std::array<terminal::Column, 2> table{
            {{.width = 20, .least = 12, .most = longest}, {.width = 14, .least = 14, .leave = 1}}};
        const std::vector<std::size_t> widths = terminal::fit(table, columns_ - fixed);
        return {.name = widths[0], .basis = widths[1]};
    }

    std::string cell(std::optional<double> factor, std::string_view place, std::size_t width) const {
        const std::string shown = fmt::format(" {:>{}}", with_place(factor, place), width);
        return place == "below" ? look_.paint(Role::Wrong, shown) : shown;
    }

    const Json& claim_;
};

}  // namespace

Json claim_json(const Json& report, std::uint64_t cells) {
    const std::uint64_t cycles = report["cycles"];
    const std::uint64_t possible = cycles * cells;
    if (report["comparison"].empty() || possible == 0) return nullptr;
    const auto share = [](const Json& part, std::uint64_t whole) {
        return static_cast<double>(part.get<std::uint64_t>()) / static_cast<double>(whole);
    };
    const Json& unit = report["matrix_unit"];
    const double useful = share(unit["useful_macs"], possible);
    Json json{{"source", "Jouppi et al., ISCA 2017, abstract"},
              {"performance", performance.json()},
              {"performance_per_watt", performance_per_watt.json()},
              {"against", Json::array()},
              {"host_time", report["host_time"]["text"]},
              {"array",
               {{"useful_share", useful},
                {"unused_share", share(unit["active_cycles"], cycles) - useful},
                {"weight_stall_share", share(unit["weight_stall_cycles"], cycles)},
                {"weight_shift_share", share(unit["weight_shift_cycles"], cycles)},
                {"non_matrix_share", share(unit["non_matrix_cycles"], cycles)}}}};
    for (const Json& comparison : report["comparison"]) json["against"].push_back(against_json(comparison));
    json["largest_loss"] = largest_loss(json["array"]);
    return json;
}

std::string claim_text(const Json& claim, const terminal::Look& look) {
    return ClaimText(claim, look).write();
}

}  // namespace systole::report
