#include "sim/study/validate/fit.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "hw/machine/config_error.h"
#include "tests/unit/sim/study/validate/made_target.h"

namespace systole::validate {
namespace {

constexpr std::size_t six = 6;

/// The time of workload `w`, from 1, on a chip of these parameters: so many bytes, so many layers, so much
/// input.
double time_of(std::size_t workload, const Parameters& parameters) {
    const auto w = static_cast<double>(workload + 1);
    return 1e6 * w / parameters[0] + 7.0 * w * w * parameters[1] + parameters[2] * (20.0 - 3.0 * w);
}

FitGrid grid() {
    FitGrid grid;
    grid.axes = {{.key = "a", .from = 30.0, .to = 34.0, .steps = 5},
                 {.key = "b", .from = 0.0, .to = 4000.0, .steps = 5},
                 {.key = "c", .from = 0.0, .to = 3000.0, .steps = 4}};
    grid.refinements = 2;
    grid.set_size = 3;
    return grid;
}

class Chip {
public:
    explicit Chip(std::vector<double> measured) : measured_(std::move(measured)) {}
    std::vector<double> operator()(const std::vector<FitTask>& tasks) {
        std::vector<double> errors;
        for (const FitTask& task : tasks) {
            errors.push_back(time_of(task.workload, task.parameters) / measured_.at(task.workload) - 1.0);
        }
        runs += tasks.size();
        return errors;
    }
    std::size_t runs = 0;

private:
    std::vector<double> measured_;
};

TEST_CASE("A fit finds the parameters that made the figures", "[sim][validate]") {
    const Parameters truth{32.25, 1500.0, 1250.0};  // between the points of the grid as given
    std::vector<double> measured;
    for (std::size_t i = 0; i < six; ++i) measured.push_back(time_of(i, truth));
    Chip chip(measured);
    const Fits fits = fit(grid(), six, std::ref(chip));
    CHECK(fits.all.parameters == truth);
    CHECK(fits.all.fitted_error == 0.0);
    CHECK(fits.simulations == chip.runs);
    CHECK(fits.simulations < six * 17 * 17 * 13 / 2);  // of the grid at its finest
}

TEST_CASE("Each three of six are fitted, and the error of the others is kept", "[sim][validate]") {
    Chip chip(std::vector<double>{7e4, 1.2e5, 9e4, 2e5, 3e5, 2.5e5});
    const Fits fits = fit(grid(), six, std::ref(chip));
    REQUIRE(fits.splits.size() == 20);
    std::set<Workloads> different;
    double sum = 0.0;
    for (const Fit& split : fits.splits) {
        different.insert(split.fitted);
        CHECK(split.fitted.size() == 3);
        double fitted = 0.0;
        double all = 0.0;
        for (const double error : split.errors) all += std::abs(error);
        for (const std::size_t workload : split.fitted) fitted += std::abs(split.errors[workload]);
        CHECK(split.fitted_error == Approx(fitted / 3.0));
        CHECK(split.others_error == Approx((all - fitted) / 3.0));
        // Nothing fits three of them better than what was fitted to them.
        double by_all = 0.0;
        for (const std::size_t workload : split.fitted) by_all += std::abs(fits.all.errors[workload]);
        CHECK(split.fitted_error <= by_all / 3.0 + 1e-12);
        sum += split.others_error;
    }
    CHECK(different.size() == 20);
    CHECK(fits.others_mean.value() == Approx(sum / 20.0));
}

TEST_CASE("A workload is left out with all rows of the grid", "[sim][validate]") {
    FitGrid two;
    two.axes = {{.key = "a", .from = 0.0, .to = 8.0, .steps = 9}};
    two.rows = {{.name = "one", .run = "first", .error = ""}, {.name = "two", .run = "second", .error = ""}};
    two.set_size = 2;
    // In the first row the workloads ask for 2, 2 and 6, in the second for 2, 2 and 7.
    const auto errors = [](const std::vector<FitTask>& tasks) {
        std::vector<double> made;
        for (const FitTask& task : tasks) {
            const double wanted = task.workload < 2 ? 2.0 : task.row == 0 ? 6.0 : 7.0;
            made.push_back(task.parameters[0] - wanted);
        }
        return made;
    };
    const Fits fits = fit(two, 3, errors);
    CHECK(fits.all.parameters == Parameters{2.0});
    CHECK(fits.all.errors == std::vector<double>{0, 0, -4, 0, 0, -5});
    CHECK(fits.all.fitted_error == Approx(9.0 / 6.0));
    CHECK(fits.all.fitted_worst == 5.0);
    REQUIRE(fits.splits.size() == 3);
    CHECK(fits.splits[0].fitted == Workloads{0, 1});
    CHECK(fits.splits[0].fitted_error == 0.0);
    CHECK(fits.splits[0].others_error == 4.5);
    CHECK(fits.splits[0].others_worst == 5.0);
    CHECK(fits.others_worst.value() == 5.0);
    two.loss = Loss::Largest;
    CHECK(fit(two, 3, errors).all.parameters == Parameters{4.0});  // 4.5 lies between 2 and 7
    CHECK(fits.simulations == 3 * 2 * 9);
}

TEST_CASE("A fit of one axis without sets is of all workloads", "[sim][validate]") {
    FitGrid one;
    one.axes = {{.key = "a", .from = 0.0, .to = 8.0, .steps = 3}};
    one.refinements = 2;
    const auto errors = [](const std::vector<FitTask>& tasks) {
        std::vector<double> made;
        for (const FitTask& task : tasks) {
            made.push_back(task.parameters[0] - (task.workload == 0 ? 2.0 : 3.0));
        }
        return made;
    };
    one.loss = Loss::Largest;
    const Fits fits = fit(one, 2, errors);
    CHECK(fits.splits.empty());
    CHECK(fits.all.fitted == Workloads{0, 1});
    CHECK(fits.all.parameters == Parameters{2.0});  // 2 and 3 are as good; the first is taken
    CHECK(fits.all.fitted_error == 0.5);
}

/// Cycles of the memory alone; the second network has twice those of the first.
double memory_cycles(const run::RunSpec& spec, const std::string& first) {
    const double factor = spec.network->name == first ? 1.0 : 2.0;
    return factor * 1e8 / spec.machine.weight_memory.bandwidth_gb_per_s;
}

TEST_CASE("The target's machine is fitted by runs, and null models to the same sets", "[sim][validate]") {
    MadeTarget made;
    made.json["fit"] = nlohmann::json::parse(R"({
        "parameters": [{"key": "weight_memory.bandwidth_gb_per_s", "from": 20, "to": 40, "steps": 5}],
        "refinements": 1, "loss": "mean_absolute", "error": "trial.seen / published - 1", "set_size": 1,
        "measured": "published", "predicted": "null"})");
    // 32.5 GB/s, between two points of the grid.
    made.json["values"] = nlohmann::json::parse(
        R"({"published.A": "1e8 / 32.5", "published.B": "1e8 / 32.5", "null.A": 1, "null.B": 2})");
    const Setup setup = made.setup();
    Formulas formulas = formulas_of(setup);
    MadeUpChip chip([](const run::RunSpec& spec) { return memory_cycles(spec, "network.json"); });
    Runs runs(setup, std::ref(chip));
    const Fits fits = fit(setup, runs, formulas);
    CHECK(fits.all.parameters == Parameters{32.5});
    CHECK(fits.all.fitted_error < 1e-6);
    REQUIRE(fits.splits.size() == 2);
    CHECK(fits.splits[0].null_error.value() == Approx(1.0));  // A's factor makes B twice as long
    CHECK(fits.splits[1].null_error.value() == Approx(0.5));
    CHECK(fits.null_others_mean.value() == Approx(0.75));
    know_fits(fits, setup, formulas);
    CHECK(formulas.value("fit.simulations", "here") == static_cast<double>(fits.simulations));
    CHECK(formulas.value("fit.null_others_mean", "here") == Approx(0.75));
    CHECK(fit(setup, runs, formulas, false).splits.empty());
    CHECK_FALSE(fit(setup, runs, formulas, false).others_mean);
    Setup several = setup;
    several.target.batches = 2;
    CHECK_THROWS_WITH(fit(several, runs, formulas),
                      Catch::EndsWith(": batches is 2; a fit is of one batch alone"));
    several = setup;
    several.target.fit.measured = "table.batch";
    CHECK_THROWS_WITH(fit(several, runs, formulas),
                      Catch::EndsWith("fit.measured: \"table.batch\" is no row of the workloads"));
}

TEST_CASE("Each row of a fit is a run of the target, with the parameters that are its own",
          "[sim][validate]") {
    MadeTarget made;
    made.json["runs"] =
        nlohmann::json::parse(R"({"slow": {"set": {"clock_mhz": 100}, "batches": 2}, "fast": {}})");
    made.json["fit"] = nlohmann::json::parse(R"({
        "rows": [{"name": "slow", "run": "slow", "error": "trial.seen / published - 1"},
                 {"name": "fast", "run": "fast", "error": "trial.seen / published / 10 - 1"}],
        "parameters": [
            {"key": "weight_memory.bandwidth_gb_per_s", "of": ["fast"], "from": 10, "to": 30, "steps": 3},
            {"key": "weight_memory.bandwidth_gb_per_s", "of": ["slow"], "from": 10, "to": 40, "steps": 4}],
        "refinements": 0, "loss": "mean_absolute", "set_size": 1})");
    made.json["values"] = nlohmann::json::parse(R"({"published.A": "1e8 / 20", "published.B": "1e8 / 20"})");
    const Setup setup = made.setup();
    Formulas formulas = formulas_of(setup);
    // Ten times as many cycles at a fast clock; of two batches, twice as many.
    std::set<double> clocks;
    MadeUpChip chip([&](const run::RunSpec& spec) {
        clocks.insert(spec.machine.clock_mhz);
        const double batches = static_cast<double>(spec.compiler.limit) / spec.compiler.batch;
        const double cycles = 1e8 / spec.machine.weight_memory.bandwidth_gb_per_s * batches;
        return spec.machine.clock_mhz == 100 ? cycles : 10 * cycles;
    });
    Runs runs(setup, std::ref(chip));
    const Fits fits = fit(setup, runs, formulas);
    CHECK(clocks.size() == 2);
    CHECK(fits.all.parameters == Parameters{20.0, 20.0});
    CHECK(fits.all.fitted_error == Approx(0.0).margin(1e-9));
    CHECK(fits.simulations == 2 * (3 + 4));  // not 2 rows of 2 networks at each of 12 points
    know_fits(fits, setup, formulas);
    CHECK(formulas.value("fit.errors.slow.A", "here").value() == Approx(0.0).margin(1e-9));
    CHECK(formulas.value("fit.left_out.fast.B", "here").value() == Approx(0.0).margin(1e-9));
    CHECK(formulas.value("fit.worst", "here").value() == Approx(0.0).margin(1e-9));
    CHECK(formulas.value("fit.others_worst", "here").value() == Approx(0.0).margin(1e-9));
}

