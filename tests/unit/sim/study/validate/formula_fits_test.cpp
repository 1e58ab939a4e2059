#include "sim/study/validate/formula_fits.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "hw/machine/config_error.h"
#include "sim/study/validate/validate.h"
#include "tests/unit/sim/study/validate/made_target.h"

namespace systole::validate {
namespace {

/// Measured numbers of four workloads of two networks, and a fit of the constants that made them.
nlohmann::json file_of_four() {
    return nlohmann::json::parse(R"({
        "lists": {"workloads": [{"name": "a1", "network": "a"}, {"name": "a2", "network": "a"},
                                {"name": "b1", "network": "b"}, {"name": "c1", "network": "c"}],
                  "some": ["a1", "a2", "b1"]},
        "values": {"work.a1": 1, "work.a2": 2, "work.b1": 4, "work.c1": 8,
                   "took.a1": 13, "took.a2": 16, "took.b1": 22, "took.c1": 100},
        "formula_fits": [
            {"name": "line", "of": "some", "leave_out": "network", "refinements": 1, "loss": "mean_absolute",
             "constants": [{"key": "each", "from": 0, "to": 8, "steps": 5},
                           {"key": "once", "from": 0, "to": 40, "steps": 5}],
             "error": "(trial.each * work + trial.once) / took - 1"}],
        "tables": []})");
}

class Four {
public:
    explicit Four(const nlohmann::json& change = nlohmann::json::object()) : json_(made_.json) {
        const nlohmann::json file = file_of_four();
        for (const auto& [key, value] : file.items()) json_[key] = value;
        json_.erase("metrics");
        json_.merge_patch(change);
        made_.json = json_;
        setup_.emplace(made_.setup());
        formulas_.emplace(formulas_of(*setup_));
    }

    void fit() {
        for (const FormulaFit& each : setup_->target.formula_fits)
            know_formula_fit(each, *setup_, *formulas_);
    }
    double value(const std::string& name) { return formulas_->value(name, "a test").value(); }
    Formulas& formulas() { return *formulas_; }

private:
    MadeTarget made_;
    nlohmann::json json_;
    std::optional<Setup> setup_;
    std::optional<Formulas> formulas_;
};

/// The line with which a file ends that is used in a wrong way.
std::string refusal(const nlohmann::json& fit) {
    nlohmann::json all = file_of_four()["formula_fits"];
    all[0].merge_patch(fit);
    try {
        Four four(nlohmann::json{{"formula_fits", all}});
        four.fit();
    } catch (const machine::ConfigError& error) {
        return error.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("A fit by formulas finds the constants that made the measured numbers", "[sim][validate]") {
    Four four;
    four.fit();
    CHECK(four.value("line.constants.each") == 3.0);  // between the points of the grid as given
    CHECK(four.value("line.constants.once") == 10.0);
    CHECK(four.value("line.error") == 0.0);
    CHECK(four.value("line.worst") == 0.0);
    for (const auto& [element, error] : four.formulas().row("line.errors", "a test")) CHECK(error == 0.0);
}

TEST_CASE("Workloads with the same text are left out together, and do not touch that fit",
          "[sim][validate]") {
    // Without b, a's two say 3 and 10; b alone may have any line through it, and takes the first of the grid.
    Four four(nlohmann::json{{"values", {{"took.b1", 44}}}});
    four.fit();
    CHECK(four.value("line.without.each.b1") == 3.0);
    CHECK(four.value("line.without.once.b1") == 10.0);
    CHECK(four.value("line.left_out.b1") == Approx(22.0 / 44.0 - 1.0));
    // Both of a are of the fit to b alone.
    CHECK(four.value("line.without.each.a1") == four.value("line.without.each.a2"));
    CHECK(four.value("line.without.once.a1") == four.value("line.without.once.a2"));
    const double each = four.value("line.without.each.a1");
    const double once = four.value("line.without.once.a1");
    CHECK(4.0 * each + once == Approx(44.0));
    CHECK(four.value("line.left_out.a2") == Approx((2.0 * each + once) / 16.0 - 1.0));
    // Nothing of network c is fitted: it has the constants of all.
    CHECK(four.value("line.without.each.c1") == four.value("line.constants.each"));
    CHECK(four.value("line.least.each") == std::min(each, 3.0));
    CHECK(four.value("line.most.each") == std::max(each, 3.0));
    const double mean = (std::abs(four.value("line.left_out.a1")) + std::abs(four.value("line.left_out.a2")) +
                         std::abs(four.value("line.left_out.b1"))) /
                        3.0;
    CHECK(four.value("line.others_mean") == Approx(mean));
    CHECK(four.value("line.others_worst") >= mean);
}

TEST_CASE("A later fit takes what an earlier one has fitted", "[sim][validate]") {
    nlohmann::json fits = file_of_four()["formula_fits"];
    fits.push_back(nlohmann::json::parse(R"({
        "name": "second", "refinements": 0, "loss": "largest",
        "constants": [{"key": "more", "from": 0, "to": 100, "steps": 101}],
        "error": "(line.constants.each * work + line.constants.once + (work > 7 ? trial.more : 0)) / took - 1"})"));
    Four four(nlohmann::json{{"formula_fits", fits}});
    four.fit();
    CHECK(four.value("second.constants.more") == 66.0);
    CHECK(four.value("second.error") == 0.0);
    // Nothing is left out.
    CHECK_FALSE(four.formulas().value("second.others_mean", "a test"));
    CHECK_FALSE(four.formulas().value("second.least.more", "a test"));
    CHECK(four.value("second.without.more.a1") == 66.0);
}

TEST_CASE("Errors in a fit by formulas name the fit, the value and the rule", "[sim][validate]") {
    CHECK_THAT(refusal({{"of", "many"}}), Catch::Contains("formula_fits.line: many is no list"));
    CHECK_THAT(refusal({{"leave_out", "size"}}),
               Catch::Contains("formula_fits.line: leave_out is size; a1 has no such text"));
    CHECK_THAT(refusal({{"error", "trial.each / (work - 4) - 1"}}),
               Catch::Contains("formula_fits.line") && Catch::Contains("has no value for b1"));
    CHECK_THAT(refusal({{"error", "trial.eech * work / took - 1"}}), Catch::Contains("trial.eech"));
    CHECK_THAT(refusal({{"name", "work"}}), Catch::Contains("work is the name of"));
    CHECK_THAT(refusal({{"constants", nlohmann::json::array()}}),
               Catch::Contains("it must have at least one"));
    CHECK_THAT(refusal({{"constants", {{{"key", "a.b"}, {"from", 0}, {"to", 1}, {"steps", 2}}}}}),
               Catch::Contains("keys must have letters, digits and _ alone"));
    CHECK_THAT(refusal({{"rows", 3}}), Catch::Contains("rows is 3; it is not a known key"));
    nlohmann::json lists = file_of_four()["lists"];
    for (nlohmann::json& workload : lists["workloads"]) workload["network"] = "one";
    CHECK_THROWS_WITH(
        [&] {
            Four four(nlohmann::json{{"lists", lists}});
            four.fit();
        }(),
        Catch::Contains("network is one of all: none would be left"));
}

}  // namespace systole::validate
