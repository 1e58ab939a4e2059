// Every figure of the list (sim/view/report/figures.h) is in a report, and in the text, the comparison and
// the page that it names.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "sim/view/page/page.h"
#include "sim/view/page/side_by_side.h"
#include "sim/view/report/figures.h"
#include "sim/view/report/report.h"
#include "tests/unit/sim/view/figures/cases.h"
#include "tests/unit/sim/view/figures/tiles.h"

using namespace systole;
using figures::Json;
using report::Figure;

namespace {

using Holds = std::function<bool(const Figure&, double value, const Json&, const run::RunRecord&)>;

/// Fails for each of the figures of which no case has what `holds` asks for. A figure that stands for another
/// one is shown in a report without that.
void check_each(std::string_view what, const std::function<bool(const Figure&)>& is_asked,
                const Holds& holds) {
    std::size_t asked = 0;
    for (const Figure& figure : report::figures()) {
        if (!is_asked(figure)) continue;
        ++asked;
        const auto is_in = [&](const auto& each) {
            Json json = each.second.report;
            if (!figure.instead_of.empty()) {
                std::string place = '/' + std::string(figure.instead_of);
                std::ranges::replace(place, '.', '/');
                json[Json::json_pointer(place)] = nullptr;
            }
            const std::optional<double> value = report::value_of(figure, json);
            return value && holds(figure, *value, json, each.second.record);
        };
        const bool is_there = std::ranges::any_of(figures::finished_cases(), is_in) ||
                              std::ranges::any_of(figures::finished_tiles(), is_in);
        if (!is_there) FAIL_CHECK(what << " does not have the figure " << figure.name);
    }
    CHECK(asked > 5);
}

}  // namespace

TEST_CASE("Every figure of the list is a number of a report", "[figures]") {
    check_each(
        "a report", [](const Figure&) { return true; },
        [](const Figure&, double, const Json&, const run::RunRecord&) { return true; });
}

TEST_CASE("Every figure with a line is in the text", "[figures]") {
    check_each(
        "the text", [](const Figure& figure) { return figure.line.part != report::Figure::Part::None; },
        [](const Figure& figure, double value, const Json& report, const run::RunRecord& record) {
            const std::string_view label = figure.line.label.empty() ? figure.name : figure.line.label;
            std::istringstream text(report::to_text(report, record));
            for (std::string line; std::getline(text, line);) {
                if (line.starts_with("  " + std::string(label) + ' ') &&
                    line.find(report::figure_text(value, figure.format)) != std::string::npos) {
                    return true;
                }
            }
            return false;
        });
}

TEST_CASE("Every figure that is compared is a row of the comparison", "[figures]") {
    check_each(
        "the comparison", [](const Figure& figure) { return figure.row.is_compared; },
        [](const Figure& figure, double value, const Json& json, const run::RunRecord&) {
            const std::vector<page::NamedReport> reports{{.name = "a", .report = json}};
            const page::SideBySide compared = page::side_by_side(reports, 0);
            const auto row = std::ranges::find(compared.figures, figure.name, &page::Figure::name);
            return row != compared.figures.end() && row->values == std::vector{std::optional(value)} &&
                   row->format == figure.format && row->better == figure.row.better;
        });
}

TEST_CASE("The page has every figure with a card", "[figures]") {
    const std::vector<page::NamedReport> reports{
        {.name = "a", .report = figures::finished_cases().front().second.report}};
    const std::string html = page::to_html(reports);
    const std::string begin = R"(<script type="application/json" id="figures">)";
    const std::size_t at = html.find(begin) + begin.size();
    const Json cards = Json::parse(html.substr(at, html.find("</script>", at) - at));
    std::size_t count = 0;
    for (const Figure& figure : report::figures()) {
        if (figure.card.title.empty()) continue;
        ++count;
        const auto card =
            std::ranges::find(cards, figure.key(), [](const Json& each) { return each["key"]; });
        INFO(figure.name);
        REQUIRE(card != cards.end());
        CHECK((*card)["title"] == figure.card.title);
        CHECK((*card)["format"] == figure.format);
    }
    CHECK(cards.size() == count);
}
