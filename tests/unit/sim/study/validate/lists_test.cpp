#include "sim/study/validate/lists.h"

#include <catch2/catch.hpp>
#include <string>

#include "hw/machine/config_error.h"

namespace systole::validate {
namespace {

using Json = nlohmann::json;

Lists made_lists() {
    return read_lists(Json::parse(R"({"w": ["A", "B"], "s": [{"name": "half", "text": "0.5", "n": 2}]})"),
                      "f");
}

std::string written(const char* text) {
    return written_out(Json::parse(text), made_lists(), "f").dump();
}

TEST_CASE("A key with a list's name stands for one of each element", "[sim][validate][lists]") {
    CHECK(written(R"({"x.{w}": "2 * {w}"})") == R"({"x.A":"2 * A","x.B":"2 * B"})");
    CHECK(written(R"({"{w}.{s}": {"of": ["{w}", "{s.text}"]}})") ==
          R"({"A.half":{"of":["A","0.5"]},"B.half":{"of":["B","0.5"]}})");
    CHECK(written(R"({"{s.n}": 1})") == R"({"2":1})");
}

TEST_CASE("An element of an array with \"each\" stands for one of each of the list's",
          "[sim][validate][lists]") {
    CHECK(written(R"([{"each": "w", "rows": [{"a": "{w}"}, 1]}, 2])") ==
          R"([{"rows":[{"a":"A"},1]},{"rows":[{"a":"B"},1]},2])");
    CHECK(written(R"({"t": [{"each": ["s", "w"], "a": "{w} {s}"}]})") ==
          R"({"t":[{"a":"A half"},{"a":"B half"}]})");
}

TEST_CASE("Other braces stay", "[sim][validate][lists]") {
    CHECK(written(R"({"a": "{w.x:.1f} {v} {", "b": ["{table_1.x:.0f}"]})") ==
          R"({"a":"{w.x:.1f} {v} {","b":["{table_1.x:.0f}"]})");
}

TEST_CASE("An error in lists is one line", "[sim][validate][lists]") {
    CHECK_THROWS_WITH(written(R"([{"each": "v"}])"), "f: each is \"v\"; there is no such list");
    CHECK_THROWS_WITH(written(R"({"{w.text}": 1})"), "f: \"{w.text}\": A of the list w has no \"text\"");
    const auto error = [](const char* text) { return read_lists(Json::parse(text), "f"); };
    CHECK_THROWS_WITH(error(R"({"w": []})"), "f: lists.w is []; it must be a list of elements");
    CHECK_THROWS_WITH(error(R"({"w": ["a.b"]})"),
                      "f: lists.w[0] is \"a.b\"; an element has a name of letters, digits and _");
    CHECK_THROWS_WITH(error(R"({"w": ["a", {"text": "b"}]})"), Catch::StartsWith("f: lists.w[1] is "));
    CHECK_THROWS_WITH(error(R"({"w": ["a", "a"]})"), "f: lists.w: a is there twice");
    CHECK_THROWS_WITH(written(R"({"x.A": 1, "x.{w}": 2})"),
                      "f: \"x.A\" is there twice, once by the name of a list");
    CHECK_THROWS_WITH(error(R"({"w.x": ["a"]})"), "f: lists.w.x: a name has letters, digits and _ alone");
}

}  // namespace
}  // namespace systole::validate
