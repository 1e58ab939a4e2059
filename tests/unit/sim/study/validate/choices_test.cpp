#include "sim/study/validate/choices.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/unit/sim/study/validate/made_target.h"

namespace systole::validate {
namespace {

void add_choices(MadeTarget& made) {
    made.json["fit"] = nlohmann::json::parse(R"({
        "parameters": [{"key": "weight_memory.bandwidth_gb_per_s", "from": 20, "to": 40, "steps": 3}],
        "refinements": 0, "loss": "mean_absolute", "error": "trial.seen / table.cycles - 1"})");
    made.json["scores"] = nlohmann::json::parse(R"([
        {"name": "quick", "value": "base.seen.A / 1000"}, {"name": "fitted", "value": "fit.error", "long": true}])");
    made.json["choices"] = nlohmann::json::parse(R"([
        {"label": "half the clock", "instead_of": "all of it", "seen": "nothing",
         "change": {"set": {"clock_mhz": "machine.clock_mhz / 2"}}},
        {"label": "without a fit", "instead_of": "with one", "seen": "all", "change": {"batches": 2},
         "without": ["fitted"]},
        {"label": "another list", "instead_of": "this one", "seen": "nothing",
         "change": {"sources": {"a": "{workloads} stays"}}}])");
    made.json["tables"] = nlohmann::json::parse(
        R"([{"id": "c", "title": "C", "columns": ["", "quick", "fitted"], "rows_of": "choices"}])");
}

/// 100 cycles at 700 MHz, and as many more for each further batch.
double cycles(const run::RunSpec& spec) {
    const double batches = static_cast<double>(spec.compiler.limit) / spec.compiler.batch;
    return 100.0 * 700.0 / spec.machine.clock_mhz * batches * 30.0 /
           spec.machine.weight_memory.bandwidth_gb_per_s;
}

TEST_CASE("A choice is the target with its change, and has the scores that were asked for",
          "[sim][validate]") {
    MadeTarget made;
    add_choices(made);
    made.json["set"] = {{"clock_mhz", 700}, {"weight_memory.bandwidth_gb_per_s", 30}};
    made.json["choices"][0]["change"]["set"]["clock_mhz"] = 350;
    for (const bool refit : {false, true}) {
        CAPTURE(refit);
        const Choices choices = study_choices(made.setup(), MadeUpChip(cycles), refit);
        const nlohmann::json json = to_json(choices);
        CHECK(json.at("target") == "made");
        CHECK(json.at("as_chosen").at("quick") == 0.1);
        CHECK(json.at("as_chosen").contains("fitted") == refit);
        REQUIRE(json.at("choices").size() == 3);
        CHECK(json.at("choices")[0].at("label") == "half the clock");
        CHECK(json.at("choices")[0].at("instead_of") == "all of it");
        CHECK(json.at("choices")[0].at("seen") == "nothing");
        CHECK(json.at("choices")[0].at("quick") == 0.2);
        CHECK(json.at("choices")[1].at("quick") == 0.1);  // one of two batches
        CHECK_FALSE(json.at("choices")[1].contains("fitted"));
        if (refit) {
            // A and B should take 100 and 200 cycles, and take the same: 100 at 30 GB/s.
            CHECK(json.at("as_chosen").at("fitted") == Approx(0.25));
            CHECK(json.at("choices")[0].at("fitted") == Approx(0.375));  // 150 at 40 GB/s
        }
        const tables::Table table = choices_table(choices);
        REQUIRE(table.rows.size() == 4);
        CHECK(table.rows[0].label == "as chosen");
        CHECK(table.rows[1].cells[0].text() == "20.0");
        CHECK((table.rows[1].cells[1].text() == "-") == !refit);
        REQUIRE(table.notes.size() == 3);
        CHECK(table.notes[0] == "half the clock. Chosen: all of it. In view: nothing.");
        CHECK(table.notes[2] == (refit
                                     ? "another list. Chosen: this one. In view: nothing. It moves no figure."
                                     : "another list. Chosen: this one. In view: nothing."));
        CHECK_THAT(to_page(choices, "{{choices}}\n", "p.md"), Catch::Contains("| half the clock | 20.0 |"));
    }
}

TEST_CASE("Choices need a table of their own", "[sim][validate]") {
    MadeTarget made;
    add_choices(made);
    made.json["tables"][0].erase("rows_of");
    CHECK_THROWS_WITH(choices_table(study_choices(made.setup(), MadeUpChip(cycles), false)),
                      Catch::EndsWith(": no table has the rows of \"choices\""));
}

}  // namespace
}  // namespace systole::validate
