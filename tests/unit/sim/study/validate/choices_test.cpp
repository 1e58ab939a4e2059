#include "sim/study/validate/choices.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "sim/view/table/table.h"

namespace systole::validate {
namespace {

ChoiceScore score(const std::string& label, std::optional<double> refitted, std::optional<double> figure_11) {
    ChoiceScore made{.label = label,
                     .instead_of = "b",
                     .seen = "s",
                     .published = {.by_workload = {}, .mean = 0.25, .largest = 0.5},
                     .fitted = {.by_workload = {}, .mean = 0.125, .largest = 0.5},
                     .refit = {},
                     .figure_11 = figure_11};
    if (refitted) {
        made.refit.emplace();
        made.refit->fitted_error = *refitted;
    }
    return made;
}

TEST_CASE("A choice has the figures that were computed, and no others", "[sim][validate]") {
    for (const std::optional<double> refitted : {std::optional<double>(), std::optional(0.0625)}) {
        for (const std::optional<double> figure_11 : {std::optional<double>(), std::optional(0.375)}) {
            CAPTURE(refitted.has_value(), figure_11.has_value());
            Choices choices{.setup = {.file = "made.json", .beside = run::PathFinder({}), .target = {}},
                            .as_made = score("as made", {}, {}),
                            .turned = {}};
            choices.setup.target.name = "t";
            choices.setup.target.tables["choices"] = {
                .id = "choices", .title = "c", .columns = {"a", "b", "c", "d", "e"}};
            choices.turned.push_back(score("turned", refitted, figure_11));
            const nlohmann::json json = to_json(choices);
            CHECK(json.at("target") == "t");
            CHECK(json.at("as_chosen").at("published_error") == 0.25);
            REQUIRE(json.at("choices").size() == 1);
            nlohmann::json expected{{"label", "turned"},
                                    {"instead_of", "b"},
                                    {"seen", "s"},
                                    {"published_error", 0.25},
                                    {"fitted_error", 0.125}};
            if (refitted) expected["refitted_error"] = *refitted;
            if (figure_11) expected["figure_11_error"] = *figure_11;
            CHECK(json.at("choices").at(0) == expected);
            const tables::Table table = choices_table(choices);
            REQUIRE(table.rows.size() == 2);
            CHECK((table.rows[1].cells[2].text() == tables::Cell().text()) == !refitted.has_value());
            CHECK((table.rows[1].cells[3].text() == tables::Cell().text()) == !figure_11.has_value());
        }
    }
}

}  // namespace
}  // namespace systole::validate
