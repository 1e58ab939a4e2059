// Compares the run with the published claim, and gives reasons.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "sim/view/report/json_values.h"
#include "sim/view/report/numbers.h"
#include "sim/view/report/report.h"
#include "sim/view/terminal/layout.h"

namespace systole::report {
namespace {

using Json = nlohmann::ordered_json;
using terminal::beside;
using terminal::fitted;
using terminal::Role;
using terminal::wrapped;

std::string_view place_of(double value, double least, double most) {
    if (value < least) return "below";
    return value > most ? "above" : "within";
}

ClaimAgainst against(const Comparison& comparison) {
    ClaimAgainst result;
    result.baseline = comparison.baseline;
    if (comparison.measured) {
        result.basis = "measured";
        result.performance = comparison.measured->fp32.speedup;
        result.performance_per_watt = comparison.measured->fp32.performance_per_watt;
        result.band = comparison.measured->fp32.ratio_band;
    } else if (comparison.expected) {
        result.basis = "expected";
        result.performance = comparison.expected->speedup;
        result.performance_per_watt = comparison.expected->performance_per_watt;
        result.band = comparison.expected->ratio_band;
    } else {
        result.basis = "upper bound";
        result.performance = comparison.speedup;
        result.performance_per_watt = comparison.performance_per_watt;
        result.band = comparison.ratio_band;
    }
    result.performance_place =
        place_of(result.performance, Claim::least_performance, Claim::most_performance);
    const auto& per_watt = result.performance_per_watt;
    const std::optional<double> judged = per_watt.incremental ? per_watt.incremental : per_watt.total;
    if (judged) {
        result.performance_per_watt_place =
            place_of(*judged, Claim::least_performance_per_watt, Claim::most_performance_per_watt);
    }
    return result;
}

/// The parts of the array's possible MACs (cells times cycles), each with its reason as text.
struct Part {
    std::string_view key;
    std::string_view sentence;
    double ArrayShares::*share;
    Role role;
};

constexpr std::array<Part, 5> parts{
    {{"useful", "multiplied for the network", &ArrayShares::useful, Role::Active},
     {"unused", "in active cycles, but the network's layers did not fill the array", &ArrayShares::unused,
      Role::Active},
     {"weight_stall", "waited for weights from memory", &ArrayShares::weight_stall, Role::WeightStall},
     {"weight_shift", "waited for weights shifting into the array", &ArrayShares::weight_shift,
      Role::WeightShift},
     {"non_matrix", "had no matrix instruction, or not yet its input", &ArrayShares::non_matrix,
      Role::NonMatrix}}};

const Part& largest_loss(const ArrayShares& shares) {
    return *std::max_element(parts.begin() + 1, parts.end(),
                             [&](const Part& a, const Part& b) { return shares.*a.share < shares.*b.share; });
}

std::string with_place(std::optional<double> factor, std::string_view place) {
    return factor && !place.empty() ? fmt::format("{} {}", rough_times(factor), place) : rough_times(factor);
}

/// The ends of the bands of one baseline's figures; empty without a band.
std::string bands_text(const ClaimAgainst& each) {
    if (!each.band) return {};
    const auto& [total, incremental] = each.performance_per_watt;
    std::string text = band_text(each.performance, each.band, rough_times);
    if (total) text += fmt::format("; per W {} total", band_text(*total, each.band, rough_times));
    if (incremental) text += fmt::format(", {} incremental", band_text(*incremental, each.band, rough_times));
    return fmt::format("({})", text);
}

/// The widths of the columns that depend on the terminal, in characters.
struct ClaimWidths {
    std::size_t name = 0;
    std::size_t basis = 0;  ///< 0 if there is no room for it
};

ClaimWidths claim_widths(const Claim& claim, std::size_t columns) {
    constexpr std::size_t fixed = 2 + 15 + 12 + 17;
    std::size_t longest = 0;
    for (const ClaimAgainst& each : claim.against) longest = std::max(longest, each.baseline.size());
    const std::array<terminal::Column, 2> table{
        {{.width = 20, .least = 12, .most = longest}, {.width = 14, .least = 14, .leave = 1}}};
    const std::vector<std::size_t> widths = terminal::fit(table, columns - fixed);
    return {.name = widths[0], .basis = widths[1]};
}

bool falls_short(const ClaimAgainst& each) {
    return each.performance_place == "below" || each.performance_per_watt_place == "below";
}

}  // namespace

std::optional<Claim> make_claim(const Report& report) {
    const std::uint64_t cells = report.cycles * report.array_cells;
    if (!report.parts.claim || report.comparison.empty() || cells == 0) return std::nullopt;
    Claim claim;
    for (const Comparison& comparison : report.comparison) claim.against.push_back(against(comparison));
    claim.host_time = report.host_time;
    const auto share = [](std::uint64_t part, std::uint64_t whole) {
        return static_cast<double>(part) / static_cast<double>(whole);
    };
    const MainUnit& unit = report.main_unit;
    claim.array.useful = share(unit.useful_macs, cells);
    claim.array.weight_stall = share(unit.at("weight_stall_cycles"), report.cycles);
    claim.array.weight_shift = share(unit.at("weight_shift_cycles"), report.cycles);
    claim.array.non_matrix = share(unit.at("non_matrix_cycles"), report.cycles);
    claim.array.unused = share(unit.at("active_cycles"), report.cycles) - claim.array.useful;
    return claim;
}

std::string claim_text(const Claim& claim, const terminal::Look& look) {
    const std::size_t columns = look.width();
    std::string text =
        look.paint(Role::Heading,
                   wrapped("The claim: 15-30x the performance and 30-80x the performance/W of CPUs and GPUs",
                           columns)) +
        '\n';
    const ClaimWidths widths = claim_widths(claim, columns);
    const auto basis = [&](std::string_view shown) {
        return widths.basis > 0 ? fmt::format("   {}", shown) : std::string();
    };
    text += fmt::format("  {:<{}} {:>14} {:>11} {:>16}{}\n", fitted("against a die of", widths.name),
                        widths.name, "performance", "per W total", "incremental", basis("basis"));
    for (const ClaimAgainst& each : claim.against) {
        const auto& per_watt = each.performance_per_watt;
        const bool by_incremental = per_watt.incremental.has_value();
        const auto cell = [&](std::optional<double> factor, std::string_view place, std::size_t width) {
            const std::string shown = fmt::format(" {:>{}}", with_place(factor, place), width);
            return place == "below" ? look.paint(Role::Wrong, shown) : shown;
        };
        const std::string_view place = each.performance_per_watt_place;
        text += fmt::format("  {:<{}}{}{}{}{}\n", fitted(each.baseline, widths.name), widths.name,
                            cell(each.performance, each.performance_place, 14),
                            cell(per_watt.total, by_incremental ? "" : place, 11),
                            cell(per_watt.incremental, by_incremental ? place : "", 16), basis(each.basis));
        const std::string bands = bands_text(each);
        if (!bands.empty()) text += beside("    ", bands, columns) + '\n';
    }
    text += beside("  ", fmt::format("({})", host_time_text(claim.host_time)), columns) + '\n';
    if (std::none_of(claim.against.begin(), claim.against.end(), falls_short)) return text;
    text +=
        beside("  ", "Why: of all the multiply-accumulates that the array had cells and cycles for", columns);
    text += '\n';
    for (const Part& part : parts) {
        const std::string share =
            look.paint(part.role, fmt::format("{:>9}", percent(claim.array.*part.share)));
        text += beside(fmt::format("  {}  ", share), part.sentence, columns) + '\n';
    }
    return text;
}

nlohmann::ordered_json claim_json(const std::optional<Claim>& claim) {
    if (!claim) return nullptr;
    Json json{{"source", "Jouppi et al., ISCA 2017, abstract"},
              {"performance", {{"least", Claim::least_performance}, {"most", Claim::most_performance}}},
              {"performance_per_watt",
               {{"least", Claim::least_performance_per_watt}, {"most", Claim::most_performance_per_watt}}}};
    json["against"] = list_of(claim->against, [](const ClaimAgainst& each) -> Json {
        const std::string_view place = each.performance_per_watt_place;
        return {{"baseline", each.baseline},
                {"basis", each.basis},
                {"performance", each.performance},
                {"performance_place", each.performance_place},
                {"performance_per_watt", to_json(each.performance_per_watt)},
                {"band",
                 {{"performance", band_json(each.performance, each.band)},
                  {"performance_per_watt", band_json(each.performance_per_watt, each.band)}}},
                {"performance_per_watt_place", place.empty() ? Json(nullptr) : Json(place)}};
    });
    json["host_time"] = host_time_text(claim->host_time);
    json["array"] = Json::object();
    for (const Part& part : parts) json["array"][std::string(part.key) + "_share"] = claim->array.*part.share;
    json["largest_loss"] = largest_loss(claim->array).key;
    return json;
}

}  // namespace systole::report
