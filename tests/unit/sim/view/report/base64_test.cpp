#include <catch2/catch.hpp>
#include <string_view>
#include <vector>

#include "sim/view/report/json_values.h"

using systole::report::to_base64;

TEST_CASE("Base64 gives the examples of RFC 4648", "[report]") {
    const auto of = [](std::string_view text) {
        return to_base64(std::vector<std::uint8_t>(text.begin(), text.end()));
    };
    CHECK(of("").empty());
    CHECK(of("f") == "Zg==");
    CHECK(of("fo") == "Zm8=");
    CHECK(of("foo") == "Zm9v");
    CHECK(of("foob") == "Zm9vYg==");
    CHECK(of("fooba") == "Zm9vYmE=");
    CHECK(of("foobar") == "Zm9vYmFy");
    CHECK(to_base64(std::vector<std::uint8_t>{0xFB, 0xFF, 0xFE}) == "+//+");
}
