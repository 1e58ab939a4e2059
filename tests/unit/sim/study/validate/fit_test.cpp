#include "sim/study/validate/fit.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <set>

#include "sim/study/validate/simulate.h"
#include "tests/unit/sim/study/validate/shipped.h"

namespace systole::validate {
namespace {

/// A chip whose cycles are known in closed form: so many bytes, so many layers, so much input. The batch of a
/// spec is the number of its workload, from 1.
class Formula {
public:
    std::vector<run::RunRecord> operator()(std::span<const run::RunSpec> specs) {
        std::vector<run::RunRecord> records;
        for (const run::RunSpec& spec : specs) {
            const double w = spec.compiler.batch;
            const double ns = 1e6 * w / spec.machine.weight_memory.bandwidth_gb_per_s +
                              7.0 * w * w * spec.machine.activation_unit.latency_ns +
                              spec.machine.host_interface.latency_ns * (20.0 - 3.0 * w);
            records.push_back(made_record(static_cast<Cycle>(std::llround(ns)), 1'000'000));
            ++runs;
        }
        return records;
    }
    std::size_t runs = 0;
};

const FitGrid grid{.axes = {{{30.0, 34.0, 5}, {0.0, 4000.0, 5}, {0.0, 3000.0, 4}}}, .refinements = 2};

ByWorkload<run::RunSpec> workloads() {
    return by_workload([](std::size_t i) { return batch_of({}, static_cast<std::uint32_t>(i + 1)); });
}

/// Row 2 as it would be published of a chip with these parameters.
ByWorkload<double> published(const Parameters& truth) {
    return of_each(run_all(workloads(), with({}, truth), Formula{}),
                   [](const run::RunRecord& record) { return 100.0 * useful_share(record); });
}

TEST_CASE("A fit finds the parameters that made the figures", "[sim][validate]") {
    const Parameters truth{32.25, 1500.0, 1250.0};  // between the points of the grid as given
    Formula formula;
    const Fits fits = fit_splits(grid, {}, published(truth), workloads(), std::ref(formula));
    CHECK(fits.all.parameters == truth);
    CHECK(fits.all.fitted_error == 0.0);
    CHECK(fits.simulations == formula.runs);
    CHECK(fits.simulations < workload_count * 17 * 17 * 13 / 2);  // of the grid at its finest
}

TEST_CASE("Each three of six are fitted, and the error of the others is kept", "[sim][validate]") {
    const ByWorkload<double> useful{12.5, 9.4, 8.2, 6.3, 78.2, 22.5};
    Formula formula;
    const Fits fits = fit_splits(grid, {}, useful, workloads(), std::ref(formula));
    REQUIRE(fits.splits.size() == 20);
    std::set<std::vector<std::size_t>> different;
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
    CHECK(fits.others_mean == Approx(sum / 20.0));
}

TEST_CASE("Cycles go as one over useful multiply-accumulates", "[sim][validate]") {
    const run::RunRecord measured = made_record(1000, 1000, 2, 2);  // 25 %
    CHECK(cycles_error(25.0, measured) == 0.0);
    CHECK(cycles_error(30.0, measured) == Approx(0.2));  // the chip needed a sixth less than we do
}

}  // namespace
}  // namespace systole::validate
