#include "sim/view/page/side_by_side.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "hw/machine/config_error.h"
#include "tests/support/csv.h"
#include "tests/unit/sim/view/page/small_report.h"

using namespace systole;
using Json = nlohmann::ordered_json;
using page::NamedReport;
using page::SideBySide;

namespace {

NamedReport named(const std::string& name, const Json& changes = Json::object()) {
    Json report = tests::small_report();
    for (const auto& [place, value] : changes.items()) report[Json::json_pointer(place)] = value;
    return {.name = name, .report = report};
}

const page::Figure& figure(const SideBySide& compared, const std::string& name) {
    const auto found = std::ranges::find(compared.figures, name, &page::Figure::name);
    INFO(name);
    REQUIRE(found != compared.figures.end());
    return *found;
}

std::vector<std::string> names_of(const std::vector<std::string>& paths) {
    std::vector<NamedReport> reports;
    for (const std::string& path : paths) reports.push_back(named(path));
    return page::short_names(reports);
}

std::string error_against(const std::string& against) {
    const std::vector<NamedReport> reports{named("r/base"), named("r/other")};
    try {
        page::find_report(reports, against);
    } catch (const machine::ConfigError& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace

TEST_CASE("Reports are named by what their paths do not share", "[page]") {
    using Names = std::vector<std::string>;
    CHECK(names_of({"r/base", "r/fifo/report.json"}) == Names{"base", "fifo"});
    CHECK(names_of({"r/a/x/", "r/b/x"}) == Names{"a/x", "b/x"});
    CHECK(names_of({"a", "a"}) == Names{"a", "a"});
    CHECK(names_of({"one/two/report.json"}) == Names{"two"});
    CHECK(names_of({"/tmp/a", "b"}) == Names{"/tmp/a", "b"});
}

TEST_CASE("A report is chosen by path, short name or number", "[page]") {
    const std::vector<NamedReport> reports{named("r/base"), named("r/2"), named("r/last")};
    CHECK(page::find_report(reports, "r/last") == 2);
    CHECK(page::find_report(reports, "base") == 0);
    CHECK(page::find_report(reports, "3") == 2);
    CHECK(page::find_report(reports, "2") == 1);  // its name
    CHECK(error_against("0") ==
          "--against is \"0\"; it must be the name of a report, or its number from 1 to 2; there are "
          "base, other");
    CHECK(error_against("othr").find("did you mean \"other\"?") != std::string::npos);
    CHECK(error_against("1x").find("from 1 to 2") != std::string::npos);
}

TEST_CASE("Figures of the same work at one clock can be better or worse", "[page]") {
    const std::vector<NamedReport> reports{named("a"), named("b", {{"/cycles", 24}})};
    const SideBySide compared = page::side_by_side(reports, 0);
    CHECK(figure(compared, "cycles").values == std::vector<std::optional<double>>{12.0, 24.0});
    CHECK(figure(compared, "cycles").better == -1);
    CHECK(figure(compared, "throughput").better == 1);
    CHECK(figure(compared, "weight stall").values[1] == Approx(3.0 / 24.0));
    CHECK(figure(compared, "performance").values[0] == 0.25e12);
    CHECK(compared.is_comparable(1));
    CHECK_FALSE(compared.each_inference);
    // Nobody has an accuracy.
    CHECK(std::ranges::find(compared.figures, "accuracy", &page::Figure::name) == compared.figures.end());
}

TEST_CASE("Cycles at other clocks are neither better nor worse", "[page]") {
    const std::vector<NamedReport> reports{named("a", {{"/configuration/machine/clock_mhz", 700.0}}),
                                           named("b", {{"/configuration/machine/clock_mhz", 350.5}})};
    const SideBySide compared = page::side_by_side(reports, 0);
    CHECK(figure(compared, "cycles").better == 0);
    CHECK(figure(compared, "array active").better == 0);
    CHECK(figure(compared, "time").better == -1);
    REQUIRE(compared.keys.size() == 1);
    CHECK(compared.keys[0].key == "machine.clock_mhz");
    CHECK(compared.keys[0].values == std::vector<std::optional<std::string>>{"700", "350.5"});
}

TEST_CASE("Layers at different clocks are compared in time, beside their cycles", "[page]") {
    const auto layers = [](int x, int y) {
        return Json::array({{{"name", "x"}, {"cycles", x}}, {{"name", "y"}, {"cycles", y}}});
    };
    const std::vector<NamedReport> reports{
        named("a", {{"/configuration/machine/clock_mhz", 1000.0}, {"/layers", layers(2000, 40)}}),
        named("b", {{"/configuration/machine/clock_mhz", 500.0}, {"/layers", layers(1500, 20)}}),
        named("c", {{"/configuration/machine/clock_mhz", nullptr}, {"/layers", layers(7, 8)}})};
    const SideBySide compared = page::side_by_side(reports, 0);
    using Values = std::vector<std::optional<double>>;
    CHECK(compared.clocks_mhz == Values{1000.0, 500.0, std::nullopt});
    CHECK(compared.layers[0].cycles == Values{2000.0, 1500.0, 7.0});
    CHECK(compared.layers[0].seconds[0].value() == Approx(2e-6));
    CHECK(compared.layers[0].seconds[1].value() == Approx(3e-6));
    CHECK_FALSE(compared.layers[0].seconds[2].has_value());
    CHECK(figure(compared, "cycles").of_clock);
    CHECK_FALSE(figure(compared, "time").of_clock);
    const std::string text = page::to_text(compared, {.columns = 200});
    CHECK(text.find("Time by layer") != std::string::npos);
    CHECK(text.find("a at 1000 MHz") != std::string::npos);
    CHECK(text.find("c at an unknown clock") != std::string::npos);
    CHECK(text.find("3.00 us (+50 %), 1,500 cycles") != std::string::npos);  // more time, in fewer cycles
    CHECK(text.find("12 at 500 MHz") != std::string::npos);                  // of the run: no percent
    const Json json = page::to_json(compared);
    CHECK(json["clocks_mhz"] == Json::array({1000.0, 500.0, nullptr}));
    CHECK(json["layers"][0]["seconds"][2].is_null());
    const tests::Csv csv = tests::read_csv(page::to_csv(compared));
    CHECK(csv.lines[1].at("cycles of x") == "1500");
    CHECK(std::stod(csv.lines[1].at("seconds of x")) == Approx(3e-6));
    CHECK(csv.lines[2].at("seconds of x").empty());
    CHECK(csv.lines[1].at("cycles_difference").empty());
    // At one clock, the same numbers are cycles.
    const SideBySide same = page::side_by_side(std::vector{reports[0], reports[0]}, 0);
    CHECK(same.clocks_mhz.empty());
    CHECK(same.layers[0].seconds.empty());
    CHECK(page::to_text(same).find("Cycles by layer") != std::string::npos);
}

TEST_CASE("Differences of shares are in percentage points", "[page]") {
    const std::vector<NamedReport> reports{named("a", {{"/accuracy", 0.36}}),
                                           named("b", {{"/accuracy", 0.682}})};
    const SideBySide compared = page::side_by_side(reports, 0);
    const std::string text = page::to_text(compared);
    CHECK(text.find("68.2 % (+32.2 points)") != std::string::npos);
    CHECK(text.find("Differences of shares are in percentage points.") != std::string::npos);
    const tests::Csv csv = tests::read_csv(page::to_csv(compared));
    CHECK(std::stod(csv.lines[1].at("accuracy_difference")) == Approx(0.322));
}

TEST_CASE("Different numbers of inferences are compared for each of them", "[page]") {
    const std::vector<NamedReport> reports{named("a"), named("b", {{"/inferences", 4}})};
    const SideBySide compared = page::side_by_side(reports, 0);
    CHECK(compared.each_inference);
    CHECK(figure(compared, "cycles an inference").values[1] == 3.0);
    CHECK(figure(compared, "time an inference").better == -1);
    CHECK(compared.layers.at(0).cycles == std::vector<std::optional<double>>{12.0, 3.0});
}

TEST_CASE("Reports of different networks are not comparable", "[page]") {
    const std::vector<NamedReport> reports{named("a"), named("b", {{"/model", "other"}}), named("c"),
                                           named("d", {{"/layers/0/macs_per_inference", 7}})};
    const SideBySide compared = page::side_by_side(reports, 0);
    CHECK(compared.networks == std::vector<std::size_t>{0, 1, 0, 3});
    CHECK_FALSE(compared.is_comparable(1));
    CHECK(compared.is_comparable(2));
    CHECK_FALSE(compared.is_comparable(3));  // the same name, other layers
    CHECK(page::to_text(compared).find("b runs another network, other: ") != std::string::npos);
}

TEST_CASE("Tags that a program names alike are one layer, with the cycles of all", "[page]") {
    const auto layer = [](const char* name, int cycles) { return Json{{"name", name}, {"cycles", cycles}}; };
    const std::vector<NamedReport> reports{
        named("a", {{"/layers", {layer("x", 3), layer("y", 5), layer("x", 4)}}}),
        named("b", {{"/layers", {layer("y", 11), layer("y", 13)}}})};
    const SideBySide compared = page::side_by_side(reports, 0);
    REQUIRE(compared.layers.size() == 2);
    CHECK(compared.layers[0].name == "x");
    CHECK(compared.layers[0].cycles == std::vector<std::optional<double>>{7.0, std::nullopt});
    CHECK(compared.layers[1].cycles == std::vector<std::optional<double>>{5.0, 24.0});
}

TEST_CASE("Differing keys leave out what says nothing, and say what is not there", "[page]") {
    const std::vector<NamedReport> reports{
        named("a", {{"/configuration/run",
                     {{"out", "a"}, {"input", {"x", "y"}}, {"machine_settings", {{"k", 1}}}}}}),
        named("b", {{"/configuration/run", {{"out", "b"}, {"input", {"x"}}, {"labels", nullptr}}}})};
    const SideBySide compared = page::side_by_side(reports, 0);
    REQUIRE(compared.keys.size() == 2);
    CHECK(compared.keys[0].key == "run.input");
    CHECK(compared.keys[0].values == std::vector<std::optional<std::string>>{"x, y", "x"});
    CHECK(compared.keys[1].values == std::vector<std::optional<std::string>>{std::nullopt, ""});
}

TEST_CASE("The text shows differences to the chosen report, and keeps its width", "[page]") {
    std::vector<NamedReport> reports;
    for (int i = 0; i < 20; ++i) {
        reports.push_back(named("run_" + std::to_string(i), {{"/cycles", 100 + i}, {"/batch", i}}));
    }
    const auto columns = GENERATE(std::size_t{80}, std::size_t{120});
    const std::string text = page::to_text(page::side_by_side(reports, 10), {.columns = columns});
    CHECK(text.starts_with("20 reports side by side; differences are to run_10\n"));
    CHECK(text.find("119 (+8.2 %)") != std::string::npos);
    CHECK(text.find("110 (") == std::string::npos);
    for (int i = 0; i < 20; ++i) {
        INFO(i);
        CHECK(text.find("run_" + std::to_string(i)) != std::string::npos);
    }
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        INFO(line);
        CHECK(line.size() <= columns);
    }
}

TEST_CASE("The text prints a throughput as the text of a run does", "[page]") {
    const std::vector<NamedReport> reports{named("a", {{"/inferences_per_second", 535123.4}}), named("b")};
    const std::string text = page::to_text(page::side_by_side(reports, 0));
    CHECK(text.find("535,123 inf/s") != std::string::npos);
    CHECK(text.find("2.00 inf/s (-100 %)") != std::string::npos);
}

TEST_CASE("The text lists ten layers, or all", "[page]") {
    Json layers = Json::array();
    for (int i = 0; i < 30; ++i) {
        Json layer = tests::small_report()["layers"][0];
        layer["name"] = "layer_" + std::to_string(i);
        layer["cycles"] = i;
        layers.push_back(layer);
    }
    const std::vector<NamedReport> reports{named("a", {{"/layers", layers}}),
                                           named("b", {{"/layers", layers}})};
    const SideBySide compared = page::side_by_side(reports, 0);
    const std::string text = page::to_text(compared);
    CHECK(text.find("layer_29") != std::string::npos);
    CHECK(text.find("layer_19") == std::string::npos);
    CHECK(text.find("(20 others)") != std::string::npos);
    CHECK(text.find("190 (same)") != std::string::npos);
    const std::string all = page::to_text(compared, {}, true);
    CHECK(all.find("layer_19") != std::string::npos);
    CHECK(all.find("others") == std::string::npos);
}

TEST_CASE("CSV has a line for each report, and quotes what needs it", "[page]") {
    const std::vector<NamedReport> reports{named("a,\"1\""),
                                           named("b", {{"/cycles", 15}, {"/seconds", 0.25}})};
    const tests::Csv csv = tests::read_csv(page::to_csv(page::side_by_side(reports, 0)));
    REQUIRE(csv.lines.size() == 2);
    CHECK(csv.lines[0].at("report") == "a,\"1\"");
    CHECK(csv.lines[1].at("cycles") == "15");
    CHECK(csv.lines[1].at("cycles_difference") == "0.25");
    CHECK(csv.lines[0].at("cycles_difference") == "0");
    CHECK(csv.lines[1].at("time") == "0.25");
    CHECK(csv.lines[1].at("cycles of l") == "12");
}
