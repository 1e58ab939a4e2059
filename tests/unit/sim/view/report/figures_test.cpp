// The list of the figures of a run, and how they are read from report.json.
#include "sim/view/report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>
#include <string>

#include "tests/support/files.h"
#include "tests/support/source_dir.h"

using namespace systole;
using Json = nlohmann::ordered_json;
using report::Figure;
using report::find_path;

TEST_CASE("A path of a report goes through objects, and lists by index or name", "[report]") {
    const Json json = Json::parse(R"({"tops": {"achieved": 2, "peak": 8}, "area": null,
        "layers": [{"name": "a", "cycles": 30}, {"name": "b/c", "cycles": 70}],
        "comparison": [{"baseline": "k80", "speedup": 3}]})");
    CHECK(*find_path(json, "tops.peak") == 8);
    CHECK(*find_path(json, "layers.1.cycles") == 70);
    CHECK(*find_path(json, "layers.a.cycles") == 30);
    CHECK(*find_path(json, "comparison.k80.speedup") == 3);
    CHECK(find_path(json, "area.mm2")->is_null());
    CHECK(find_path(json, "layers.2.cycles") == nullptr);
    CHECK(find_path(json, "tops.peak.more") == nullptr);
    CHECK(find_path(json, "topz") == nullptr);
    CHECK(*find_path(Json{{"a.b", 1}}, "a.b") == 1);
}

TEST_CASE("A figure is a number of the report in the unit of its format", "[report]") {
    const Json json = Json::parse(R"({"ms": 2.5, "part": 3, "whole": 12, "none": 0, "nothing": null,
        "windows": [4, 9, 7], "empty": [], "words": ["a"]})");
    const auto value = [&](std::string_view path, std::string_view unit = "s") {
        return report::value_of(Figure{"a name", path, unit, "s", "a meaning"}, json);
    };
    CHECK(value("ms", "ms") == 2.5e-3);
    CHECK(report::value_of(Figure{"a name", "part", "10¹²/s", "OPS", "a meaning"}, json) == 3e12);
    CHECK(value("part / whole") == 0.25);
    CHECK_FALSE(value("part / none"));
    CHECK_FALSE(value("part / nothing"));
    CHECK_FALSE(value("nothing"));
    CHECK_FALSE(value("missing"));
    CHECK(value("windows") == 9.0);  // the most of them
    CHECK_FALSE(value("empty"));
    CHECK_FALSE(value("words"));
}

TEST_CASE("The format of a figure says how it is printed", "[report]") {
    CHECK(report::figure_text(1234567.0, "count") == "1,234,567");
    CHECK(report::figure_text(2048.0, "bytes") == "2.0 KiB");
    CHECK(report::figure_text(0.25, "share") == "25.0 %");
    CHECK(report::figure_text(0.975, "ratio") == "0.975");
    CHECK(report::figure_text(27.31, "times") == "27x");
    CHECK(report::figure_text(395740.0, "inf/s") == "395,740 inf/s");
    CHECK(report::figure_text(0.0025, "s") == "2.50 ms");
    CHECK(report::figure_text({}, "s") == "-");
}

TEST_CASE("Each figure has a key of its own, a meaning, and a place where it is shown", "[report]") {
    std::set<std::string_view> keys;
    for (const Figure& figure : report::figures()) {
        INFO(figure.name);
        CHECK(keys.insert(figure.key()).second);
        CHECK_FALSE(figure.meaning.empty());
        CHECK((figure.row.is_compared || !figure.card.title.empty() ||
               figure.line.part != report::Figure::Part::None));
        CHECK((figure.instead_of.empty() || keys.contains(figure.instead_of)));
    }
}

TEST_CASE("docs/report.md has the figures with key, unit and meaning", "[report]") {
    std::string table = "| figure | key | unit | definition |\n|---|---|---|---|\n";
    for (const Figure& figure : report::figures()) {
        table += fmt::format("| {} | `{}` | {} | {} |\n", figure.name, figure.path,
                             figure.unit.empty() ? "–" : figure.unit, figure.meaning);
    }
    const std::string page = tests::text_in(std::filesystem::path(tests::source_dir()) / "docs/report.md");
    INFO(table);
    CHECK(page.find('\n' + table + '\n') != std::string::npos);
}
