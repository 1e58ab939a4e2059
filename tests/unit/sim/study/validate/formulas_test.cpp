#include "sim/study/validate/formulas.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "hw/machine/config_error.h"

namespace systole::validate {
namespace {

/// Rows over two lists of which one has the elements of the other, and a list of its own.
Formulas made() {
    Formulas formulas(
        {{"workloads", {{.name = "A", .more = {}}, {.name = "B", .more = {}}, {.name = "C", .more = {}}}},
         {"some", {{.name = "A", .more = {}}, {.name = "B", .more = {}}}},
         {"scales", {{.name = "half", .more = {}}, {.name = "double", .more = {}}}}},
        "f.json");
    formulas.know("one", 1.0);
    formulas.know("none", std::nullopt);
    formulas.know("x.A", 1.0);
    formulas.know("x.B", 2.0);
    formulas.know("x.C", 4.0);
    formulas.know("x.mean", 99.0);  // no element: published beside the row
    formulas.define("twice", "2 * x");
    formulas.define("sum", "sum_of.twice + one");
    formulas.define("weights.A", "0.5");
    formulas.define("weights.B", "0.25");
    formulas.define("weights.C", "0.25");
    formulas.define("curve.half", "-3");
    formulas.define("curve.double", "2");
    formulas.define("curves.x.half", "5");
    formulas.define("curves.x.double", "-7");
    return formulas;
}

Formulas with_curves() {
    Formulas formulas = made();
    formulas.define("nested.half", "x");
    formulas.define("nested.double", "-2 * x");
    return formulas;
}

std::string error_of(Formulas& formulas, const std::string& formula) {
    try {
        static_cast<void>(formulas.value(formula, "here"));
    } catch (const machine::ConfigError& error) {
        return error.what();
    }
    return "nothing thrown";
}

TEST_CASE("A formula has the value of known numbers, of named formulas and of rows' elements",
          "[sim][validate][formulas]") {
    Formulas formulas = made();
    CHECK(formulas.value("one + x.B", "here") == 3.0);
    CHECK(formulas.value("twice.C", "here") == 8.0);
    CHECK(formulas.value("sum", "here") == 15.0);
    CHECK(formulas.value("x.mean", "here") == 99.0);
    CHECK(formulas.value("twice + one", "B", "here") == 5.0);
    CHECK(formulas.value("one ? twice.A : 7", "here") == 2.0);
}

TEST_CASE("A formula that names a row is a row, in the order of its list", "[sim][validate][formulas]") {
    Formulas formulas = made();
    using Row = std::vector<std::pair<std::string, Number>>;
    CHECK(formulas.row("x + one", "here") == Row{{"A", 2.0}, {"B", 3.0}, {"C", 5.0}});
    CHECK(formulas.row("twice", "here") == Row{{"A", 2.0}, {"B", 4.0}, {"C", 8.0}});
    CHECK(formulas.row("curve", "here") == Row{{"half", -3.0}, {"double", 2.0}});
    CHECK(formulas.list_of("one + x.A", "here") == nullptr);
    CHECK(formulas.list_of("x", "here")->size() == 3);  // not the shorter list, which it has, too
}

TEST_CASE("Numbers for other elements than those of one list are no row", "[sim][validate][formulas]") {
    Formulas formulas = made();
    formulas.know("part.A", 1.0);
    formulas.know("part.C", 2.0);
    CHECK(error_of(formulas, "mean_of.part") ==
          "f.json: here: part has numbers for A, C; these are the elements of no list");
    CHECK_THROWS_WITH(formulas.row("part", "here"), Catch::Contains("these are the elements of no list"));
    CHECK_THAT(error_of(formulas, "mean_of.some.part"), Catch::StartsWith("f.json: here names part.B, "));
    formulas.know("part.half", 3.0);
    CHECK(error_of(formulas, "mean_of.part") ==
          "f.json: here: part has numbers for A, C, half; these are the elements of no list");
    // One number has no elements.
    CHECK_THAT(error_of(formulas, "sum.A"), Catch::StartsWith("f.json: here names sum.A, "));
    CHECK_THAT(error_of(formulas, "one.A"), Catch::StartsWith("f.json: here names one.A, "));
}

TEST_CASE("The weights of a mean have the sum 1", "[sim][validate][formulas]") {
    Formulas formulas = made();
    CHECK(error_of(formulas, "wm_of.some.x") ==
          "f.json: here: the weights of x have the sum 0.75; it must be 1");
}

TEST_CASE("Formulas of formulas of formulas take no time", "[sim][validate][formulas]") {
    Formulas formulas = made();
    formulas.define("t0", "x");
    formulas.define("t1", "x");
    for (int i = 2; i < 80; ++i) {
        formulas.define("t" + std::to_string(i),
                        "t" + std::to_string(i - 1) + " + t" + std::to_string(i - 2));
    }
    CHECK(formulas.value("t79.A", "here") > 1e16);
}

TEST_CASE("What is forgotten is not known", "[sim][validate][formulas]") {
    Formulas formulas = made();
    formulas.forget("x.");
    CHECK_THAT(error_of(formulas, "x.A"), Catch::StartsWith("f.json: here names x.A, "));
    CHECK(formulas.value("one", "here") == 1.0);
}

TEST_CASE("Words make one number of a row", "[sim][validate][formulas]") {
    Formulas formulas = made();
    CHECK(formulas.value("sum_of.x", "here") == 7.0);
    CHECK(formulas.value("mean_of.x", "here") == Approx(7.0 / 3.0));
    CHECK(formulas.value("gm_of.x", "here") == Approx(2.0));
    CHECK(formulas.value("wm_of.x", "here") == Approx(0.5 + 0.5 + 1.0));
    CHECK(formulas.value("least_of.x", "here") == 1.0);
    CHECK(formulas.value("most_of.x", "here") == 4.0);
    CHECK(formulas.value("mean_size_of.curve", "here") == 2.5);
    CHECK(formulas.value("largest_size_of.curve", "here") == 3.0);
    CHECK(formulas.value("farthest_of.curve", "here") == -3.0);
    CHECK(formulas.value("mean_of.some.x", "here") == 1.5);
    CHECK(formulas.value("most_of.some.twice", "here") == 4.0);
}

TEST_CASE("Words take all numbers below a name, at any depth", "[sim][validate][formulas]") {
    Formulas formulas = with_curves();
    CHECK_THAT(error_of(formulas, "largest_size_of.curves"),
               Catch::Contains(" names curves, "));  // x is no element
    CHECK(formulas.value("largest_size_of.curves.x", "here") == 7.0);
    CHECK(formulas.value("largest_size_of.nested", "here") == 8.0);
    CHECK(formulas.value("sum_of.nested", "here") == -7.0);
    CHECK(formulas.value("farthest_of.nested.half", "here") == 4.0);
}

TEST_CASE("What follows from an absent number is absent", "[sim][validate][formulas]") {
    Formulas formulas = made();
    CHECK_FALSE(formulas.value("none + 1", "here"));
    CHECK_FALSE(formulas.value("1 / (one - 1)", "here"));
    CHECK_FALSE(formulas.value("response_time(1, 0.99)", "here"));
    CHECK(formulas.value("largest_load(0.5, 0.99)", "here") == 0.0);
    CHECK_FALSE(formulas.value("response_time(0.5, 99)", "here"));  // per cent
    CHECK_FALSE(formulas.value("largest_load(5, 1)", "here"));
    formulas.know("x.B", -2.0);
    CHECK_FALSE(formulas.value("gm_of.x", "here"));  // has no logarithm
    formulas.know("x.B", std::nullopt);
    CHECK_FALSE(formulas.value("mean_of.x", "here"));
    CHECK_FALSE(formulas.value("mean_of.twice", "here"));
    CHECK(formulas.row("twice", "here")[2].second == 8.0);
}

TEST_CASE("A number that becomes known changes what follows from it", "[sim][validate][formulas]") {
    Formulas formulas = made();
    CHECK(formulas.value("sum", "here") == 15.0);
    formulas.know("x.A", 11.0);
    CHECK(formulas.value("sum", "here") == 35.0);
}

TEST_CASE("Some names may stand for other numbers in one formula", "[sim][validate][formulas]") {
    Formulas formulas = made();
    CHECK(formulas.value("trial.x + x", "B", {{"trial.x", 10.0}}, "here") == 12.0);
    CHECK(formulas.value("one", {}, {{"one", 5.0}}, "here") == 5.0);
}

TEST_CASE("A function of rows is a number with a name", "[sim][validate][formulas]") {
    Formulas formulas = made();
    formulas.define("last_of_both",
                    [](std::span<const std::vector<double>> rows) { return rows[0].back() + rows[1].back(); },
                    {"x", "10 * twice"});
    CHECK(formulas.value("last_of_both + 1", "here") == 85.0);
    std::set<std::string> needs;
    formulas.add_needs("last_of_both", needs, "here");
    CHECK(needs.contains("x"));
    formulas.define("of_two_lists", [](std::span<const std::vector<double>>) { return 0.0; }, {"x", "curve"});
    CHECK(error_of(formulas, "of_two_lists") ==
          "f.json: values.of_two_lists: \"x\" and \"curve\" are rows of different lists");
}

TEST_CASE("What a formula needs is found before the numbers are known", "[sim][validate][formulas]") {
    Formulas formulas = made();
    formulas.define("speed.half", "base.seconds / other.seconds");
    formulas.define("mean.half", "wm_of.speed.half");
    std::set<std::string> needs;
    CHECK_THROWS_WITH(
        formulas.add_needs("speed.half", needs, "here"),
        Catch::StartsWith("f.json: values.speed.half names base.seconds, which stands for no number"));
    formulas.expect({"base.seconds", "other.seconds"});
    needs.clear();
    formulas.add_needs("most_of.some.mean", needs, "here");
    for (const char* const name : {"base.seconds", "other.seconds", "weights"}) {
        INFO(name);
        CHECK(needs.contains(name));
    }
    std::set<std::string> of_element;
    formulas.add_needs("speed.half.A", of_element, "here");
    CHECK(of_element.contains("base.seconds"));
}

TEST_CASE("Texts have numbers of formulas in braces", "[sim][validate][formulas]") {
    Formulas formulas = made();
    CHECK(formulas.filled("x{10 * x.C:.1f}, {none:.0f} {one:.2f}.", "here") == "x40.0, - 1.00.");
    CHECK(formulas.filled("none", "here") == "none");
    CHECK(formulas.formulas_in("{a:.1f} and {b + c:.0f}", "here") == std::vector<std::string>{"a", "b + c"});
    for (const char* const broken : {"{one}", "{one:.1f", "{one:1f}", "{one:.1d}", "{:.1f"}) {
        INFO(broken);
        CHECK_THROWS_WITH(
            formulas.filled(broken, "here"),
            Catch::Contains("f.json: here: \"" + std::string(broken) +
                            "\": braces have a formula and its digits, as {base.cycles.MLP0:.1f}"));
    }
}

TEST_CASE("An error in a formula is one line with its place", "[sim][validate][formulas]") {
    Formulas formulas = made();
    CHECK(error_of(formulas, "twicce.A + 1") ==
          "f.json: here names twicce.A, which stands for no number here; did you mean \"twice\"?");
    CHECK_THAT(error_of(formulas, "x.D"),
               Catch::StartsWith("f.json: here names x.D, which stands for no number"));
    CHECK_THAT(error_of(formulas, "mean_of.y"), Catch::StartsWith("f.json: here names y, "));
    CHECK_THAT(error_of(formulas, "1 +"), Catch::StartsWith("f.json: here is \"1 +\": "));
    CHECK(error_of(formulas, "twice + 1") ==
          "f.json: here names twice, a row of numbers; a word like mean_of makes one of it");
    CHECK_THROWS_WITH(formulas.row("one", "here"), "f.json: here: \"one\" is one number; a row is needed");
    CHECK_THROWS_WITH(formulas.row("x + curve", "here"),
                      "f.json: here: \"x + curve\" names rows of different lists");
    formulas.define("f", [](std::span<const std::vector<double>>) { return 0.0; }, {"x * f"});
    CHECK_THAT(error_of(formulas, "f"), Catch::Contains("values.f: its formula leads back to itself"));
    formulas.define("a", "b + x");
    formulas.define("b", "2 * a");
    CHECK_THAT(error_of(formulas, "a"), Catch::Contains("its formula leads back to itself"));
    CHECK_THROWS_WITH(formulas.define("c", "1 +"), Catch::StartsWith("f.json: values.c is \"1 +\": "));
}

TEST_CASE("The numbers of a JSON document have dotted names", "[sim][validate][formulas]") {
    const auto json = nlohmann::ordered_json::parse(R"({"a": {"b": 2, "c": "no"}, "d": true, "e": [1]})");
    const std::map<std::string, Number> expected{{"m.a.b", 2.0}, {"m.d", 1.0}};
    CHECK(flattened(json, "m.") == expected);
}

}  // namespace
}  // namespace systole::validate
