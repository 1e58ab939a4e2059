#include "sim/view/page/layers_csv.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "hw/machine/config_error.h"
#include "tests/support/csv.h"
#include "tests/unit/sim/view/page/small_report.h"

using namespace systole;
using Json = nlohmann::ordered_json;

namespace {

/// A report of five layers, of which the second to the last are two blocks of two.
Json with_repeats() {
    Json report = tests::small_report();
    const Json layer = report["layers"][0];
    const auto named = [&](const std::string& name, std::uint64_t cycles) {
        Json made = layer;
        made["name"] = name;
        made["cycles"] = cycles;
        return made;
    };
    report["layers"] = {named("in, first", 1), named("l0.a", 2), named("l0.b", 3), named("l1.a", 4),
                        named("l1.b", 5)};
    const Json cycles{{"cycles", 6}, {"least_cycles", 2}, {"most_cycles", 4}};
    Json place{{"name", "l*.a"}, {"kind", "dense"}};
    place.update(cycles);
    report["repeated_layers"] = {{{"name", "l*"}, {"first", 1}, {"layers", 2}, {"count", 2}}};
    report["repeated_layers"][0].update(cycles);
    report["repeated_layers"][0]["places"] = {place, place};
    return report;
}

std::string refusal(const Json& report) {
    try {
        page::parse_report(report.dump(), "r.json");
    } catch (const machine::ConfigError& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace

TEST_CASE("CSV has a line for each layer, with its place among those that repeat", "[page]") {
    const std::vector<page::NamedReport> reports{{"one", with_repeats()}, {"two", tests::small_report()}};
    const std::string text = page::layers_to_csv(reports);
    const tests::Csv csv = tests::read_csv(text);
    CAPTURE(text);
    REQUIRE(csv.lines.size() == 6);
    const auto column = [&](const std::string& name) {
        std::vector<std::string> values;
        for (std::size_t i = 0; i < csv.lines.size(); ++i) values.push_back(csv.lines[i].at(name));
        return values;
    };
    using Texts = std::vector<std::string>;
    CHECK(column("report") == Texts{"one", "one", "one", "one", "one", "two"});
    CHECK(column("number") == Texts{"1", "2", "3", "4", "5", "1"});
    CHECK(column("layer") == Texts{"in, first", "l0.a", "l0.b", "l1.a", "l1.b", "l"});
    CHECK(column("block") == Texts{"", "l*", "l*", "l*", "l*", ""});
    CHECK(column("repeat") == Texts{"", "1", "1", "2", "2", ""});
    CHECK(column("place") == Texts{"", "1", "2", "1", "2", ""});
    CHECK(column("cycles") == Texts{"1", "2", "3", "4", "5", "12"});
    CHECK(column("joules") == Texts{"", "", "", "", "", ""});  // the small report has none
}

TEST_CASE("A report whose repeats are not in its list of layers is refused", "[page]") {
    CHECK(refusal(with_repeats()) == "no error");
    const auto changed = [](const std::string& place, const Json& value) {
        Json report = with_repeats();
        report[Json::json_pointer(place)] = value;
        return refusal(report);
    };
    CHECK(changed("/repeated_layers/0/count", 3) ==
          "r.json: repeated_layers[0].count is 3; it must be at least 2 and no more than the layers behind "
          "are");
    CHECK(changed("/repeated_layers/0/count", 1).find("it must be at least 2") != std::string::npos);
    CHECK(changed("/repeated_layers/0/first", 6).find("repeated_layers[0].first is 6") != std::string::npos);
    CHECK(changed("/repeated_layers/0/layers", 1) ==
          "r.json: repeated_layers[0].layers is 1; it must be the number of its places, and at least 1");
    CHECK(changed("/repeated_layers/0/layers", 0).find("it must be the number") != std::string::npos);
    Json twice = with_repeats();
    twice["repeated_layers"].push_back(twice["repeated_layers"][0]);
    CHECK(refusal(twice).find("repeated_layers[1].first is 1; it must be behind the block before") !=
          std::string::npos);
}
