#include "sim/view/table/table.h"

#include <catch2/catch.hpp>
#include <set>
#include <sstream>
#include <string>

namespace systole::tables {
namespace {

Table small() {
    return {.id = "small",
            .title = "A small table",
            .columns = {"", "one", "another"},
            .rows = {{.label = "row", .cells = {Cell::number(1.25, 1), Cell::words("words")}},
                     {.label = "longer row", .cells = {Cell::difference(0.5, 0), Cell()}}},
            .notes = {"A note."}};
}

TEST_CASE("Numbers are shown with their digits", "[table]") {
    CHECK(Cell::number(2.04, 1).text() == "2.0");
    CHECK(Cell::percent(0.1234).text() == "12.3");
    CHECK(Cell::difference(1.26, 1).text() == "+1.3");
    CHECK(Cell::number(-0.001, 1).text() == "0.0");  // no negative nothing
    CHECK(Cell().text() == "-");
    CHECK(Cell::number(std::optional<double>(), 1).text() == "-");
    CHECK(Cell::number(2.04, 1).json() == 2.0);
    CHECK(Cell().json().is_null());
    CHECK(Cell::yes(true).json() == "yes");
    CHECK(Cell::rough(13975.2).text() == "14000");
    CHECK(Cell::rough(0.5591).text() == "0.56");
    CHECK(Cell::rough(0.996).text() == "1.0");
    CHECK(Cell::rough(0.0).text() == "0");
    CHECK(Cell::rough(13975.2).json() == 14000.0);
}

TEST_CASE("A table as text", "[table]") {
    CHECK(to_text(small()) ==
          "A small table\n\n"
          "              one  another\n"
          "  row         1.3  words\n"
          "  longer row   +1  -\n"
          "\nA note.\n");
}

TEST_CASE("A table as Markdown", "[table]") {
    CHECK(to_markdown(small()) ==
          "|  | one | another |\n"
          "|---|--:|---|\n"
          "| row | 1.3 | words |\n"
          "| longer row | +1 | - |\n"
          "\nA note.\n");
}

TEST_CASE("Names of rows that are cut never look the same", "[table]") {
    Table table{.id = "t", .title = "t", .columns = {"", "a"}};
    for (int i = 0; i < 12; ++i) {
        table.add(
            "a_model/with_a_long_name/block_" + std::to_string(i) + "/separable_convolution/depthwise_of_it",
            {Cell::number(i, 0)});
    }
    std::istringstream lines(to_text(table, {.columns = 60}));
    std::set<std::string> labels;
    for (std::string line; std::getline(lines, line);) {
        CHECK(line.size() <= 60);
        if (line.find('~') != std::string::npos) labels.insert(line.substr(0, 33));
    }
    CHECK(labels.size() == 12);
}

TEST_CASE("Cells cannot control the terminal, or end a line", "[table]") {
    Table table = small();
    table.rows[0].label = "a\x1b[2Jb\nc";
    table.rows[0].cells[1] = Cell::words("x\x1b]0;t\x07\ry");
    const std::string text = to_text(table);
    CHECK(text.find("a?[2Jb?c") != std::string::npos);
    CHECK(text.find("x?]0;t??y") != std::string::npos);
    CHECK(text.find('\x1b') == std::string::npos);
}

TEST_CASE("Columns that do not fit the terminal follow below", "[table]") {
    Table wide{.id = "wide",
               .title = "A wide table",
               .columns = {"label"},
               .rows = {{.label = "a row", .cells = {}}, {.label = std::string(60, 'l'), .cells = {}}}};
    for (int column = 0; column < 12; ++column) {
        wide.columns.push_back("column " + std::to_string(column));
        for (Row& row : wide.rows) row.cells.push_back(Cell::number(100.0 + column, 1));
    }
    wide.rows[0].cells[3] = Cell::words(std::string(200, 'w'));
    const auto columns = GENERATE(as<std::size_t>(), 60, 80, 100, 140);
    const std::string text = to_text(wide, {.columns = columns});
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        INFO(line);
        CHECK(line.size() <= columns);
    }
    for (const std::string& column : wide.columns) CHECK_THAT(text, Catch::Contains(column));
    CHECK(text.find("111.0") > text.find("a row"));
    CHECK(to_text(small(), {.columns = columns}) == to_text(small()));
}

TEST_CASE("A row with an unmet demand is red where there are colours", "[table]") {
    Table table = small();
    table.rows[0].cells[1] = Cell::met(false);
    table.rows[1].cells[1] = Cell::met(true);
    CHECK(to_text(table).find('\x1b') == std::string::npos);
    const std::string text = to_text(table, {.colours = true});
    CHECK_THAT(text, Catch::Contains("\x1b[1mA small table\x1b[0m\n"));
    CHECK_THAT(text, Catch::Contains("\x1b[31m  row "));
    CHECK_THAT(text, Catch::Contains("\n  longer row "));
}

TEST_CASE("A table as JSON", "[table]") {
    CHECK(to_json(small()).dump() ==
          R"({"title":"A small table","columns":["","one","another"],)"
          R"("rows":[["row",1.3,"words"],["longer row",1.0,null]],"notes":["A note."]})");
}

}  // namespace
}  // namespace systole::tables
