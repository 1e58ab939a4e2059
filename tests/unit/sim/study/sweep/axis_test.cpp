#include "sim/study/sweep/axis.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>

using namespace systole;
using Json = nlohmann::json;
using sweep::axis_of;

namespace {

Json values(const std::string& text) {
    return axis_of(text).values;
}

TEST_CASE("An axis of the command line is a list, powers or steps") {
    CHECK(values("batch=1,8,64") == Json{1, 8, 64});
    CHECK(values("batch=1:512:*2") == Json{1, 2, 4, 8, 16, 32, 64, 128, 256, 512});
    CHECK(values("machine.clock_mhz=400:430:+10") == Json{400, 410, 420, 430});
    CHECK(values("machine.clock_mhz=0.1:0.5:+0.1") == Json{0.1, 0.2, 0.3, 0.4, 0.5});  // sums end beside them
    CHECK(values("batch=1:500:*2").back() == 256);
    CHECK(values("mapping=best,plain") == Json{"best", "plain"});
    CHECK(values("model=mlp0,mnist_cnn") == Json{"mlp0", "mnist_cnn"});
    CHECK(values("overlap=true,false") == Json{true, false});
    CHECK(values("input=[[\"a\"],[\"b\"]]") == Json{{"a"}, {"b"}});
    CHECK(axis_of("machine.clock_mhz=400:1390").interval->to == 1390.0);
}

TEST_CASE("An axis of a file has a range, or values") {
    const auto of = [](const char* key, const char* json) {
        return axis_of(key, Json::parse(json), "s.json");
    };
    CHECK(Json(of("batch", R"({"from": 1, "to": 64, "points": 4, "scale": "log"})").values) ==
          Json{1, 4, 16, 64});
    CHECK(Json(of("batch", R"({"from": 1, "to": 4, "points": 7})").values) == Json{1, 2, 3, 4});
    CHECK(Json(of("machine.clock_mhz", R"({"from": 1, "to": 2, "points": 5})").values) ==
          Json{1, 1.25, 1.5, 1.75, 2});
    CHECK(Json(of("batch", "7").values) == Json{7});
    const auto refused = [&](const char* key, const char* json, const std::string& rule) {
        CAPTURE(key, json);
        CHECK_THROWS_WITH(of(key, json), Catch::Contains("s.json: axes.") && Catch::Contains(rule));
    };
    refused("batch", R"({"from": 1, "to": 4, "step": 1, "factor": 2})", "more than one of");
    refused("batch", R"({"from": 4, "to": 1, "step": 1})", "upwards");
    refused("batch", R"({"from": 0, "to": 4, "factor": 2})", "above 0");
    refused("batch", R"({"from": 1, "to": 4, "stop": 2})", "it is not a known key; did you mean \"step\"?");
    refused("batch", R"({"to": 4, "step": 2})", "from and to");
    refused("batch", R"({"from": 1, "to": 4, "points": 2.5})", "whole number");
    refused("batch", R"({"from": 1, "to": 4, "step": 1, "scale": "log"})", "scale goes with");
    refused("batch", R"({"from": 1, "to": 1e9, "step": 1})", "more than 1000000 values");
    refused("batch", "[]", "no value");
    refused("batch", "[1, 2, 1]", "the value 1 twice");
    refused("batch", "[{}]", "is an object");
    refused("batches", "[1]", "did you mean \"batch\"?");
    refused("machine.matrix_unit.row", "[1]", "did you mean \"rows\"?");
    refused("schema", "[1]", "no axis");
    refused("machine.schema", "[1]", "no axis");
    CHECK_THROWS_WITH(axis_of("batch"), Catch::Contains("KEY=VALUES"));
    CHECK_THROWS_WITH(axis_of("batch="), Catch::Contains("KEY=VALUES"));
}

TEST_CASE("Draws are from the axis, and the same for a seed") {
    const auto axis = axis_of("machine.clock_mhz=400:1390");
    const auto whole = axis_of("batch=1:9");
    std::mt19937_64 generator(7);
    std::mt19937_64 same(7);
    std::set<Json> drawn;
    for (int i = 0; i < 300; ++i) {
        const Json value = axis.draw(generator);
        CHECK(value == axis.draw(same));
        CHECK(value.get<double>() >= 400.0);
        CHECK(value.get<double>() <= 1390.0);
        const Json number = whole.draw(generator);
        CHECK(number == whole.draw(same));
        CHECK(number.is_number_unsigned());
        drawn.insert(number);
    }
    CHECK(drawn.size() == 9);
    auto logarithmic =
        axis_of("machine.clock_mhz", Json::parse(R"({"from": 1, "to": 1e6, "scale": "log"})"), "f");
    int small = 0;
    for (int i = 0; i < 1000; ++i) small += logarithmic.draw(generator).get<double>() < 1000.0 ? 1 : 0;
    CHECK(small > 400);
    CHECK(small < 600);
}

}  // namespace
