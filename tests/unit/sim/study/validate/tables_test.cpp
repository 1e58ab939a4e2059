#include "sim/study/validate/tables.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sim/study/validate/output.h"
#include "tests/unit/sim/study/validate/made_target.h"

namespace systole::validate {
namespace {

Results results_of(const MadeTarget& made) {
    return validate(made.setup(), MadeUpChip([](const run::RunSpec&) { return 160.0; }));
}

std::vector<std::string> texts(const tables::Row& row) {
    std::vector<std::string> all{row.label};
    for (const tables::Cell& cell : row.cells) all.push_back(cell.text());
    return all;
}

using Texts = std::vector<std::string>;

TEST_CASE("A table has the rows, cells and notes that its file says", "[sim][validate]") {
    MadeTarget made;
    made.json["values"]["none"] = nullptr;
    made.json["tables"][0] = nlohmann::json::parse(R"({"id": "t", "title": "{table.batch:.0f} inferences",
        "columns": ["", "A", "B", "mean"],
        "rows": [{"label": "ours", "row": "base.seen", "digits": 0,
                  "cells": [{"value": "mean_of.base.seen", "digits": 1}]},
                 {"each": "workloads", "rows": [
                    {"label": "{workloads}", "cells": [{"value": "error.{workloads}", "digits": 1, "as": "percent"},
                        {"value": "100 * error.{workloads}", "digits": 0, "as": "difference"},
                        {"value": "error.{workloads} > 0", "as": "met"}]}]},
                 {"label": "texts", "cells": [{"text": "<{table.batch:.1f}"}, {"text": ""}, {"value": "none"}]},
                 {"label": "rough", "cells": [{"value": "123456", "as": "rough"}]}],
        "notes": [{"text": "Always {table.batch:.0f}."}, {"text": "Never.", "unless": "table.batch == 3"},
                  {"text": "Not so.", "unless": "table.batch == 4"}, {"text": "Nor this.", "unless": "none"}]})");
    Results results = results_of(made);
    const std::vector<tables::Table> all = all_tables(results);
    REQUIRE(all.size() == 1);
    CHECK(all[0].title == "3 inferences");
    REQUIRE(all[0].rows.size() == 5);
    CHECK(texts(all[0].rows[0]) == Texts{"ours", "160", "160", "160.0"});
    CHECK(texts(all[0].rows[1]) == Texts{"A", "-37.5", "-38", "no"});
    CHECK(texts(all[0].rows[2]) == Texts{"B", "25.0", "+25", "yes"});
    CHECK(texts(all[0].rows[3]) == Texts{"texts", "<3.0", "-", "-"});
    CHECK(texts(all[0].rows[4]) == Texts{"rough", "120000"});
    CHECK(all[0].notes == Texts{"Always 3.", "Not so.", "Nor this."});
}

TEST_CASE("A table names the computers of its measurements, each once", "[sim][validate]") {
    MadeTarget made;
    made.json["tables"][0]["notes"] = {{{"text", "Before."}}};
    made.json["tables"][0]["hosts"] = {"table", "table"};
    Results results = results_of(made);
    CHECK(all_tables(results).at(0).notes == Texts{"Before.", "Measured with an abacus."});
    made.json["tables"][0]["hosts"] = {"chart"};
    Results wrong = results_of(made);
    CHECK_THROWS_WITH(all_tables(wrong), "tables.t.hosts: chart is no section with a host of made");
}

TEST_CASE("The output has the numbers that the file names", "[sim][validate]") {
    MadeTarget made;
    made.json["json"] = {{"errors", "error"}, {"mean", "mean_of.error"}, {"none", "1 / (table.batch - 3)"}};
    Results results = results_of(made);
    const nlohmann::ordered_json json = to_json(results);
    CHECK(json["errors"] == nlohmann::ordered_json({{"A", -0.375}, {"B", 0.25}}));
    CHECK(json["mean"] == -0.0625);
    CHECK(json["none"].is_null());
    CHECK(json["tables"]["t"]["rows"].size() == 1);
    CHECK_FALSE(json.contains("fit"));
    CHECK_THAT(to_text(results), Catch::Contains("  ours  160  160"));
    CHECK_THAT(to_page(results, "{{t}}\n", "p.md"), Catch::Contains("| ours | 160 | 160 |"));
}

TEST_CASE("A table names studies that there are, and formulas that stand for something", "[sim][validate]") {
    MadeTarget made;
    SECTION("a study that does not exist") {
        made.json["tables"][0]["rows_of"] = "score";
        CHECK_THROWS_WITH(results_of(made),
                          Catch::Contains("tables.t.rows_of is \"score\"; it must be one of "));
    }
    SECTION("a row that is one number") {
        made.json["tables"][0]["rows"][0]["row"] = "table.batch";
        Results results = results_of(made);
        CHECK_THROWS_WITH(all_tables(results),
                          Catch::Contains("tables.t: \"table.batch\" is one number; a row is needed"));
    }
    SECTION("more cells than columns") {
        made.json["tables"][0]["columns"] = {"", "A"};
        Results results = results_of(made);
        CHECK_THROWS_WITH(all_tables(results),
                          Catch::Contains("row \"ours\" has 2 cells; there are 1 columns"));
    }
    SECTION("numbers under the names of others") {
        made.json["tables"][0]["columns"] = {"", "B", "A"};
        Results results = results_of(made);
        CHECK_THROWS_WITH(all_tables(results), "tables.t: the number of A would stand in column 1");
    }
    SECTION("broken braces are found before anything runs") {
        made.json["tables"][0]["title"] = "{x}";
        MadeUpChip chip([](const run::RunSpec&) { return 1.0; });
        CHECK_THROWS_WITH(validate(made.setup(), std::ref(chip)), Catch::Contains("braces have a formula"));
        CHECK(chip.calls == 0);
    }
    SECTION("a name of nothing is found before anything runs") {
        made.json["tables"][0]["rows"][0]["row"] = "base.sen";
        MadeUpChip chip([](const run::RunSpec&) { return 1.0; });
        CHECK_THROWS_WITH(validate(made.setup(), std::ref(chip)),
                          Catch::Contains("tables.t names base.sen, which stands for no number"));
        CHECK(chip.calls == 0);
    }
}

TEST_CASE("A figure's row and ours are over one list", "[sim][validate]") {
    MadeTarget made;
    made.json["figures"] = nlohmann::json::parse(R"([{"place": "P", "origin": "simulated", "digits": 0,
        "published": "table.cycles", "ours": "mean_of.base.seen"}])");
    CHECK_THROWS_WITH(results_of(made),
                      Catch::Contains("figures, P: \"table.cycles\" and \"mean_of.base.seen\" are not "
                                      "over the same list"));
}

