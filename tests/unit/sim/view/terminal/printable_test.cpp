#include "sim/view/terminal/printable.h"

#include <catch2/catch.hpp>

using namespace systole::terminal;

TEST_CASE("A name cannot command the terminal, nor break the line", "[terminal]") {
    CHECK(printable("results/Größe 画像.json: there is no such file") ==
          "results/Größe 画像.json: there is no such file");
    CHECK(printable("a\nb\r\nc") == "a b  c");
    CHECK(printable("a\x1b[31mb\x07\x7f") == "a\\x1b[31mb\\x07\\x7f");
    CHECK(printable("a\xc2\x9b"
                    "1m") == "a\\xc2\\x9b1m");  // CSI in one character of Unicode
    CHECK(printable("a\xe2\x80\xae"
                    "b") == "a\\xe2\\x80\\xaeb");    // would turn the line around
    CHECK(printable("a\xff\xc3") == "a\\xff\\xc3");  // not UTF-8
    CHECK(printable("").empty());
}
