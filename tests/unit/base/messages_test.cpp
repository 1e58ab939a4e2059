// What messages about input share: similar words, the places of keys in JSON, and files that are no input.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/input_file.h"
#include "base/json_text.h"
#include "base/user_error.h"
#include "tests/support/files.h"

using namespace systole;

namespace {

const std::vector<std::string> keys{"batch", "clock_mhz", "depth_tiles", "Dense", "model"};

template <class Json>
std::string error_in(const std::string& text, std::size_t deepest = 8) {
    try {
        static_cast<void>(parse_json<Json>(text, deepest));
    } catch (const JsonError& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("The nearest word has a similar spelling, beginning or part, in letters of any case", "[base]") {
    CHECK(nearest("bacth", keys) == "batch");
    CHECK(nearest("clok", keys) == "clock_mhz");
    CHECK(nearest("depth", keys) == "depth_tiles");
    CHECK(nearest("dense", keys) == "Dense");
    CHECK(nearest("MODEL", keys) == "model");
    CHECK(nearest("models", keys) == "model");
    CHECK(nearest("zzzz", keys).empty());
    CHECK(nearest("", keys).empty());
    CHECK(nearest("frobnicate", std::vector<std::string>{"o"}).empty());
}

TEST_CASE("A suggestion is the nearest word, else all of a few, else nothing", "[base]") {
    CHECK(suggestion("bacth", keys) == "; did you mean \"batch\"?");
    CHECK(suggestion("zzzz", keys) == "; there are batch, clock_mhz, depth_tiles, Dense, model");
    CHECK(suggestion("zzzz", std::vector<std::string>{"batch"}) == "; there is only batch");
    CHECK(suggestion("zzzz", std::vector<std::string>{}).empty());
    CHECK(suggestion("zzzz", std::vector<std::string>(13, "batch")).empty());
}

TEMPLATE_TEST_CASE("A key that an object has twice is an error with its place", "[base]", nlohmann::json,
                   nlohmann::ordered_json) {
    CHECK(error_in<TestType>(R"({"a": 1, "b": {"a": 2}, "c": [{"a": 1}, {"a": 2}]})").empty());
    CHECK(error_in<TestType>(R"({"a": 1, "b": 2, "a": 1})") ==
          "has the key a twice; each key must be given once");
    CHECK(error_in<TestType>(R"({"a": {"b": {"c": 1, "c": 2}}})").starts_with("has the key a.b.c twice"));
    CHECK(error_in<TestType>(R"({"a": [1, [2], {"b": 1}, {"b": [], "b": 2}]})")
              .starts_with("has the key a[3].b twice"));
    CHECK(error_in<TestType>(R"([[], {"x\ny": 1, "x\ny": 2}])").starts_with("has the key [1].x?y twice"));
}

TEMPLATE_TEST_CASE("Text that is not JSON is an error with line and column", "[base]", nlohmann::json,
                   nlohmann::ordered_json) {
    CHECK(error_in<TestType>("{\n\"a\" 1}").starts_with("is not JSON: parse error at line 2, column 5"));
    CHECK(error_in<TestType>("").starts_with("is not JSON: parse error at line 1"));
    CHECK(error_in<TestType>("1e999").starts_with("is not JSON: number overflow"));
    CHECK(error_in<TestType>("[[[]]]", 3).empty());
    CHECK(error_in<TestType>("[[[]]]", 2) == "is nested more than 2 deep");
    CHECK(error_in<TestType>(R"({"a": {"b": 1}, "c": {}})", 2).empty());
    CHECK(error_in<TestType>(std::string(1000000, '[')) == "is nested more than 8 deep");
}

TEMPLATE_TEST_CASE("A byte order mark is no error; UTF-16 and comments are named", "[base]", nlohmann::json,
                   nlohmann::ordered_json) {
    CHECK(error_in<TestType>("\xEF\xBB\xBF{\"a\": 1}").empty());
    CHECK(error_in<TestType>("\xEF\xBB\xBF{\"a\": 1,}").starts_with("is not JSON: parse error at line 1"));
    for (const std::string_view text :
         {std::string_view("\xFF\xFE{\0}\0", 6), std::string_view("\xFE\xFF\0{\0}", 6),
          std::string_view("{\0}\0", 4), std::string_view("\0{\0}", 4)}) {
        CHECK(error_in<TestType>(std::string(text)) == "is UTF-16; JSON is read as UTF-8");
    }
    const auto comment = [](int line) {
        return "has a comment in line " + std::to_string(line) + "; JSON has none";
    };
    CHECK(error_in<TestType>("// a\n{}") == comment(1));
    CHECK(error_in<TestType>("{\n\"a\": 1, // b\n\"c\": 2}") == comment(2));
    CHECK(error_in<TestType>("{\"a\":\n\n/* b */ 1}") == comment(3));
    CHECK(error_in<TestType>("{\"a\": [1,\n# b\n2]}") == comment(2));
    CHECK(error_in<TestType>("{\"a\": \"// no comment\"}").empty());
}

TEST_CASE("Only regular files of a limited size are input", "[base]") {
    const tests::Folder folder;
    const std::filesystem::path file = folder.file("file", "abc");
    const std::filesystem::path pipe = folder / "pipe";
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    CHECK_FALSE(input_fault(file));
    CHECK_FALSE(input_fault(file, 3));
    CHECK(input_fault(file, 2) == "takes 3 bytes; the limit is 2");
    CHECK(input_fault(folder / "none") == "there is no such file");
    CHECK(input_fault(file / "none") == "there is no such file");
    CHECK(input_fault(folder.path()) == "is a directory; it must be a regular file");
    CHECK(input_fault("/dev/zero") == "is a device; it must be a regular file");
    CHECK(input_fault(pipe) == "is a pipe; it must be a regular file");
    std::filesystem::create_symlink(file, folder / "link");
    CHECK(read_input_file<UserError>(folder / "link") == "abc");
    CHECK(read_input_file<UserError, std::vector<std::uint8_t>>(file) ==
          std::vector<std::uint8_t>{'a', 'b', 'c'});
    CHECK(read_input_file<UserError>(folder.file("empty", "")).empty());
    CHECK_THROWS_WITH(read_input_file<UserError>(pipe),
                      pipe.string() + ": is a pipe; it must be a regular file");
    const std::filesystem::path huge = folder.file("huge", "");
    std::filesystem::resize_file(huge, most_input_bytes + 1);
    CHECK_THROWS_WITH(check_input_file<UserError>(huge),
                      huge.string() + ": takes 8589934593 bytes; the limit is 8589934592");
}
