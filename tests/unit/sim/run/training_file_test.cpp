#include "sim/run/training_file.h"

#include <catch2/catch.hpp>
#include <string>

#include "hw/machine/config_error.h"
#include "tests/support/files.h"
#include "tests/support/source_dir.h"

using namespace systole;
using run::InitialRule;

namespace {

/// A training file with these keys besides schema and images.
std::string file_with(const std::string& keys) {
    return R"({"schema": "sim.training/1", "images": "x")" + (keys.empty() ? "" : ", " + keys) + "}";
}

run::TrainingFile read(const std::string& text) {
    const tests::Folder folder;
    return run::read_training(folder.file("t.json", text));
}

/// Why a training file is refused, without its folder.
std::string training_error(const std::string& text) {
    const tests::Folder folder;
    const std::string path = folder.file("t.json", text);
    try {
        run::read_training(path);
    } catch (const machine::ConfigError& error) {
        const std::string message = error.what();
        REQUIRE(message.starts_with(path));
        return "t.json" + message.substr(path.size());
    }
    return "no error";
}

}  // namespace

TEST_CASE("A training file says which inputs are state, what the others take, and how state begins",
          "[train]") {
    const run::TrainingFile file = read(file_with(
        R"("state": [{"input": "0", "output": "new w", "count": 3}, {"input": "rng", "output": "7"}],
           "labels": "y", "step": "t", "values": {"rate": 0.5}, "columns": {"loss": "output 1", "b": "9"},
           "initial": [{"inputs": "w*", "rule": "he_normal"}, {"inputs": "*", "rule": "value", "value": -2}])"));
    REQUIRE(file.state.size() == 2);
    CHECK(file.state[0].input == "0");
    CHECK(file.state[0].output == "new w");
    CHECK(file.state[0].count == 3);
    CHECK(file.state[1].count == 1);
    CHECK(file.images == "x");
    CHECK(file.labels == "y");
    CHECK(file.step == "t");
    CHECK(file.values.at("rate") == 0.5);
    CHECK(file.columns.at("loss") == "output 1");
    CHECK(file.columns.at("b") == "9");
    REQUIRE(file.initial.size() == 2);
    CHECK(file.initial[0].rule == InitialRule::HeNormal);
    CHECK_FALSE(file.initial[0].value);
    CHECK(file.initial[1].rule == InitialRule::Value);
    CHECK(file.initial[1].value == -2.0);
}

TEST_CASE("A training file needs only its schema and the input of the examples", "[train]") {
    const run::TrainingFile file = read(file_with(""));
    CHECK(file.state.empty());
    CHECK(file.labels.empty());
    CHECK(file.step.empty());
    CHECK(file.values.empty());
    CHECK(file.columns.empty());
    CHECK(file.initial.empty());
}

TEST_CASE("Each rule of initial values has its name", "[train]") {
    const auto rule = [](const std::string& name) {
        return read(file_with(R"("initial": [{"inputs": "*", "rule": ")" + name + "\"}]"))
            .initial.front()
            .rule;
    };
    CHECK(rule("zeros") == InitialRule::Zeros);
    CHECK(rule("ones") == InitialRule::Ones);
    CHECK(rule("glorot_uniform") == InitialRule::GlorotUniform);
    CHECK(rule("he_normal") == InitialRule::HeNormal);
    CHECK(rule("random_bits") == InitialRule::RandomBits);
    // Without a rule: zeros.
    CHECK(read(file_with(R"("initial": [{"inputs": "*"}])")).initial.front().rule == InitialRule::Zeros);
}

TEST_CASE("Errors in a training file name key, value and rule", "[train]") {
    CHECK_THAT(training_error("{"), Catch::StartsWith("t.json"));
    CHECK_THAT(training_error("[]"), Catch::Contains("object"));
    CHECK_THAT(training_error(R"({"images": "x"})"),
               Catch::Contains("schema") && Catch::Contains("sim.training/1"));
    CHECK_THAT(training_error(R"({"schema": "sim.run/1", "images": "x"})"),
               Catch::Contains("sim.run/1") && Catch::Contains("sim.training/1"));
    CHECK_THAT(training_error(R"({"schema": "sim.training/1"})"), Catch::Contains("images"));
    CHECK_THAT(training_error(file_with(R"("colums": {})")),
               Catch::Contains("colums") && Catch::Contains("columns"));
    CHECK_THAT(training_error(file_with(R"("labels": 1)")), Catch::Contains("labels"));
    CHECK_THAT(training_error(file_with(R"("columns": {"loss": 1})")), Catch::Contains("loss"));
    CHECK(training_error(file_with(R"("values": {"rate": "fast"})")) ==
          "t.json: values is {\"rate\":\"fast\"}; the value of \"rate\" must be a number");
    CHECK_THAT(training_error(file_with(R"("state": [{"output": "1"}])")),
               Catch::Contains("state[0]") && Catch::Contains("input"));
    CHECK_THAT(training_error(file_with(R"("state": [{"input": "1"}])")), Catch::Contains("output"));
    CHECK_THAT(training_error(file_with(R"("state": [{"input": "0", "output": "0", "count": 0}])")),
               Catch::Contains("count is 0") && Catch::Contains("1"));
    CHECK_THAT(training_error(file_with(R"("state": [{"input": "0", "output": "0", "number": 2}])")),
               Catch::Contains("number"));
    CHECK_THAT(training_error(file_with(R"("initial": [{"rule": "ones"}])")), Catch::Contains("inputs"));
    CHECK_THAT(training_error(file_with(R"("initial": [{"inputs": "*", "rule": "normal"}])")),
               Catch::Contains("normal") && Catch::Contains("he_normal"));
    CHECK(training_error(file_with(R"("initial": [{"inputs": "*"}, {"inputs": "w", "rule": "value"}])")) ==
          "t.json: initial[1]: rule \"value\" needs the key value");
    CHECK(training_error(file_with(R"("initial": [{"inputs": "w", "rule": "ones", "value": 1}])")) ==
          "t.json: initial[0]: rule \"ones\" takes no value; \"value\" does");
    CHECK_THAT(training_error(file_with(R"("initial": [{"inputs": "w", "rule": "value", "value": 1e31}])")),
               Catch::Contains("value is 1e+31"));
    CHECK_THROWS_AS(run::read_training("none/t.json"), machine::ConfigError);
}

TEST_CASE("The shipped training file is read", "[train]") {
    const run::TrainingFile file = run::read_training(std::filesystem::path(tests::source_dir()) /
                                                      "models/mnist_cnn/training/state.json");
    CHECK(file.images == "images");
    CHECK(file.labels == "labels");
    REQUIRE(file.state.size() == 1);
    CHECK(file.state.front().count == 41);
    CHECK(file.columns.size() == 2);
}
