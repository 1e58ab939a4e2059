#include "sim/validate/table.h"

#include <catch2/catch.hpp>

namespace systole::validate {
namespace {

Table small() {
    return {.id = "small",
            .title = "A small table",
            .columns = {"", "one", "another"},
            .rows = {{.label = "row", .cells = {Cell::number(1.25, 1), Cell::words("words")}},
                     {.label = "longer row", .cells = {Cell::difference(0.5, 0), Cell()}}},
            .notes = {"A note."}};
}

TEST_CASE("Numbers are shown with their digits", "[sim][validate]") {
    CHECK(Cell::number(2.04, 1).text() == "2.0");
    CHECK(Cell::percent(0.1234).text() == "12.3");
    CHECK(Cell::difference(1.26, 1).text() == "+1.3");
    CHECK(Cell::number(-0.001, 1).text() == "0.0");  // no negative nothing
    CHECK(Cell().text() == "-");
    CHECK(Cell::number(std::optional<double>(), 1).text() == "-");
    CHECK(Cell::number(2.04, 1).json() == 2.0);
    CHECK(Cell().json().is_null());
    CHECK(Cell::yes(true).json() == "yes");
}

TEST_CASE("A table as text", "[sim][validate]") {
    CHECK(to_text(small()) ==
          "A small table\n\n"
          "              one  another\n"
          "  row         1.3  words\n"
          "  longer row   +1  -\n"
          "\nA note.\n");
}

TEST_CASE("A table as Markdown", "[sim][validate]") {
    CHECK(to_markdown(small()) ==
          "|  | one | another |\n"
          "|---|--:|---|\n"
          "| row | 1.3 | words |\n"
          "| longer row | +1 | - |\n"
          "\nA note.\n");
}

TEST_CASE("A table as JSON", "[sim][validate]") {
    CHECK(to_json(small()).dump() ==
          R"({"title":"A small table","columns":["","one","another"],)"
          R"("rows":[["row",1.3,"words"],["longer row",1.0,null]],"notes":["A note."]})");
}

TEST_CASE("Paragraphs are wrapped between words", "[sim][validate]") {
    CHECK(wrapped("one two three", 7) == "one two\nthree");
    CHECK(wrapped("one", 1) == "one");
}

}  // namespace
}  // namespace systole::validate