TEST_CASE("Figures are published ones and ours, by element where they are rows", "[sim][validate]") {
    MadeTarget made;
    made.json["figures"] = nlohmann::json::parse(R"json([
        {"place": "Table", "what": " cycles", "origin": "simulated", "digits": 0, "published": "table.cycles",
         "ours": "base.seen", "roofline": "table.cycles / 2"},
        {"place": "Text", "what": "batch", "origin": "inherited", "digits": 1, "published": "table.batch",
         "ours": "1 / (table.batch - 3)"}])json");
    made.json["tables"] = nlohmann::json::parse(R"([
        {"id": "figures", "title": "F", "columns": ["", "of", "origin", "published", "ours", "error", "r", "error"],
         "rows_of": "figures"},
        {"id": "scores", "title": "S", "columns": ["", "figures", "5", "10", "20", "median", "worst"],
         "rows_of": "scores"},
        {"id": "null_scores", "title": "N", "columns": ["", "figures", "5", "10", "20", "5", "10", "20"],
         "rows_of": "null_scores"}])");
    made.json["groups"] = {"Table"};
    Results results = results_of(made);
    const std::vector<tables::Table> all = all_tables(results);
    REQUIRE(all[0].rows.size() == 3);
    CHECK(texts(all[0].rows[0]) == Texts{"Table", "A cycles", "simulated", "100", "160", "+60", "50", "-50"});
    CHECK(texts(all[0].rows[2]) == Texts{"Text", "batch", "inherited", "3.0", "-", "no value", "-", "-"});
    REQUIRE(all[1].rows.size() == 4);
    CHECK(texts(all[1].rows[0]) == Texts{"simulated", "2", "0", "0", "1", "40.0", "+60"});
    CHECK(texts(all[1].rows[1]) == Texts{"  Table", "2", "0", "0", "1", "40.0", "+60"});
    CHECK(texts(all[1].rows[2]) == Texts{"inherited", "1", "0", "0", "0", "none", "no value"});
    REQUIRE(all[2].rows.size() == 3);
    CHECK(texts(all[2].rows[1]) == Texts{"Table", "2", "0", "0", "1", "0", "0", "0"});
    CHECK_THAT(to_text(results), !Catch::Contains("A cycles"));  // hundreds of lines: page and JSON have them
}

}  // namespace
}  // namespace systole::validate
