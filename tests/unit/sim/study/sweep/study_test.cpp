#include "sim/study/sweep/study.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "hw/machine/config_error.h"
#include "sim/study/sweep/database.h"
#include "sim/study/sweep/selection.h"
#include "tests/support/source_dir.h"

using namespace systole;
using Json = nlohmann::json;
using sweep::Study;

namespace {

const std::filesystem::path study_file =
    std::filesystem::path(tests::source_dir()) / "configs/studies/test.json";

/// A study of the shipped run with these further keys.
sweep::StudyDefinition defined(const std::string& keys) {
    return sweep::parse_study(R"({"schema": "sim.study/1", "run": "mnist_cnn", )" + keys + "}", study_file);
}

std::vector<Json> points(const std::string& keys) {
    std::vector<Json> all;
    const Study study(defined(keys));
    for (const sweep::Point& point : study.points()) {
        Json values = point.values;
        values.insert(values.begin(), point.number);
        all.push_back(std::move(values));
    }
    return all;
}

TEST_CASE("The last axis of a grid varies fastest") {
    CHECK(points(R"("axes": {"machine.matrix_unit.rows": [128, 256], "batch": [4, 1, 2]})") ==
          std::vector<Json>{{1, 128, 4}, {2, 128, 1}, {3, 128, 2}, {4, 256, 4}, {5, 256, 1}, {6, 256, 2}});
}

TEST_CASE("Zipped axes take their values together") {
    CHECK(points(R"("axes": {"machine.matrix_unit.rows": [1, 2], "batch": [3, 4],
                             "machine.matrix_unit.columns": [5, 6]},
                    "zip": ["machine.matrix_unit.rows, machine.matrix_unit.columns"])") ==
          std::vector<Json>{{1, 1, 3, 5}, {2, 1, 4, 5}, {3, 2, 3, 6}, {4, 2, 4, 6}});
}

TEST_CASE("Derived keys follow, in any order, and conditions leave points out but keep their numbers") {
    CHECK(points(R"("axes": {"machine.matrix_unit.rows": [128, 256, 512]},
                    "derive": {"limit": "2 * batch", "batch": "machine.matrix_unit.rows / 128"},
                    "where": ["machine.matrix_unit.rows >= machine.matrix_unit.columns", "batch < 4"])") ==
          std::vector<Json>{{2, 256, 2, 4}});
}

TEST_CASE("A study says which axes its conditions name, and where its axes end") {
    const auto description = [](const std::string& keys) { return Study(defined(keys)).description(); };
    const auto conditions = description(R"("axes": {"machine.matrix_unit.rows": [128, 256], "batch": [1, 2],
                                "machine.clock_mhz": [700]},
                       "derive": {"limit": "batch * 2", "machine.accumulators.rows": "limit * 4096"},
                       "where": ["machine.accumulators.rows > 0", "machine.matrix_unit.rows > batch",
                                 "machine.unified_buffer.rows > 0"])");
    CHECK(conditions["conditions"] ==
          nlohmann::ordered_json::parse(R"([["batch"], ["batch", "machine.matrix_unit.rows"], []])"));
    // Not beyond what a key allows, and not of words, seeds and single values.
    const auto ends = description(R"("axes": {"machine.matrix_unit.rows": [256, 128], "batch": [1, 2],
                                     "mapping": ["best", "plain"], "limit": [8, 16],
                                     "machine.clock_mhz": [0.001, 700],
                                     "machine.weight_fifo.depth_tiles": [4]})")["ends"];
    CHECK(ends == nlohmann::ordered_json::parse(R"({"machine.matrix_unit.rows": {"least": 128, "most": 256},
                                                    "batch": {"most": 2},
                                                    "machine.clock_mhz": {"most": 700}})"));
}

