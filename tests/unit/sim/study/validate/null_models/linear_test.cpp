#include "sim/study/validate/null_models/linear.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <random>
#include <stdexcept>
#include <vector>

namespace systole::null_models {
namespace {

double mean_of_errors(const std::vector<LinearRow>& rows, const std::vector<double>& constants) {
    double sum = 0.0;
    for (const LinearRow& row : rows) sum += std::abs(predicted(row, constants) / row.measured - 1.0);
    return sum / static_cast<double>(rows.size());
}

TEST_CASE("The constants that made the numbers are found", "[sim][validate]") {
    // 2 ms, 3 for each of the second term and 1e-6 for each of the third.
    const std::vector<double> truth{2.0, 3.0, 1e-6};
    std::vector<LinearRow> rows{{.terms = {1, 1, 0}},
                                {.terms = {1, 4, 5e6}},
                                {.terms = {1, 2, 1e6}},
                                {.terms = {1, 9, 0}},
                                {.terms = {1, 3, 8e7}}};
    for (LinearRow& row : rows) row.measured = predicted(row, truth);
    rows[2].measured *= 2.0;  // one of five that does not fit moves none
    const std::vector<double> found = least_absolute(rows);
    REQUIRE(found.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) CHECK(found[i] == Approx(truth[i]));
}

TEST_CASE("No constant is below 0, and one without a term is 0", "[sim][validate]") {
    // A line through both would begin below 0.
    const std::vector<double> found =
        least_absolute({{.measured = 1.0, .terms = {1, 2, 0}}, {.measured = 4.0, .terms = {1, 4, 0}}});
    CHECK(found[0] == 0.0);
    CHECK((found[1] == Approx(0.5) || found[1] == Approx(1.0)));
    CHECK(found[2] == 0.0);
    CHECK(least_absolute({{.measured = 1.0, .terms = {0}}}) == std::vector<double>{0.0});
}

TEST_CASE("Nothing near the constants is better", "[sim][validate]") {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> any(0.1, 1.0);
    for (int round = 0; round < 20; ++round) {
        std::vector<LinearRow> rows;
        for (int i = 0; i < 10; ++i) rows.push_back({any(random), {1.0, any(random), any(random)}});
        const std::vector<double> found = least_absolute(rows);
        const double least = mean_of_errors(rows, found);
        for (std::size_t i = 0; i < found.size(); ++i) {
            for (const double step : {-0.01, -0.001, 0.001, 0.01}) {
                std::vector<double> near = found;
                near[i] += step;
                if (near[i] >= 0.0) CHECK(mean_of_errors(rows, near) >= least - 1e-12);
            }
        }
    }
}

TEST_CASE("More than four constants are refused", "[sim][validate]") {
    CHECK_THROWS_AS(least_absolute({{.measured = 1.0, .terms = {1, 2, 3, 4, 5}}}), std::invalid_argument);
}

}  // namespace
}  // namespace systole::null_models
