#include "sim/study/sweep/answer.h"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/study/sweep/command_line.h"

using namespace systole;
using sweep::Answer;
using sweep::AnswerRow;
using sweep::Better;

namespace {

using Values = std::vector<std::optional<double>>;

/// Points of two axes, with a latency (lower is better), a rate (higher) and a metric without direction.
Answer answer_of(std::vector<AnswerRow> rows) {
    return {.study = "s",
            .keys = {"batch", "machine.clock_mhz"},
            .axes = 2,
            .metrics = {{"interval_ms", "ms", "interval_ms", "mean time", Better::Lower},
                        {"rate", "1/s", "rate", "", Better::Higher},
                        {"own", "", "rate * 2", "", Better::Neither}},
            .command = "sim run r.json",
            .rows = std::move(rows)};
}

AnswerRow row(std::uint64_t number, int batch, int clock, Values metrics) {
    return {.number = number,
            .values = {batch, clock},
            .state = "done",
            .metrics = std::move(metrics),
            .error = ""};
}

Answer example() {
    Answer answer = answer_of({row(1, 1, 700, {1.0, 10.0, 1.0}), row(2, 1, 900, {0.8, 12.0, 1.0}),
                               row(3, 8, 700, {4.0, 40.0, 1.0}), row(4, 8, 900, {5.0, 30.0, 1.0})});
    answer.rows.push_back({.number = 5,
                           .values = {64, 700},
                           .state = "failed",
                           .metrics = {{}, {}, {}},
                           .error = "too, \"big\""});
    return answer;
}

std::vector<std::string> labels(const tables::Table& table) {
    std::vector<std::string> all;
    for (const tables::Row& each : table.rows) all.push_back(each.label);
    return all;
}

using Labels = std::vector<std::string>;

TEST_CASE("A table of points is sorted and cut as asked") {
    const Answer answer = example();
    CHECK(labels(sweep::point_table(answer, {})) == Labels{"1", "2", "3", "4"});
    CHECK(labels(sweep::point_table(answer, {.sort = "interval_ms"})) == Labels{"2", "1", "3", "4"});
    CHECK(labels(sweep::point_table(answer, {.sort = "rate"})) == Labels{"3", "4", "2", "1"});
    CHECK(labels(sweep::point_table(answer, {.sort = "machine.clock_mhz"})) == Labels{"1", "3", "2", "4"});
    CHECK(labels(sweep::point_table(answer, {.sort = "rate", .top = 1})) == Labels{"3"});
    CHECK(sweep::point_table(answer, {.metrics = {"rate"}}).columns ==
          Labels{"point", "batch", "clock_mhz", "rate"});
    CHECK_THROWS_WITH(sweep::point_table(answer, {.sort = "interval"}),
                      Catch::Contains("--sort: interval is no metric") && Catch::Contains("interval_ms"));
}

TEST_CASE("A pivot has a metric over two keys") {
    Answer answer = example();
    const auto pivot_of = [](const Answer& of, const Labels& words) {
        return sweep::pivot_table(of, sweep::parse_pivot(of, words, "rate"));
    };
    const tables::Table table = pivot_of(answer, {"batch", "machine.clock_mhz"});
    CHECK(labels(table) == Labels{"1", "8"});
    CHECK(table.columns == Labels{"batch \\ clock_mhz", "700", "900"});
    CHECK(table.rows[1].cells[0].text() == "40");
    answer.rows.push_back(row(6, 8, 700, {3.0, 50.0, 1.0}));  // a further axis would do this
    CHECK(pivot_of(answer, {"batch", "machine.clock_mhz", "rate"}).rows[1].cells[0].text() == "50");
    CHECK(pivot_of(answer, {"batch", "machine.clock_mhz", "interval_ms"}).rows[1].cells[0].text() == "3");
    CHECK_THROWS_WITH(pivot_of(answer, {"bach", "batch"}), Catch::Contains("did you mean \"batch\"?"));
    CHECK_THROWS_WITH(pivot_of(answer, {"batch", "batch"}), Catch::Contains("two different keys"));
    CHECK_THROWS_WITH(pivot_of(answer, {"batch"}), Catch::Contains("ROWS,COLUMNS"));
}

TEST_CASE("The Pareto front has the points that none beats") {
    const Answer answer = example();
    const std::vector<sweep::Goal> goals{sweep::parse_goal(answer, "interval_ms", "t"),
                                         sweep::parse_goal(answer, "rate", "t")};
    const tables::Table table = sweep::pareto_table(answer, goals);
    CHECK(labels(table) == Labels{"2", "3"});  // 1 is beaten by 2, 4 by 3
    CHECK(table.rows[1].cells.back().text() == "+400 % interval_ms, +233 % rate");
    REQUIRE(table.notes.size() == 3);
    CHECK_THAT(table.notes[0], Catch::StartsWith("interval_ms (") && Catch::EndsWith("; lower is better"));
    CHECK_THAT(table.notes[1], Catch::StartsWith("rate (") && Catch::EndsWith("; higher is better"));
    // A point without one of the values is neither beaten nor on the front.
    Answer part = answer;
    part.rows[1].metrics[1].reset();
    CHECK(labels(sweep::pareto_table(part, goals)) == Labels{"1", "3"});
    const std::vector<sweep::Goal> one{sweep::parse_goal(answer, "min:rate", "t")};
    CHECK(labels(sweep::pareto_table(answer, one)) == Labels{"1"});
    const std::vector<sweep::Goal> equal{sweep::parse_goal(answer, "max:own", "t")};
    CHECK(labels(sweep::pareto_table(answer, equal)) == Labels{"1", "2", "3", "4"});
    CHECK_THROWS_WITH(sweep::parse_goal(answer, "own", "--pareto"), Catch::Contains("min:own or max:own"));
}

TEST_CASE("The best point holds the conditions") {
    const Answer answer = example();
    const auto best = [&](const std::vector<std::string>& conditions) {
        const Answer kept = sweep::subject_to(answer, conditions);
        const AnswerRow* found = sweep::best_point(kept, sweep::parse_goal(answer, "rate", "t"));
        return found == nullptr ? std::uint64_t{0} : found->number;
    };
    CHECK(best({}) == 3);
    CHECK(best({"interval_ms < 2"}) == 2);
    CHECK(best({"interval_ms < 2", "machine.clock_mhz == 700"}) == 1);
    CHECK(best({"rate > 1000"}) == 0);
    CHECK_THROWS_WITH(best({"interval_m < 2"}), Catch::Contains("--subject-to: interval_m is no metric"));
    CHECK_THROWS_WITH(best({"rate <"}), Catch::StartsWith("--subject-to is"));
    CHECK(sweep::command_of(answer, answer.rows[0]) ==
          "sim run r.json --set batch=1 --set machine.clock_mhz=700");
}

TEST_CASE("CSV has all points and quotes what must be") {
    CHECK(sweep::to_csv(example()) ==
          "point,batch,machine.clock_mhz,state,interval_ms,rate,own,error\r\n"
          "1,1,700,done,1,10,1,\r\n2,1,900,done,0.8,12,1,\r\n3,8,700,done,4,40,1,\r\n4,8,900,done,5,30,1,\r\n"
          "5,64,700,failed,,,,\"too, \"\"big\"\"\"\r\n");
}

TEST_CASE("Findings name keys that change nothing, and resources of which more is slower") {
    using Catch::Contains;
    const std::vector<std::string> found = sweep::findings(example());
    REQUIRE(found.size() == 1);
    CHECK_THAT(found[0], Contains("More of machine.clock_mhz is slower in 1 of 2 steps") &&
                             Contains("25.0 %, from point 3 to point 4"));
    const std::vector<std::string> nothing =
        sweep::findings(answer_of({row(1, 1, 700, {1.0, 1.0, 2.0}), row(2, 1, 900, {1.0, 1.0, 2.0}),
                                   row(3, 2, 700, {2.0, 1.0, 2.0}), row(4, 2, 900, {2.0, 1.0, 2.0})}));
    REQUIRE(nothing.size() == 1);
    CHECK_THAT(nothing[0], Contains("machine.clock_mhz changes nothing") && Contains("2 pairs"));
    // A single value of each other key: nothing can be said.
    CHECK(sweep::findings(answer_of({row(1, 1, 700, {1.0, 1.0, 2.0}), row(2, 2, 900, {1.0, 1.0, 2.0})}))
              .empty());
}

TEST_CASE("The largest step of those that are slower is named") {
    const std::vector<std::string> found =
        sweep::findings(answer_of({row(1, 1, 700, {1.0, 1.0, 2.0}), row(2, 1, 900, {2.0, 1.0, 2.0}),
                                   row(3, 2, 700, {2.0, 1.0, 2.0}), row(4, 2, 900, {3.0, 1.0, 2.0})}));
    REQUIRE(found.size() == 1);
    CHECK_THAT(found[0], Catch::Contains("slower in 2 of 2 steps") &&
                             Catch::Contains("up to 100.0 %, from point 1 to point 2."));
}

TEST_CASE("A key moves a metric by the geometric mean of the factors on its lines") {
    Answer answer = example();
    const auto factors_of = [&](std::size_t key) { return sweep::sensitivity(answer).at(key).factors; };
    // By batch: 4 at 700 MHz and 6.25 at 900, 4 and 2.5, and 1.
    CHECK(factors_of(0)[0].value() == Approx(5.0));
    CHECK(factors_of(0)[1].value() == Approx(std::sqrt(10.0)));
    CHECK(factors_of(0)[2].value() == Approx(1.0));
    // By clock: 1.25 in both, 1.2 and 4 / 3.
    CHECK(factors_of(1)[0].value() == Approx(1.25));
    CHECK(factors_of(1)[1].value() == Approx(std::sqrt(1.6)));
    // A factor is of values above 0 alone.
    answer.rows[0].metrics[1] = 0.0;
    CHECK(factors_of(0)[1].value() == Approx(2.5));
    answer.rows[3].metrics[1] = -1.0;
    CHECK_FALSE(factors_of(0)[1].has_value());
}

/// Points of three axes, a condition that names the first two, and metrics that are products of the keys.
Answer coupled(const std::vector<std::array<int, 3>>& values) {
    Answer answer{.study = "s",
                  .keys = {"machine.matrix_unit.rows", "machine.matrix_unit.columns", "batch"},
                  .axes = 3,
                  .conditions = {{0, 1}},
                  .metrics = {{"interval_ms", "ms", "interval_ms", "", Better::Lower},
                              {"rate", "1/s", "rate", "", Better::Higher}},
                  .command = "sim run r.json"};
    for (const auto& [rows, columns, batch] : values) {
        const double cells = 1.0 * rows * columns;
        answer.rows.push_back({.number = answer.rows.size() + 1,
                               .values = {rows, columns, batch},
                               .state = "done",
                               .metrics = {cells, cells * batch}});
    }
    return answer;
}

using Moves = std::vector<std::vector<std::size_t>>;

Moves moved(const Answer& answer) {
    Moves keys;
    for (const sweep::Sensitivity& each : sweep::sensitivity(answer)) keys.push_back(each.keys);
    return keys;
}

TEST_CASE("Keys that a condition couples move a metric together") {
    const Answer square = coupled({{2, 2, 1}, {4, 4, 1}, {8, 8, 1}, {2, 2, 3}, {4, 4, 3}, {8, 8, 3}});
    REQUIRE(moved(square) == Moves{{0, 1}, {2}});
    const std::vector<sweep::Sensitivity> all = sweep::sensitivity(square);
    CHECK(all[0].factors[0].value() == Approx(16.0));
    CHECK(all[1].factors[1].value() == Approx(3.0));
    CHECK(sweep::to_json(square, all)[0]["keys"] ==
          nlohmann::ordered_json{"machine.matrix_unit.rows", "machine.matrix_unit.columns"});
    // As rows go up and columns down.
    CHECK(moved(coupled({{2, 8, 1}, {4, 4, 1}, {8, 2, 1}, {2, 8, 2}})) == Moves{{0, 1}, {2}});
    // The condition leaves some points in which a key moves alone.
    CHECK(moved(coupled({{2, 2, 1}, {2, 4, 1}, {4, 4, 1}})) == Moves{{0}, {1}});
    // One key follows from the other, which also moves alone.
    CHECK(moved(coupled({{1, 1, 1}, {2, 2, 1}, {1, 3, 1}, {2, 4, 1}})) == Moves{{0, 1}, {1}});
    // Without a condition, points that differ in all keys say nothing of any.
    Answer sample = coupled({{2, 3, 1}, {4, 5, 2}, {8, 9, 3}});
    sample.conditions.clear();
    CHECK(moved(sample) == Moves{{0}, {1}, {2}});
    for (const sweep::Sensitivity& each : sweep::sensitivity(sample)) {
        CHECK_FALSE(each.factors[0].has_value());
    }
}

TEST_CASE("Three keys that two conditions couple move together, and two pairs by themselves") {
    const auto of = [](Moves conditions, const std::vector<std::vector<int>>& points) {
        Answer answer{.study = "s",
                      .keys = {"a", "b", "c", "d"},
                      .axes = 4,
                      .conditions = std::move(conditions),
                      .metrics = {{"m", "", "m", "", Better::Lower}},
                      .command = ""};
        for (const std::vector<int>& values : points) {
            answer.rows.push_back({.number = answer.rows.size() + 1,
                                   .values = {values.begin(), values.end()},
                                   .state = "done",
                                   .metrics = {1.0}});
        }
        return moved(answer);
    };
    CHECK(of({{0, 1}, {1, 2}}, {{1, 1, 1, 5}, {2, 2, 2, 5}, {1, 1, 1, 6}}) == Moves{{0, 1, 2}, {3}});
    const std::vector<std::vector<int>> pairs{{1, 1, 1, 1}, {2, 2, 1, 1}, {1, 1, 2, 2}, {2, 2, 2, 2}};
    CHECK(of({{0, 1, 2, 3}}, pairs) == Moves{{0, 1}, {2, 3}});
    CHECK(of({{0, 1}, {2, 3}}, pairs) == Moves{{0, 1}, {2, 3}});
}

TEST_CASE("Coupled keys are judged together") {
    Answer square = coupled({{2, 2, 1}, {4, 4, 1}, {8, 8, 1}});
    std::vector<std::string> found = sweep::findings(square);
    REQUIRE(found.size() == 1);
    CHECK_THAT(found[0], Catch::StartsWith("More of machine.matrix_unit.rows and machine.matrix_unit.columns "
                                           "are slower in 2 of 2 steps"));
    for (AnswerRow& each : square.rows) each.metrics = {1.0, 1.0};
    found = sweep::findings(square);
    REQUIRE(found.size() == 1);
    CHECK_THAT(found[0], Catch::StartsWith(
                             "machine.matrix_unit.rows and machine.matrix_unit.columns change nothing: all "
                             "metrics are equal in each of 2 pairs of points that differ in them alone."));
    // With more rows and fewer columns, neither is more machine.
    CHECK(sweep::findings(coupled({{2, 8, 1}, {4, 7, 1}, {8, 6, 1}})).empty());
}

TEST_CASE("A best point at an end of its axes says so") {
    Answer answer = coupled({{2, 4, 1}, {2, 8, 1}, {4, 4, 1}, {4, 8, 1}, {4, 8, 2}});
    answer.conditions.clear();
    answer.ends = {
        {0, {.least = 2.0, .most = 4.0}}, {1, {.least = 4.0, .most = 8.0}}, {2, {.least = {}, .most = 2.0}}};
    const auto edges = [&](std::size_t metric, bool lower) {
        const sweep::Goal goal{.metric = metric, .lower = lower};
        return sweep::edge_sentences(answer, *sweep::best_point(answer, goal), goal);
    };
    CHECK(
        edges(0, true) ==
        Labels{"The best has machine.matrix_unit.rows = 2 and machine.matrix_unit.columns = 4, the smallest "
               "of their axes: smaller ones may be better."});
    CHECK(edges(1, false) ==
          Labels{"The best has machine.matrix_unit.rows = 4, machine.matrix_unit.columns = 8 and batch = 2, "
                 "the largest of their axes: larger ones may be better."});
    answer.ends = {{0, {.least = 1.0, .most = 4.0}}};
    CHECK(edges(0, true).empty());
    CHECK(edges(1, false) == Labels{"The best has machine.matrix_unit.rows = 4, the largest of its axis: a "
                                    "larger one may be better."});
    // Along an axis that does not change the metric, no value is better.
    answer.ends = {{2, {.least = {}, .most = 2.0}}};
    answer.rows.back().metrics[0] = 32.01;
    CHECK(edges(0, false).empty());
    answer.rows.back().metrics[0] = 40.0;
    CHECK(edges(0, false) ==
          Labels{"The best has batch = 2, the largest of its axis: a larger one may be better."});
}

TEST_CASE("The best points are those of each workload, by the study's own metrics first") {
    Answer answer = coupled({{2, 2, 1}, {4, 4, 1}, {2, 2, 3}, {4, 4, 3}});
    answer.metrics = {{"latency_ms", "ms", "latency_ms", "", Better::Lower},
                      {"inferences_per_second", "1/s", "inferences_per_second", "", Better::Higher},
                      {"own", "", "cycles", "", Better::Higher},
                      {"neither", "", "cycles", "", Better::Neither},
                      {"area_mm2", "mm2", "area.mm2", "", Better::Lower}};
    for (AnswerRow& each : answer.rows) {
        const auto number = static_cast<double>(each.number);
        each.metrics = {number, 10.0 + number, std::nullopt, number, number};
    }
    const auto told = [&] {
        std::vector<std::string> all;
        for (const sweep::BestPoint& each : sweep::best_points(answer)) {
            all.push_back(each.workload + "/" + answer.metrics[each.goal.metric].name + "/" +
                          std::to_string(each.row->number));
        }
        return all;
    };
    CHECK(told() == Labels{"/inferences_per_second/4", "/latency_ms/1"});
    answer.rows[1].metrics[2] = 5.0;
    answer.rows[2].metrics[2] = 4.0;
    CHECK(told() == Labels{"/own/2", "/inferences_per_second/4", "/latency_ms/1"});
    for (AnswerRow& each : answer.rows) {
        each.metrics[2].reset();
        each.values[2] = each.values[2] == 1 ? "a" : "b";
    }
    answer.keys[2] = "model";
    CHECK(told() == Labels{"model=a/inferences_per_second/2", "model=a/latency_ms/1",
                           "model=b/inferences_per_second/4", "model=b/latency_ms/3"});
    answer.rows.clear();
    CHECK(told().empty());
}

TEST_CASE("Steps along a front tell shares in percentage points") {
    Answer answer = answer_of({row(1, 1, 700, {0.682, 12.0, 20.0}), row(2, 1, 900, {0.36, 10.0, 15.0})});
    answer.metrics[0] = {"peak_share", "tops.achieved / tops.peak", "", "", Better::Lower};
    answer.metrics[2] = {"busy", "100 * x", "%", "", Better::Lower};
    const std::vector<sweep::Goal> goals{{.metric = 1, .lower = false}, {.metric = 0}, {.metric = 2}};
    const tables::Table table = sweep::pareto_table(answer, goals);
    REQUIRE(table.rows.size() == 2);
    CHECK(table.rows[1].cells.back().text() == "-17 % rate, -32.2 points peak_share, -5.0 points busy");
}

TEST_CASE("Points that fail alike are counted in one line") {
    Answer answer = example();
    answer.rows.push_back(answer.rows.back());
    answer.rows.back().number = 9;
    answer.rows.push_back(answer.rows.back());
    answer.rows.back().number = 11;
    answer.rows.push_back(answer.rows.back());
    answer.rows.back().error = "another";
    answer.rows.back().number = 12;
    CHECK(sweep::failures(answer) ==
          std::vector<std::string>{"point 12: another", "point 5 and 2 more: too, \"big\""});
}

TEST_CASE("What no point has a value of is said, with the reason where the report has it") {
    Answer answer = answer_of({row(1, 1, 700, {1.0, 10.0, {}}), row(2, 1, 900, {0.8, 12.0, {}})});
    std::vector<std::string> found = sweep::findings(answer);
    REQUIRE_FALSE(found.empty());
    CHECK_THAT(found[0], Catch::Contains("No point has a value of own = "));
    for (const std::string& sentence : found) CHECK_THAT(sentence, !Catch::Contains("points have no value"));
    answer.rows[1].left_out = {"no requests: the reason", "no comparison: another"};
    found = sweep::findings(answer);
    REQUIRE(found.size() > 2);
    CHECK(found[0] == "1 of 2 points have no comparison: another (point 2 first).");
    CHECK(found[1] == "1 of 2 points have no requests: the reason (point 2 first).");
    // A study that has not run says nothing.
    answer.rows.clear();
    CHECK(sweep::findings(answer).empty());
}

TEST_CASE("Findings name values that are missing, and dies that nobody can make") {
    using Catch::Contains;
    Answer answer = example();
    answer.rows[1].metrics[2].reset();
    answer.metrics.push_back({.name = "area_mm2", .formula = "area.mm2", .unit = "mm2"});
    for (AnswerRow& each : answer.rows) {
        each.metrics.push_back(each.state == "done" ? std::optional(each.number == 3 ? 900.0 : 331.0)
                                                    : std::nullopt);
    }
    const std::vector<std::string> found = sweep::findings(answer);
    REQUIRE(found.size() >= 2);
    CHECK_THAT(found[0], Contains("1 of 4 points have no value of own: point 2 first"));
    CHECK_THAT(found[1], Contains("1 of 5 points have a die above 858 mm2") && Contains("point 3 has 900"));
    answer.rows[3].metrics.back() = 870.0;
    CHECK_THAT(sweep::findings(answer)[1],
               Contains("2 of 5 points have a die above 858 mm2") && Contains("point 3 has 900"));
}

TEST_CASE("Of the messages of failed points, five are shown, each with its points, and the others counted") {
    Answer answer = example();
    for (std::uint64_t number = 6; number <= 17; ++number) {
        answer.rows.push_back({.number = number,
                               .values = {64, 900},
                               .state = "failed",
                               .metrics = {{}, {}, {}},
                               .error = "message " + std::to_string(number % 8)});
    }
    const std::vector<std::string> found = sweep::failures(answer);
    CHECK(found == std::vector<std::string>{"point 8 and 1 more: message 0", "point 9 and 1 more: message 1",
                                            "point 10: message 2", "point 11: message 3",
                                            "point 12: message 4",
                                            "4 further messages: the column error of the results has all"});
}

TEST_CASE("A word of a command line is quoted as the shell takes it") {
    CHECK(sweep::shell_word("machine.clock_mhz=700") == "machine.clock_mhz=700");
    CHECK(sweep::shell_word("") == "''");
    CHECK(sweep::shell_word("two words") == "'two words'");
    CHECK(sweep::shell_word("it's $HOME") == R"('it'\''s $HOME')");
    CHECK(sweep::shell_word("'") == R"(''\''')");
    // What would control a terminal is written by its number.
    CHECK(sweep::shell_word("a\x1b[31m'\\b") == R"($'a\033[31m\'\\b')");
    CHECK(sweep::set_option("mean", nlohmann::json{1, 2.5}) == " --set 'mean=[1,2.5]'");
    CHECK(sweep::set_option("mapping", "best") == " --set mapping=best");
}

TEST_CASE("Zipped axes are judged as one") {
    Answer zipped = answer_of({row(1, 1, 700, {1.0, 1.0, 2.0}), row(2, 2, 900, {1.0, 1.0, 2.0})});
    zipped.followers = {{1, 0}};
    const std::vector<std::string> found = sweep::findings(zipped);
    REQUIRE(found.size() == 1);
    CHECK_THAT(found[0], Catch::StartsWith("batch and machine.clock_mhz change nothing"));
}

TEST_CASE("Numbers are short, with the digits that matter") {
    CHECK(sweep::number_text(1584664.07, "1/s") == "1,584,664");
    CHECK(sweep::number_text(0.188444, "") == "0.1884");
    CHECK(sweep::number_text(2.32e-5, "J") == "23.2 uJ");
    CHECK(sweep::number_text(-12345.6, "") == "-12,346");
}

}  // namespace
