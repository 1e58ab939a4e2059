#include "sim/study/validate/target.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "sim/study/validate/validate.h"
#include "tests/unit/sim/study/validate/shipped.h"

namespace systole::validate {
namespace {

TEST_CASE("An error in the tables of a target is one line", "[sim][validate]") {
    nlohmann::json object = machine::read_json_object(project / "configs/validation/tpu_v1.json");
    const auto message = [&] {
        try {
            read_target(object, "t.json");
        } catch (const machine::ConfigError& error) {
            return std::string(error.what());
        }
        return std::string("nothing thrown");
    };
    CHECK(message() == "nothing thrown");
    SECTION("a table is missing") {
        object["tables"].erase("table_8");
        CHECK(message() == "t.json: tables.table_8 is missing; it is needed");
    }
    SECTION("a table that the program does not know") {
        object["tables"]["roof"] = nullptr;
        CHECK(message() == "t.json: tables.roof is null; it is not a known key; did you mean \"roofline\"?");
    }
    SECTION("a table of statements without the reasons") {
        object["tables"]["statements"]["notes"] = {"One.", "Two."};
        CHECK(message() == "t.json: tables.statements.notes must end with three reasons");
    }
    SECTION("a table without columns") {
        object["tables"]["claim"].erase("columns");
        CHECK(message() == "t.json: tables.claim.columns is missing; it is needed");
    }
}

TEST_CASE("Texts of a table have placeholders for numbers", "[sim][validate]") {
    Results results;
    results.published = shipped_figures();
    results.target.name = "mine";
    Table& table = results.target.tables["roofline"];
    table.title = "{target}: {ours:.1f} and {table_2_peak_tops:.0f}";
    table.add("{ours:.0f} rows", {Cell::words("{ours:.2f} W")});
    table.notes = {"No number."};
    const Table filled = results.table("roofline", {{"ours", 2.04}});
    CHECK(filled.title == "mine: 2.0 and 92");
    CHECK(filled.rows.at(0).label == "2 rows");
    CHECK(filled.rows.at(0).cells.at(0).text() == "2.04 W");
    CHECK(filled.notes == table.notes);

    table.notes = {"{theirs}"};
    CHECK_THROWS_WITH(results.table("roofline", {{"ours", 2.04}}),
                      "mine: tables.roofline: argument not found: {theirs}");
    CHECK_THROWS_AS(results.table("roofline"), machine::ConfigError);
}

}  // namespace
}  // namespace systole::validate
