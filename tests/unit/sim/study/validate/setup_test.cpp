#include "sim/study/validate/setup.h"

#include <catch2/catch.hpp>
#include <string>

#include "hw/machine/config_reader.h"
#include "tests/support/files.h"
#include "tests/unit/sim/study/validate/made_target.h"
#include "tests/unit/sim/study/validate/shipped.h"

namespace systole::validate {
namespace {

TEST_CASE("A workload of another content than the pinned one is refused", "[sim][validate]") {
    nlohmann::json target = machine::read_json_object(project / "configs/validation/tpu_v1.json");
    target["models"]["MLP1"]["file"] = target["models"]["MLP0"]["file"];
    const tests::Folder folder;
    CHECK_THROWS_WITH(read_setup(folder.file("target.json", target.dump()), run::PathFinder({})),
                      Catch::Contains("models.MLP1: ") &&
                          Catch::Contains("mlp0.json has the SHA-256 790cc77f") &&
                          Catch::Contains("pinned is ec248124"));
}

TEST_CASE("An error of a target is one line that names the key", "[sim][validate]") {
    MadeTarget made;
    CHECK(made.error() == "nothing thrown");
    SECTION("another schema") {
        made.json["schema"] = "sim.validation/1";
        CHECK(made.error() == "target.json: schema is \"sim.validation/1\"; it must be \"sim.validation/2\"");
    }
    SECTION("an unknown key") {
        made.json["machin"] = "made";
        CHECK(made.error() ==
              "target.json: machin is \"made\"; it is not a known key; did you mean \"machine\"?");
    }
    SECTION("no workloads") {
        made.json["lists"] = {{"models", {"A"}}};
        CHECK(made.error() == "target.json: lists.workloads is missing; it is needed");
    }
    SECTION("a model without a batch") {
        made.json["models"]["B"].erase("batch");
        CHECK(made.error() == "target.json: models.B.batch is missing; it is needed");
    }
    SECTION("an unknown key of a run") {
        made.json["runs"]["base"]["batch"] = 2;
        CHECK_THAT(made.error(),
                   Catch::StartsWith("target.json: runs.base.batch is 2; it is not a known key"));
    }
    SECTION("a table without columns") {
        made.json["tables"][0].erase("columns");
        CHECK(made.error() == "target.json: tables[0].columns is missing; it is needed");
    }
    SECTION("a kind of cell that does not exist") {
        made.json["tables"][0]["rows"][0]["as"] = "percentage";
        CHECK_THAT(made.error(),
                   Catch::StartsWith("target.json: tables[0].rows[0].as is \"percentage\"; it must be "));
    }
    SECTION("a loss that does not exist") {
        made.json["fit"] = {{"parameters", nlohmann::json::array()},
                            {"refinements", 1},
                            {"loss", "least"},
                            {"error", "error"}};
        CHECK_THAT(made.error(), Catch::StartsWith("target.json: fit.loss is \"least\"; it must be one of "));
    }
    SECTION("an axis that runs backwards") {
        made.json["fit"] = {{"parameters", {{{"key", "clock_mhz"}, {"from", 2}, {"to", 1}, {"steps", 2}}}},
                            {"refinements", 1},
                            {"loss", "largest"},
                            {"error", "error"}};
        CHECK(made.error() == "target.json: fit.parameters[0].to is 1; it must not be less than from");
    }
    SECTION("an origin that does not exist") {
        made.json["figures"] = {
            {{"place", "p"}, {"origin", "guessed"}, {"digits", 1}, {"published", "x"}, {"ours", "x"}}};
        CHECK_THAT(made.error(),
                   Catch::StartsWith("target.json: figures[0].origin is \"guessed\"; it must be "));
    }
    SECTION("a value that is none") {
        made.json["values"]["error"] = nlohmann::json::array();
        CHECK_THROWS_WITH(formulas_of(made.setup()),
                          Catch::EndsWith("values.error is []; it must be a formula, a number or null"));
    }
    SECTION("a value with the name of a published table") {
        made.json["values"]["table.error"] = "1";
        CHECK(made.error() == "target.json: table is the name of published figures and of a value");
    }
    SECTION("a run with the name of a value") {
        made.json["runs"]["error"] = nlohmann::json::object();
        CHECK(made.error() == "target.json: error is the name of a run and of a value");
    }
    SECTION("a value that is part of another") {
        made.json["values"]["error.A"] = 1;
        CHECK(made.error() ==
              "target.json: values.error and values.error.A: the second is part of the first");
    }
    SECTION("a name that no formula can have") {
        made.json["runs"]["ba se"] = nlohmann::json::object();
        CHECK(made.error() ==
              "target.json: \"ba se\" is the name of a run; it must have letters, digits and _ alone");
    }
    SECTION("a list that is misspelt in a key") {
        made.json["values"]["x.{workload}"] = 1;
        CHECK_THAT(made.error(), Catch::StartsWith("target.json: \"x.{workload}\" is the name of a value; "));
    }
    SECTION("a cell of two things") {
        made.json["tables"][0]["rows"][0]["cells"] = {{{"text", "a"}, {"value", "1"}}};
        CHECK_THAT(made.error(), Catch::EndsWith("a cell has one of text, value and row"));
    }
    SECTION("a group that is a row, too") {
        made.json["tables"][0]["rows"][0]["rows"] = nlohmann::json::array();
        CHECK_THAT(made.error(), Catch::EndsWith("it stands alone, or a label and cells stand in its place"));
    }
    SECTION("two tables of one id") {
        made.json["tables"].push_back(made.json["tables"][0]);
        CHECK(made.error() == "target.json: tables: there are two with the id t");
    }
    SECTION("a number of the output that hides another") {
        made.json["json"]["tables"] = "1";
        CHECK(made.error() == "target.json: json.tables: the output has such a key of its own");
    }
    SECTION("a roofline without a clock") {
        made.json["rooflines"] = {{{"name", "r"}, {"array", "256"}}};
        CHECK(made.error() == "target.json: shapes has no A, one of the workloads");
    }
}

TEST_CASE("A change is a merge patch of the file", "[sim][validate]") {
    MadeTarget made;
    made.json["values"]["{workloads}.x"] = "1";
    const Setup setup = made.setup();
    const Setup other = changed(setup, nlohmann::json::parse(R"({"values": {"error": "2 * table.cycles"},
        "set": {"clock_mhz": "machine.clock_mhz / 2"}, "like": "best", "batches": 3})"));
    CHECK(other.machine.clock_mhz == setup.machine.clock_mhz / 2.0);
    CHECK(other.target.batches == 3);
    CHECK(other.target.mapping.pipeline);
    CHECK_FALSE(setup.target.mapping.pipeline);
    Formulas formulas = formulas_of(other);
    CHECK(formulas.value("error.B", "here") == 400.0);
    CHECK(formulas.value("machine.clock_mhz", "here") == other.machine.clock_mhz);
    CHECK(formulas.value("B.x", "here") == 1.0);
    CHECK_THROWS_WITH(changed(setup, {{"machin", "x"}}),
                      Catch::Contains("machin is \"x\"; it is not a known key"));
    CHECK_THROWS_WITH(changed(setup, {{"values", {{"eror", "1"}}}}),
                      Catch::EndsWith(": a choice changes values.eror, which is not there"));
}

TEST_CASE("Null and numbers are values, too", "[sim][validate]") {
    MadeTarget made;
    made.json["values"] = {{"bound", 0.5}, {"x.A", nullptr}, {"x.B", 2}};
    Formulas formulas = formulas_of(made.setup());
    CHECK(formulas.value("bound", "here") == 0.5);
    CHECK_FALSE(formulas.value("x.A", "here"));
    CHECK(formulas.row("x", "here")[1].second == 2.0);
}

}  // namespace
}  // namespace systole::validate
