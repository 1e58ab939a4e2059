#include "sim/view/page/page.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "hw/machine/config_error.h"
#include "hw/machine/main_units.h"
#include "tests/unit/sim/view/page/small_report.h"

using namespace systole;
using tests::small_report;
using Json = nlohmann::ordered_json;

namespace {

/// The reports in the page, read back from its <script>.
Json reports_in(const std::string& html) {
    const std::string begin = R"(<script type="application/json" id="reports">)";
    const std::size_t at = html.find(begin);
    REQUIRE(at != std::string::npos);
    const std::size_t first = at + begin.size();
    return Json::parse(html.substr(first, html.find("</script>", first) - first));
}

std::string page_of(const Json& report) {
    const std::vector<page::NamedReport> reports{{.name = "a", .report = report}};
    return page::to_html(reports);
}

std::string error_of(const Json& report) {
    try {
        page::parse_report(report.dump(), "r.json");
    } catch (const machine::ConfigError& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace

TEST_CASE("The page has the words for all reasons, which reports of TPU v1 leave out", "[page]") {
    const std::string html = page_of(small_report());
    const std::string begin = R"(<script type="application/json" id="part-words">)";
    const std::size_t first = html.find(begin) + begin.size();
    const Json words = Json::parse(html.substr(first, html.find("</script>", first) - first));
    const machine::MainUnit& array = machine::main_unit_named("matrix_unit");
    CHECK(words.size() == array.parts.size());
    for (const machine::CyclePart& part : array.parts) {
        const Json& of_part = words.at(part.counter.substr(part.counter.rfind('.') + 1));
        CHECK(of_part == Json{{"name", part.name}, {"meaning", part.meaning}});
    }
}

TEST_CASE("The embedded page is whole and has places for its data", "[page]") {
    const std::string_view page = page::embedded_page();
    CHECK(page.find("@FIGURES@") < page.find("@PART_WORDS@"));
    CHECK(page.find("@PART_WORDS@") < page.find("@REPORTS@"));
    CHECK(page.find("@REPORTS@") < page.find("@SIDE_BY_SIDE@"));
    CHECK(page.find("@SIDE_BY_SIDE@") < page.find("@STUDY@"));
    CHECK(page.find("@STUDY@") < page.find("@POINT_REPORTS@"));
    CHECK(page.find("@POINT_REPORTS@") != std::string_view::npos);
    CHECK(page.starts_with("<!doctype html>"));
    CHECK(page.ends_with("</html>\n"));
    const std::size_t place = page.find("@REPORTS@");
    REQUIRE(place != std::string_view::npos);
    CHECK(page.find("@STYLE@") == std::string_view::npos);
    CHECK(page.find("@SCRIPT@") == std::string_view::npos);
    CHECK(page.find("@NOTICES@") == std::string_view::npos);
    for (const std::string_view package : {"echarts ", "tabulator-tables ", "zrender ", "tslib "}) {
        INFO(package);
        CHECK(page.find("\n" + std::string(package)) != std::string_view::npos);  // its licence
    }
}

TEST_CASE("The page loads nothing from any other place", "[page]") {
    const std::string_view page = page::embedded_page();
    CHECK(page.find("default-src 'none'") != std::string_view::npos);
    CHECK(page.find(" src=\"") == std::string_view::npos);
    CHECK(page.find("<link rel=\"stylesheet\"") == std::string_view::npos);
}

TEST_CASE("A page contains its report unchanged", "[page]") {
    const Json report = small_report();
    const Json carried = reports_in(page_of(report));
    REQUIRE(carried.size() == 1);
    CHECK(carried[0]["name"] == "a");
    CHECK(carried[0]["report"] == report);
}

TEST_CASE("No text of a report can end the script element around it", "[page]") {
    const std::string evil =
        "</script><script>alert(1)</script><!--<script>\xE2\x80\xA8\xE2\x80\xA9 & \"'\\ \x01";
    Json report = small_report();
    report["model"] = evil;
    report["layers"][0]["name"] = evil;
    report[evil] = evil;
    const std::string html = page_of(report);
    CHECK(html.find("<script>alert") == std::string::npos);
    CHECK(html.find("\xE2\x80\xA8") == std::string::npos);
    CHECK(html.find("\xE2\x80\xA9") == std::string::npos);
    CHECK(reports_in(html)[0]["report"] == report);

    const std::string text = page::to_script_text(Json{{"a", "<!-- </SCRIPT>"}});
    CHECK(text == R"({"a":"\u003c!-- \u003c/SCRIPT>"})");
    CHECK(page::to_script_text("a\xFFz") == "\"a\xEF\xBF\xBDz\"");  // no UTF-8, yet a page
}

TEST_CASE("The page leaves out data that grows with the run and is not shown", "[page]") {
    Json report = small_report();
    for (const char* const key : {"instruction_times", "registers", "buffers"})
        report[key] = Json::array({1, 2, 3});
    report["predictions"] = Json(std::vector<int>(100'000, 7));
    const Json carried = reports_in(page_of(report))[0]["report"];
    for (const char* const key : {"instruction_times", "registers", "buffers"}) {
        INFO(key);
        CHECK_FALSE(carried.contains(key));
    }
    CHECK(carried["predictions"] == Json(std::vector<int>(200, 7)));
}

TEST_CASE("A report is checked before it becomes a page", "[page]") {
    CHECK(page::parse_report(small_report().dump(), "r.json") == small_report());
    CHECK(error_of(Json::array()).starts_with("r.json: is []"));
    const auto with = [](const char* place, const Json& value) {
        Json report = small_report();
        report[Json::json_pointer(place)] = value;
        return error_of(report);
    };
    CHECK(with("/schema", "sim.report/2") ==
          R"(r.json: schema is "sim.report/2"; it must be "sim.report/1")");
    CHECK(with("/cycles", -1) == "r.json: cycles is -1; it must be a whole number of at least 0");
    CHECK(with("/layers/0/matrix_unit/useful_macs", "x") ==
          R"(r.json: layers[0].matrix_unit.useful_macs is "x"; it must be a whole number of at least 0)");
    CHECK(with("/layers/0", 5) == "r.json: layers[0] is 5; it must be an object");
    CHECK(with("/comparison", Json::array({Json::object()})) ==
          "r.json: comparison[0].baseline is missing; it must be a text");
    CHECK_NOTHROW([] {
        Json report = small_report();
        report["host_time"] = nullptr;  // no comparison
        page::parse_report(report.dump(), "r.json");
    }());
    CHECK(with("/first_outputs", 5) == "r.json: first_outputs is 5; it must be a list");
    CHECK(with("/first_outputs", {{{"name", "y"}, {"type", "int32"}, {"shape", {2}}, {"first", 1}}}) ==
          "r.json: first_outputs[0].first is 1; it must be a list");
    CHECK(with("/host_time", Json{{"text", "x"}, {"in_chip", 1}, {"inferences_per_second", 1}}) ==
          "r.json: host_time.in_chip is 1; it must be true or false");
    CHECK(
        with("/host_share", Json{{"layers", {{{"name", 1}}}}, {"macs_share", 0.5}, {"seconds_share", 0.5}}) ==
        "r.json: host_share.layers[0].name is 1; it must be a text");
    CHECK(with("/explanation", Json{{"text", "x"}, {"what_ifs", {5}}}) ==
          "r.json: explanation.what_ifs[0] is 5; it must be an object");
    CHECK(with("/drawing", Json{{"boxes", {{{"unit", 1}}}}, {"routes", Json::array()}}) ==
          "r.json: drawing.boxes[0].unit is 1; it must be a text");
    CHECK(with("/drawing", Json{{"boxes", Json::array()}, {"routes", {{{"from", "a"}}}}}) ==
          "r.json: drawing.routes[0].to is missing; it must be a text");
    CHECK(with("/timing_only", 0) == "r.json: timing_only is 0; it must be true or false");
    CHECK(with("/seconds", nullptr) == "r.json: seconds is null; it must be a number");
    CHECK(with("/accuracy", "all") == R"(r.json: accuracy is "all"; it must be a number or null)");
    CHECK(with("/layers", Json::object()) == "r.json: layers is {}; it must be a list");

    Json without = small_report();
    without.erase("schema");
    CHECK(error_of(without) == R"(r.json: schema is missing; it must be "sim.report/1")");
}

TEST_CASE("A report without a key that the page needs is rejected", "[page]") {
    const Json whole = small_report();
    for (const auto& [key, value] : whole.items()) {
        INFO(key);
        Json report = whole;
        report.erase(key);
        const bool is_optional = key == "schema";  // has a message of its own
        CHECK(error_of(report).find(is_optional ? "schema is missing" : key + " is missing; it must be ") !=
              std::string::npos);
    }
}

TEST_CASE("A report is found in its folder", "[page]") {
    const auto folder = std::filesystem::temp_directory_path() / "systole_page_test";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "report.json") << small_report().dump();
    const page::NamedReport of_folder = page::read_report(folder);
    const page::NamedReport of_file = page::read_report(folder / "report.json");
    CHECK(of_folder.report == of_file.report);
    CHECK(of_folder.name == folder.string());
    std::filesystem::remove_all(folder);
    CHECK_THROWS_WITH(page::read_report(folder), folder.string() + ": there is no such file");
}
