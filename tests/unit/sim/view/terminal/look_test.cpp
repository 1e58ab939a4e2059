#include "sim/view/terminal/look.h"

#include <catch2/catch.hpp>

#include "sim/view/terminal/screen.h"

using namespace systole::terminal;

namespace {

const TerminalEnvironment terminal{
    .is_terminal = true, .window_columns = 100, .columns = {}, .no_color = {}, .term = "xterm-256color"};

}  // namespace

TEST_CASE("Without colours nothing is painted", "[terminal]") {
    CHECK(Look{}.paint(Role::Wrong, "wrong") == "wrong");
    const Look look{.colours = true};
    CHECK(look.paint(Role::Wrong, "wrong") == "\x1b[31mwrong\x1b[0m");
    CHECK(look.paint(Role::Heading, "two\nlines") == "\x1b[1mtwo\x1b[0m\n\x1b[1mlines\x1b[0m");
    CHECK(look.paint(Role::Wrong, "").empty());
    CHECK(columns_of(look.paint(Role::WeightStall, "stall")) == 5);
    CHECK(columns_of("stall") == 5);
}

TEST_CASE("A text for a terminal has no control characters but the look's own colours", "[terminal]") {
    const std::string name = "a\x1b[2J\x1b]0;title\x07 b\r\x9b\xc2\x9b\x7f\xe2\x80\xaez";
    const std::string shown = "a?[2J?]0;title? b?????z";
    CHECK(Look{}.cleaned(name) == shown);
    const Look look{.colours = true};
    CHECK(look.cleaned(look.paint(Role::Wrong, "x") + name) == "\x1b[31mx\x1b[0m" + shown);
    CHECK(Look{}.cleaned(look.paint(Role::Wrong, "x")) == "?[31mx?[0m");
    CHECK(look.cleaned("\x1b[5mx") == "?[5mx");  // blinks: no colour of ours
    CHECK(Look{}.cleaned("two\nlines\tGröße 画像") == "two\nlines\tGröße 画像");
    CHECK(Look{}.cleaned("").empty());
}

TEST_CASE("A terminal has colours, unless the user wants none", "[terminal]") {
    CHECK(look_in(terminal, Colours::Auto).colours);
    CHECK_FALSE(look_in(terminal, Colours::Never).colours);

    TerminalEnvironment no_color = terminal;
    no_color.no_color = "1";
    CHECK_FALSE(look_in(no_color, Colours::Auto).colours);
    CHECK(look_in(no_color, Colours::Always).colours);  // what is typed goes before what is set

    TerminalEnvironment dumb = terminal;
    dumb.term = "dumb";
    CHECK_FALSE(look_in(dumb, Colours::Auto).colours);
    CHECK(look_in(dumb, Colours::Auto).columns == 100);
    dumb.term = "";
    CHECK_FALSE(look_in(dumb, Colours::Auto).colours);
}

TEST_CASE("A file has the fixed layout and no colours", "[terminal]") {
    TerminalEnvironment file = terminal;
    file.is_terminal = false;
    file.columns = "120";
    file.window_columns.reset();
    CHECK_FALSE(look_in(file, Colours::Auto).colours);
    CHECK_FALSE(look_in(file, Colours::Auto).columns);
    CHECK(look_in(file, Colours::Always).colours);  // for a pager
    CHECK_FALSE(look_in(file, Colours::Always).columns);
    CHECK(Look{}.width() == 80);
}

TEST_CASE("A terminal's width is COLUMNS, or else the width that it reports", "[terminal]") {
    CHECK(look_in(terminal, Colours::Auto).columns == 100);
    TerminalEnvironment set = terminal;
    set.columns = "120";
    CHECK(look_in(set, Colours::Auto).columns == 120);
    for (const char* const nonsense : {"0", "-1", "wide", "80x", "99999999999999999999999"}) {
        INFO(nonsense);
        set.columns = nonsense;
        CHECK(look_in(set, Colours::Auto).columns == 100);
    }
    set.columns = "12";
    CHECK(look_in(set, Colours::Auto).columns == least_columns);
    set.columns = "";
    set.window_columns.reset();
    CHECK_FALSE(look_in(set, Colours::Auto).columns);
}
