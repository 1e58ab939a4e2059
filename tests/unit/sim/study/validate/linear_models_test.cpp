#include "sim/study/validate/linear_models.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "hw/machine/config_error.h"
#include "tests/unit/sim/study/validate/made_target.h"

namespace systole::validate {
namespace {

/// Two boards; the first needs 2 for each of `size`, the second 3 and a constant of 10.
void add_boards(MadeTarget& made) {
    made.json["values"] = nlohmann::json::parse(R"({
        "size.A": 5, "size.B": 20, "one.A": 1, "one.B": 1,
        "first.A": 10, "first.B": 40, "second.A": 25, "second.B": 70})");
    made.json["null_models"] = nlohmann::json::parse(R"({"null": {"rows": [
        {"name": "one", "measured": "first", "terms": {"slope": "size"}},
        {"name": "two", "measured": "second", "terms": {"steep": "size", "start": "one"}}]}})");
}

std::string error_of(const MadeTarget& made) {
    const Setup setup = made.setup();
    try {
        static_cast<void>(formulas_of(setup));
    } catch (const machine::ConfigError& error) {
        return error.what();
    }
    return "nothing thrown";
}

TEST_CASE("A null model has constants for rows of several boards, and is fitted without each network",
          "[sim][validate]") {
    MadeTarget made;
    add_boards(made);
    const Setup setup = made.setup();
    Formulas formulas = formulas_of(setup);
    const auto value = [&](const std::string& name) { return formulas.value(name, "here").value(); };
    CHECK(value("null.constants.slope") == Approx(2.0));
    CHECK(value("null.constants.steep") == Approx(3.0));
    CHECK(value("null.constants.start") == Approx(10.0));
    CHECK(value("null.mean") == Approx(0.0).margin(1e-12));
    CHECK(value("null.errors.two.B") == Approx(0.0).margin(1e-12));
    // Without B, the second board has one row for two constants: 25 are five a piece of size.
    CHECK(value("null.left_out.one.B") == Approx(0.0).margin(1e-12));
    const double others = value("null.left_out.two.B");
    CHECK((others == Approx(100.0 / 70.0 - 1.0) || others == Approx(25.0 / 70.0 - 1.0)));
    CHECK(value("null.others_worst") >= std::abs(others) - 1e-12);
    CHECK(value("null.others_mean") > 0.0);
    CHECK(value("mean_size_of.null.errors.one") == Approx(0.0).margin(1e-12));
}

TEST_CASE("No number of ours has a part in a null model", "[sim][validate]") {
    MadeTarget made;
    add_boards(made);
    auto& term = made.json["null_models"]["null"]["rows"][0]["terms"]["slope"];
    term = "base.seen";
    CHECK_THAT(error_of(made),
               Catch::EndsWith("null_models.null.one.terms.slope: base.seen is of ours; it has no part in a "
                               "null model"));
    term = "size * machine.clock_mhz";
    CHECK_THAT(error_of(made), Catch::Contains("machine.clock_mhz is of ours"));
    term = "table.batch";
    CHECK_THAT(error_of(made), Catch::EndsWith("\"table.batch\" is no row of the workloads"));
    term = "size";
    made.json["null_models"]["null"]["rows"][0]["measured"] = "first - 10";
    CHECK_THAT(error_of(made), Catch::EndsWith("null.one.measured: it must be above 0"));
    add_boards(made);
    made.json["null_models"]["null"]["rows"][0]["terms"] = {
        {"a", "size"}, {"b", "one"}, {"c", "one"}, {"steep", "size"}};
    CHECK_THAT(error_of(made), Catch::EndsWith("it has 5 constants; at most 4 are fitted"));
}

}  // namespace
}  // namespace systole::validate
