// What a TPU is the wrong machine for: the programs of models/wrong_machine on one core of a Cloud TPU, with
// values, and what an advice says of each.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/sanitizers.h"
#include "tests/system/sim_process.h"

using namespace systole;
using namespace systole::tests;
using Json = nlohmann::ordered_json;

namespace {

std::string program(const std::string& name) {
    return "models/wrong_machine/" + name + ".hlo.gz --machine tpu_v2_1core ";
}

/// A call with made-up input and values.
Json computed(const std::string& name) {
    const Json report = report_of(program(name) + "--random-input 1 --limit 1");
    CHECK(report.at("first_outputs").at(0).at("first").size() == 8);
    for (const Json& number : report.at("first_outputs").at(0).at("first")) CHECK(number.is_number());
    return report;
}

/// Four calls without values.
Json timed(const std::string& name) {
    return report_of(program(name) + "--timing-only --limit 4");
}

double number(const Json& report, const char* pointer) {
    return report.at(Json::json_pointer(pointer)).get<double>();
}

double array_active(const Json& report) {
    return number(report, "/matrix_unit/active_cycles") / number(report, "/cycles");
}

struct Advice {
    Json point;
    std::string reasons;  ///< why the machine is the wrong one
};

Advice advice_of(const std::string& name) {
    const Outcome outcome = sim("advise " + program(name) + "--json");
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    const Json advice = outcome.json();
    REQUIRE(advice.at("points").size() == 1);  // its batch is in its shapes
    Advice found{.point = advice.at("points").at(0), .reasons = {}};
    bool is_reason = false;
    for (const std::string sentence : advice.at("sentences")) {
        is_reason = sentence.find("is the wrong machine for") != std::string::npos ||
                    (is_reason && sentence.starts_with("Besides, "));
        if (is_reason) found.reasons += sentence;
    }
    return found;
}

}  // namespace

TEST_CASE("Products fill the array of a Cloud TPU, and nothing is said against it",
          "[system][wrong_machine]") {
    const Json report = timed("product");
    CHECK(array_active(report) > 0.85);
    CHECK(number(report, "/tops/achieved") > 0.85 * number(report, "/tops/peak"));
    const Advice advice = advice_of("product");
    CHECK(advice.point.at("bound_by") == "array");
    CHECK(advice.reasons.empty());
    computed("product");
}

TEST_CASE("Element-wise work leaves the array idle", "[system][wrong_machine]") {
    if (is_instrumented) {
        WARN("SKIPPED: takes minutes under sanitizers");
        return;
    }
    const Json report = computed("element_wise");
    CHECK(array_active(report) == 0.0);
    CHECK(number(report, "/units/matrix_unit/multiply_accumulates") == 0);
    CHECK(number(timed("element_wise"), "/bounds/vector") > 0.7 * number(timed("element_wise"), "/cycles"));
    const Advice advice = advice_of("element_wise");
    CHECK(advice.point.at("bound_by") == "vector");
    CHECK_THAT(advice.reasons, Catch::Contains("works in 0.0 % of the cycles; elements are worked on in"));
    CHECK_THAT(advice.reasons, Catch::Contains("(vector-bound)"));
}

TEST_CASE("Rows at places from data take a hundred times the cycles of the same rows by a product",
          "[system][wrong_machine]") {
    if (is_instrumented) {
        WARN("SKIPPED: takes minutes under sanitizers");
        return;
    }
    const Json sparse = timed("sparse_access");
    const Json product = timed("sparse_as_product");
    CHECK(array_active(sparse) == 0.0);
    CHECK(number(sparse, "/bounds/hbm") > 0.9 * number(sparse, "/cycles"));
    CHECK(number(sparse, "/cycles") > 100 * number(product, "/cycles"));
    const Advice advice = advice_of("sparse_access");
    CHECK(advice.point.at("bound_by") == "hbm");
    // 256 rows of 64 numbers, each compared with the 2,048 of the table.
    CHECK_THAT(advice.reasons, Catch::Contains("33,554,432 elements are compared for 16,384 that are found"));
    // By a product the table is rounded to bfloat16; rows that are taken are exact.
    CHECK(advice_of("sparse_as_product").reasons.find("compared") == std::string::npos);
    const Json exact = computed("sparse_access").at("first_outputs").at(0).at("first");
    const Json rounded = computed("sparse_as_product").at("first_outputs").at(0).at("first");
    for (std::size_t i = 0; i < exact.size(); ++i) {
        CHECK(rounded.at(i).get<double>() == Approx(exact.at(i).get<double>()).epsilon(1.0 / 256));
        CHECK(rounded.at(i) != exact.at(i));
    }
}

TEST_CASE("Products of float32 take six passes each", "[system][wrong_machine]") {
    if (is_instrumented) {
        WARN("SKIPPED: takes minutes under sanitizers");
        return;
    }
    const Json product = timed("product");
    const Json precise = timed("high_precision");
    CHECK(number(precise, "/matrix_unit/active_cycles") == 6 * number(product, "/matrix_unit/active_cycles"));
    CHECK(number(precise, "/bounds/fill") == Approx(1.0 / 6));
    CHECK(number(precise, "/cycles") > 5 * number(product, "/cycles"));
    CHECK(number(precise, "/tops/achieved") < number(precise, "/tops/peak") / 6);
    const Advice advice = advice_of("high_precision");
    CHECK(advice.point.at("passes") == 6.0);
    CHECK_THAT(advice.reasons, Catch::Contains("passes the array 6.0 times") && Catch::Contains("16.7 %"));
    // The same numbers, but for what bfloat16 loses in 64 turns.
    const Json rough = computed("product").at("first_outputs").at(0).at("first");
    const Json exact = computed("high_precision").at("first_outputs").at(0).at("first");
    for (std::size_t i = 0; i < exact.size(); ++i) {
        CHECK(rough.at(i).get<double>() == Approx(exact.at(i).get<double>()).epsilon(0.5));
        CHECK(rough.at(i) != exact.at(i));
    }
}

TEST_CASE("Of branches by data all are computed, and the others thrown away", "[system][wrong_machine]") {
    const Json report = timed("branches");
    // 16 turns of four products of 512 x 512 matrices, as many as `product` has in 64 turns.
    CHECK(number(report, "/matrix_unit/active_cycles") ==
          number(timed("product"), "/matrix_unit/active_cycles"));
    CHECK_THAT(advice_of("branches").reasons,
               Catch::Contains("16 choices among branches follow data") &&
                   Catch::Contains("75.0 % of the multiply-accumulates are thrown away"));
    computed("branches");
}

TEST_CASE("Doubles and loops that end by data are refused in a line", "[system][wrong_machine]") {
    const auto refusal = [](const std::string& command, const std::string& name) {
        const Outcome outcome = sim(command + " " + program(name) + "--timing-only");
        CHECK(outcome.exit_code == 2);
        CHECK(outcome.out.empty());
        CHECK(std::ranges::count(outcome.err, '\n') == 1);
        return outcome.err;
    };
    CHECK_THAT(refusal("run", "double_precision"), Catch::Contains("its type is f64"));
    CHECK_THAT(refusal("run", "while_by_data"), Catch::Contains("how often its body runs depends on data"));
    const Outcome advice = sim("advise " + program("while_by_data"));
    CHECK(advice.exit_code == 2);
    CHECK_THAT(advice.err, Catch::Contains("how often its body runs depends on data"));
}