TEST_CASE("Rows of a fit that name no run are refused", "[sim][validate]") {
    MadeTarget made;
    made.json["fit"] = nlohmann::json::parse(R"({
        "rows": [{"name": "a", "run": "base", "error": "trial.seen / table.cycles - 1"}],
        "parameters": [{"key": "clock_mhz", "of": ["bass"], "from": 1, "to": 2, "steps": 2}],
        "refinements": 0, "loss": "mean_absolute"})");
    const auto message = [&] {
        const Setup setup = made.setup();
        Formulas formulas = formulas_of(setup);
        Runs runs(setup, MadeUpChip([](const run::RunSpec&) { return 1e4; }));
        try {
            fit(setup, runs, formulas);
        } catch (const machine::ConfigError& error) {
            return std::string(error.what());
        }
        return std::string("nothing thrown");
    };
    CHECK_THAT(message(), Catch::EndsWith("fit: clock_mhz is of bass, which is the run of no row"));
    made.json["fit"]["rows"][0]["run"] = "bass";
    CHECK_THAT(message(), Catch::EndsWith("fit: bass is none of the runs"));
    made.json["fit"]["error"] = "trial.seen";
    CHECK_THAT(made.error(), Catch::Contains("fit.error") && Catch::EndsWith("or rows stand in its place"));
}

TEST_CASE("A parameter that the machine does not have is no parameter of a fit", "[sim][validate]") {
    FitGrid none;
    none.axes = {{.key = "weight_memory.speed", .from = 1.0, .to = 2.0, .steps = 2}};
    machine::MachineConfig machine;
    machine.name = "made";
    CHECK_THROWS_WITH(parameters_of(machine, none),
                      "made: weight_memory.speed is no number of it that could be fitted");
}

}  // namespace
}  // namespace systole::validate
