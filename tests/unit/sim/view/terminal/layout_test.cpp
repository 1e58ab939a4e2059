#include "sim/view/terminal/layout.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "sim/view/terminal/look.h"
#include "tests/support/random_runs.h"

using namespace systole::terminal;

namespace {

std::size_t sum(const std::vector<std::size_t>& widths) {
    return std::accumulate(widths.begin(), widths.end(), std::size_t{0});
}

}  // namespace

TEST_CASE("Names fit their column and are printable", "[terminal]") {
    CHECK(fitted("conv2d", 8) == "conv2d");
    CHECK(fitted("convolution", 8) == "convolu~");
    CHECK(fitted("a\nb\x1b", 8) == "a?b?");
    CHECK(fitted("", 8).empty());
    CHECK(fitted("conv2d", 0).empty());
    CHECK(fitted("Größe", 5) == "Größe");
    CHECK(fitted("Größen", 5) == "Größ~");
    CHECK(fitted("画像", 4) == "画像");  // two columns each
    CHECK(fitted("画像", 3) == "画~");
    CHECK(fitted("画像", 2) == "~");
    CHECK(fitted("a\xffz\xc3", 8) == "a?z?");       // not UTF-8
    CHECK(fitted("\xc1\xa1", 8) == "??");           // a form that is too long
    CHECK(fitted("a\xe2\x80\xae z", 8) == "a? z");  // would turn the line around
}

TEST_CASE("A cut in the middle keeps both ends of a name", "[terminal]") {
    CHECK(with_both_ends("conv2d", 6) == "conv2d");
    CHECK(with_both_ends("convolution", 8) == "con~tion");
    CHECK(with_both_ends("convolution", 7) == "con~ion");
    CHECK(with_both_ends("convolution", 1) == "~");
    CHECK(with_both_ends("convolution", 0).empty());
    CHECK(with_both_ends("", 0).empty());
    CHECK(with_both_ends("a\nb", 8) == "a?b");
    CHECK(with_both_ends("Größen und Größen", 7) == "Grö~ßen");
    CHECK(with_both_ends("画像画像", 8) == "画像画像");  // two columns each
    CHECK(with_both_ends("画像画像", 7) == "画像~像");
    CHECK(with_both_ends("画像画像", 4) == "~像");
}

TEST_CASE("Names that differ never look the same, however narrow their column is", "[terminal]") {
    using Names = std::vector<std::string>;
    CHECK(told_apart(Names{"conv2d", "convolution"}, 8) == Names{"conv2d", "con~tion"});
    CHECK(told_apart(Names{"block_1_a_conv", "block_1_b_conv", "block_1_c_conv"}, 10) ==
          Names{"~_1_a_conv", "~_1_b_conv", "~_1_c_conv"});
    CHECK(told_apart(Names{"/model/stage1/blocks.0/conv/Conv", "/model/stage1/blocks.1/conv/Conv",
                           "/model/stage2/blocks.0/conv/Conv", "gap"},
                     17) == Names{"~stage1/blocks.0~", "~stage1/blocks.1~", "~stage2/blocks.0~", "gap"});
    CHECK(told_apart(Names{"block_of_first_large_conv", "block_of_other_small_conv"}, 8) ==
          Names{"bl~onv#1", "bl~onv#2"});  // too wide to show what differs
    CHECK(told_apart(Names{"aaaaaaaaaaaaaabbbbbbbbbbbb", "aaaaaaaaaaaaaaabbbbbbbbbbbb"}, 8) ==
          Names{"aa~bbb#1", "aa~bbb#2"});
    // Layers of one name are one name; a name that looks like a number's has one, too.
    CHECK(told_apart(Names{"same_long_name", "same_long_name"}, 8) == Names{"sam~name", "sam~name"});
    CHECK(told_apart(Names{}, 8).empty());
    for (std::uint32_t seed = 1; seed <= systole::tests::random_runs(200); ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const std::size_t width = 8 + random() % 20;
        std::set<std::string> different;
        while (different.size() < 30) {
            std::string name = random() % 2 == 0 ? "model/block_" : "";
            const std::size_t letters = random() % 40;
            for (std::size_t i = 0; i < letters; ++i) name += "ab#1~"[random() % 5];
            different.insert(name);
        }
        const Names names(different.begin(), different.end());
        const Names shown = told_apart(names, width);
        for (std::size_t i = 0; i < names.size(); ++i) {
            CHECK(columns_of(shown[i]) <= width);
            if (names[i].size() <= width - 4 && shown[i] != names[i])
                CHECK(shown[i].find('#') != std::string::npos);
        }
        CHECK(std::set<std::string>(shown.begin(), shown.end()).size() == names.size());
    }
}