TEST_CASE("A value that no run allows is blamed on the part of the study that gives it") {
    const auto error = [](const std::string& keys) {
        const Study study(defined(keys));
        try {
            study.spec_of(study.points().front());
        } catch (const machine::ConfigError& caught) {
            return std::string(caught.what());
        }
        return std::string("no error");
    };
    const std::string own = study_file.string();
    CHECK(error(R"("axes": {"machine.clock_mhz": [-1, 700]})") ==
          own + ": axes.machine.clock_mhz is -1; it must be a number from 0.001 to 1000000 MHz");
    CHECK_THAT(error(R"("axes": {"batch": [-1]})"),
               Catch::StartsWith(own + ": axes.batch is -1; it must be"));
    CHECK_THAT(error(R"("axes": {"batch": [1]}, "derive": {"machine.clock_mhz": "0 - batch"})"),
               Catch::StartsWith(own + ": derive.machine.clock_mhz is -1; it must be"));
    CHECK_THAT(error(R"("axes": {"machine.matrix_unit.rows": ["many"]})"),
               Catch::StartsWith(own + ": axes.machine.matrix_unit.rows is \"many\"; it must be"));
    // A key of the study that is no axis is its file's, too; nobody typed a command line.
    CHECK_THAT(error(R"("axes": {"batch": [1]}, "set": {"machine.clock_mhz": -1})"),
               Catch::Contains(" and " + own + ": clock_mhz is -1") && !Catch::Contains("command line"));
}

TEST_CASE("A metric cannot have the name of a column of the results") {
    const auto refused = [](const std::string& name, const std::string& rule) {
        INFO(name);
        CHECK_THROWS_WITH(
            Study(defined(R"("axes": {"batch": [1], "mapping": ["best"]}, "derive": {"limit": "batch"},
                             "metrics": {")" +
                          name + R"(": "cycles * 2"})")),
            study_file.string() + ": metrics." + name + ": " + rule);
    };
    for (const std::string_view column : sweep::columns_beside_metrics) {
        refused(std::string(column),
                "the results have a column " + std::string(column) + "; the metric needs another name");
    }
    refused("Point", "the results have a column point; the metric needs another name");  // one name for SQL
    refused("batch", "the study varies the key batch; the metric needs another name");
    refused("MAPPING", "the study varies the key mapping; the metric needs another name");
    refused("limit", "the study varies the key limit; the metric needs another name");
    refused("watts", "there is a metric watts");
    refused("Watts", "there is a metric watts");
    Study(defined(R"("axes": {"batch": [1]}, "metrics": {"mapping": "cycles", "points": "cycles"})"));
}

TEST_CASE("A formula reads the machine of the point") {
    CHECK(points(R"("axes": {"machine": ["tpu_v1", "tpu_v1_dram"]},
                    "derive": {"batch": "machine.matrix_unit.rows / 4"})") ==
          std::vector<Json>{{1, "tpu_v1", 64}, {2, "tpu_v1_dram", 64}});
    CHECK(points(R"("axes": {"machine": ["tpu_v1"]}, "set": {"machine.matrix_unit.rows": 128},
                    "derive": {"batch": "machine.matrix_unit.rows / 4"})") ==
          std::vector<Json>{{1, "tpu_v1", 32}});
}

TEST_CASE("A sample is a part of the grid, without repetition, and the same for a seed") {
    const std::string keys = R"("axes": {"batch": {"from": 1, "to": 100, "step": 1},
        "machine.clock_mhz": {"from": 400, "to": 700}}, "sample": {"points": 50, "seed": 3})";
    const std::vector<Json> first = points(keys);
    CHECK(first.size() == 50);
    CHECK(first == points(keys));
    const std::string other = keys.substr(0, keys.size() - 2) + "4}";
    CHECK(first != points(other));
    CHECK(points(R"("axes": {"batch": [1, 2, 3]}, "sample": {"points": 3})").size() == 3);
}

