#include <catch2/catch.hpp>

#include "sim/study/validate/comparison.h"
#include "tests/unit/sim/study/validate/shipped.h"

namespace systole::validate {
namespace {

TEST_CASE("MLP0's part of its pair's weight makes Table 6's weighted means", "[sim][validate]") {
    const Published published = shipped_figures();
    CHECK(mlp0_part(published, TpuOverCpu) == Approx(0.9465).margin(1e-3));
    CHECK(mlp0_part(published, GpuOverCpu) == Approx(0.9557).margin(1e-3));

    const ByWorkload<double> weights = weights_of(published);
    double sum = 0.0;
    for (const double weight : weights) sum += weight;
    CHECK(sum == Approx(1.0));
    for (const Ratio row : {GpuOverCpu, TpuOverCpu}) {
        CHECK(weighted_mean(weights, published.table_6(row)) ==
              Approx(published.row("table_6.weighted_mean", ratio_names)[row]).epsilon(0.005));
    }
}

TEST_CASE("Geometric means of Table 6 are the printed ones", "[sim][validate]") {
    const Published published = shipped_figures();
    CHECK(geometric_mean(published.table_6(GpuOverCpu)) == Approx(1.1).margin(0.05));
    CHECK(geometric_mean(published.table_6(TpuOverCpu)) == Approx(14.5).margin(0.06));
}

TEST_CASE("Weights follow deployment", "[sim][validate]") {
    const ByWorkload<double> weights = weights_of(shipped_figures());
    CHECK(weights[MLP0] + weights[MLP1] == Approx(61.0 / 95.0));
    CHECK(weights[LSTM0] == weights[LSTM1]);
    CHECK(weights[CNN0] + weights[CNN1] == Approx(5.0 / 95.0));
}

}  // namespace
}  // namespace systole::validate
