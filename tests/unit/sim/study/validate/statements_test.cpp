#include <catch2/catch.hpp>
#include <string>

#include "sim/study/validate/comparison.h"
#include "sim/study/validate/output.h"
#include "tests/unit/sim/study/validate/shipped.h"

namespace systole::validate {
namespace {

/// Curves as the article's text has them.
Results as_said() {
    Results results;
    results.target = shipped_target();
    results.published = shipped_figures();
    results.weights = weights_of(results.published);
    results.base.fill(made_record(100, 0));
    auto& curves = results.eight_bit_sensitivity;
    curves[Memory][4] = {3.0, 3.1, 2.9, 3.0, 1.0, 1.2};
    curves[Clock][4] = curves[ClockPlus][4] = {1.0, 1.0, 1.0, 1.0, 2.1, 1.9};
    curves[Matrix][3] = curves[MatrixPlus][3] = {0.95, 0.9, 0.99, 0.8, 0.9, 0.9};
    return results;
}

/// Of the row whose label begins so: its cells, the last one first.
std::string holds(const Table& table, const std::string& label) {
    for (const Row& row : table.rows) {
        if (row.label.starts_with(label)) return row.cells.back().text();
    }
    return "no such row";
}

TEST_CASE("Each statement holds for curves as the text has them", "[sim][validate]") {
    const Table table = statements_table(as_said());
    CHECK(table.rows.size() == 9);
    for (const Row& row : table.rows) {
        INFO(row.label);
        REQUIRE(row.cells.size() == workload_count + 2);
        CHECK(row.cells.back().text() == "yes");
    }
    CHECK(table.notes.size() == 1);  // nothing to explain
}

TEST_CASE("A statement shows our factors of its workloads", "[sim][validate]") {
    const Table table = statements_table(as_said());
    const Row& mlp_lstm = table.rows.at(1);
    CHECK(mlp_lstm.label == "memory x4: MLP, LSTM x3");
    CHECK(mlp_lstm.cells[LSTM0].text() == "2.90");
    CHECK(mlp_lstm.cells[CNN0].text() == "-");
    CHECK(mlp_lstm.cells[workload_count].text() == "3.00");
}

TEST_CASE("A statement that does not hold says no, and a note gives the reason", "[sim][validate]") {
    Results results = as_said();
    auto& curves = results.eight_bit_sensitivity;
    SECTION("memory gives too much") {
        curves[Memory][4] = {3.9, 3.8, 3.9, 3.8, 1.0, 1.2};
        const Table table = statements_table(results);
        CHECK(holds(table, "memory x4: MLP") == "no");
        CHECK(holds(table, "memory x4: CNN") == "yes");
        REQUIRE(table.notes.size() == 2);
        CHECK(table.notes[1].starts_with("Why memory x4"));
        // Row 6 of Table 3 kept, the rest a fourth: 1 / (0.175 + 0.825 / 4) and so on.
        CHECK(table.notes[1].find("x2.6 would remain") != std::string::npos);
    }
    SECTION("the clock helps one that waits for weights") {
        curves[Clock][4][LSTM1] = 1.15;
        const Table table = statements_table(results);
        CHECK(holds(table, "clock x4: MLP") == "no");
        CHECK(holds(table, "clock+ x4: MLP") == "yes");
    }
    SECTION("a larger array leaves one as it was") {
        curves[Matrix][3][LSTM0] = 1.0;
        const Table table = statements_table(results);
        CHECK(holds(table, "512x512:") == "no");
        CHECK(holds(table, "512x512+:") == "yes");
        REQUIRE(table.notes.size() == 2);
        CHECK(table.notes[1].starts_with("Why not each network is worse on 512x512"));
    }
    SECTION("one of them more than slightly worse, as the article's example of LSTM1 is") {
        curves[MatrixPlus][3][LSTM1] = 0.56;
        CHECK(holds(statements_table(results), "512x512+:") == "no");
    }
    SECTION("all of them more than slightly worse") {
        curves[MatrixPlus][3] = {0.7, 0.7, 0.7, 0.8, 0.9, 0.9};
        CHECK(holds(statements_table(results), "512x512+:") == "no");
    }
}

TEST_CASE("The statements fit 80 columns", "[sim][validate]") {
    const std::string text = to_text(statements_table(as_said()));
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        CHECK(end - begin <= 80);
        begin = end + 1;
    }
}

}  // namespace
}  // namespace systole::validate