TEST_CASE("Paragraphs are wrapped between words", "[terminal]") {
    CHECK(wrapped("one two three", 7) == "one two\nthree");
    CHECK(wrapped("one two three", 7, 3) == "one two\n   three");
    CHECK(wrapped("one", 1) == "one");
    CHECK(wrapped("", 5).empty());
}

TEST_CASE("A text beside a lead is wrapped below its beginning, or below the lead", "[terminal]") {
    CHECK(beside("lead  ", "a text as it  is", 22) == "lead  a text as it  is");
    CHECK(beside("lead  ", "some words that take more", 24) == "lead  some words that\n      take more");
    CHECK(beside("a lead that leaves little   ", "some words", 30) ==
          "a lead that leaves little\n      some words");
    CHECK(beside("lead  ", "unbreakable_but_too_long", 24) == "lead  unbreakable_but_to\n      o_long");
    // What is painted takes no more columns.
    CHECK(beside("\x1b[1mlead\x1b[0m  ", "a text of eighteen", 24) ==
          "\x1b[1mlead\x1b[0m  a text of eighteen");
}

TEST_CASE("A table with enough room has its preferred widths", "[terminal]") {
    const std::vector<Column> table{{.width = 10, .least = 4, .most = 8},
                                    {.width = 6, .least = 6, .leave = 1}};
    CHECK(fit(table, 16) == std::vector<std::size_t>{10, 6});
    CHECK(fit(table, 100) == std::vector<std::size_t>{10, 6});
}

TEST_CASE("A table's columns are shortened, then left out in their order", "[terminal]") {
    const std::vector<Column> table{{.width = 10, .least = 4, .most = 13},
                                    {.width = 6, .least = 6, .leave = 2},
                                    {.width = 5, .least = 5, .leave = 1},
                                    {.width = 7, .least = 7}};
    CHECK(fit(table, 28) == std::vector<std::size_t>{10, 6, 5, 7});
    CHECK(fit(table, 27) == std::vector<std::size_t>{9, 6, 5, 7});
    CHECK(fit(table, 22) == std::vector<std::size_t>{4, 6, 5, 7});
    CHECK(fit(table, 21) == std::vector<std::size_t>{8, 6, 0, 7});  // room for the first again
    CHECK(fit(table, 16) == std::vector<std::size_t>{9, 0, 0, 7});
    CHECK(fit(table, 30) == std::vector<std::size_t>{12, 6, 5, 7});  // a long entry is shown
    CHECK(fit(table, 99) == std::vector<std::size_t>{13, 6, 5, 7});
    for (std::size_t columns = 11; columns < 40; ++columns) CHECK(sum(fit(table, columns)) <= columns);
}

TEST_CASE("A name in a scope is cut between its parts, if that leaves half of each end", "[terminal]") {
    const std::string name = "encoder.layer.0.attention.self.query";
    CHECK(with_both_ends(name, 36) == name);
    CHECK(with_both_ends(name, 35) == "encoder.layer.0~.self.query");
    CHECK(with_both_ends(name, 24) == "encoder~.self.query");
    CHECK(with_both_ends(name, 14) == "encode~.query");
    CHECK(with_both_ends("/features/features.1/conv/conv.1/Conv", 24) == "/features~/conv.1/Conv");
    // A number tells nothing without the part before it.
    CHECK(with_both_ends("/features/features.1/conv/conv.0/conv.0.0/Conv", 24) == "/features~onv.0.0/Conv");
    // A part that is longer than the end is cut as other names are.
    CHECK(with_both_ends("embeddings.word_embeddings_with_more", 16) == "embeddi~ith_more");
}