TEST_CASE("A study that breaks a rule is refused with file, place and rule") {
    const auto refused = [](const std::string& keys, const std::string& rule) {
        CAPTURE(keys);
        CHECK_THROWS_WITH(points(keys),
                          Catch::StartsWith(study_file.string() + ": ") && Catch::Contains(rule));
    };
    refused(R"("axis": {})", "it is not a known key; did you mean \"axes\"?");
    refused(R"("axes": {"batch": [1]}, "where": ["batch > 1"])", "where leaves out all 1 points");
    refused(R"("axes": {"batch": [1]}, "where": ["batch >"])", "where is \"batch >\"");
    refused(R"("axes": {"batch": [1]}, "where": ["bach > 1"])", "did you mean \"batch\"?");
    refused(R"("axes": {"batch": [1]}, "where": ["mapping > 1"])", "a formula is of numbers");
    refused(R"("axes": {"batch": [1, 2]}, "where": ["10 / (batch - 2) > 3"])",
            "where at point 2 is \"10 / (batch - 2) > 3\": it has no value here; a division by zero?");
    refused(R"("axes": {"batch": [1]}, "derive": {"batch": "2"})", "derive.batch: the key has an axis");
    refused(R"("axes": {"batch": [1]}, "derive": {"limit": "limit + 1"})", "leads back to itself");
    refused(R"("axes": {"batch": [1]}, "derive": {"limits": "1"})", "did you mean \"limit\"?");
    refused(R"("axes": {"batch": [1]}, "set": {"batch": 2})", "set.batch: the key has an axis");
    refused(R"("axes": {"batch": [1]}, "set": {"bach": 2})", "did you mean \"batch\"?");
    refused(R"("axes": {"out": ["a"]})", "points of a study write no files");
    refused(R"("axes": {"batch": {"from": 1, "to": 2}})", "or a sample");
    refused(R"("axes": {"batch": [1]}, "zip": ["batch"])", "two keys of axes");
    refused(R"("axes": {"batch": [1], "limit": [1, 2]}, "zip": ["batch,limit"])", "as many");
    refused(R"("axes": {"batch": [1]}, "zip": ["batch,limit"])", "limit is no axis");
    refused(R"("axes": {"batch": [1, 2]}, "sample": {"points": 3})", "only about 2 points");
    refused(R"("axes": {"batch": {"from": 1, "to": 10000, "step": 1},
                        "limit": {"from": 1, "to": 10000, "step": 1}})",
            "more than 1000000 points");
    refused(R"("axes": {"batch": [1]}, "metrics": {"m": "1 +"})", "metrics.m is");
    refused(R"("name": "a/b", "axes": {"batch": [1]})", "it names files");
}

TEST_CASE("A point is a run without values, and its command line says so") {
    const Study study(
        defined(R"("set": {"limit": 20}, "axes": {"batch": [5], "machine.clock_mhz": [700.5]})"));
    CHECK(study.timing_only());
    const run::RunSpec spec = study.spec_of(study.points().front());
    CHECK(spec.timing_only);
    CHECK(spec.compiler.batch == 5);
    CHECK(spec.compiler.limit == 20);
    CHECK(spec.machine.clock_mhz == 700.5);
    const std::string command = study.description().at("command");
    CHECK(command.ends_with("mnist_cnn.json --set limit=20 --set timing_only=true"));

    const Study with_values(defined(R"("axes": {"batch": [5]}, "metrics": {"right": "accuracy"})"));
    CHECK_FALSE(with_values.spec_of(with_values.points().front()).timing_only);
}

using Selected = std::vector<std::uint64_t>;

TEST_CASE("A part of a study has the numbers of the whole") {
    const Study study(defined(R"("axes": {"machine.matrix_unit.rows": [128, 256], "batch": [4, 1, 2]})"));
    const auto selected = [&](const std::vector<run::Setting>& values, const char* numbers) {
        return sweep::select(study, {.values = values, .points = numbers});
    };

    CHECK(selected({}, "") == Selected{1, 2, 3, 4, 5, 6});
    CHECK(selected({}, "6,2-3") == Selected{2, 3, 6});
    CHECK(selected({{"batch", 1}}, "") == Selected{2, 5});
    CHECK(selected({{"batch", {1, 2}}, {"machine.matrix_unit.rows", 256}}, "") == Selected{5, 6});
    CHECK(selected({{"batch", 1}}, "1-4") == Selected{2});
    CHECK_THROWS_WITH(selected({{"batch", 8}}, ""), Catch::Contains("it has 4, 1, 2"));
    CHECK_THROWS_WITH(selected({}, "7"), Catch::Contains("its last is 6"));
    CHECK_THROWS_WITH(selected({}, "0"), Catch::Contains("numbers from 1"));
    CHECK_THROWS_WITH(selected({}, "3-2"), Catch::Contains("numbers from 1"));
    CHECK_THROWS_WITH(selected({{"batch", 1}}, "1"), Catch::Contains("leave no point"));
}

}  // namespace
