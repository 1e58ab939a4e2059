// State that a run names (RunSpec::state), besides that of the network's file.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "compiler/ir/model_error.h"
#include "sim/run/network.h"
#include "tests/support/files.h"
#include "tests/unit/sim/study/train/made_training.h"

using namespace systole;
using run::StatePairs;

namespace {

using Pairs = std::vector<ir::Graph::State>;

/// Three inputs and three outputs of one shape, and a fourth of each of another; the state of the first.
std::string text(const std::string& state) {
    std::string all = "graph \"g\"\ninputs %0, %1, %2, %3\noutputs %4, %5, %6, %7\n" + state;
    const std::vector<std::string> types{"float32 1x2", "float32 1x2", "float32 1x2", "float32 1x3"};
    const std::vector<std::string> inputs{"a", "b", "2", "d"};
    for (std::size_t i = 0; i < 4; ++i)
        all += "%" + std::to_string(i) + " " + types[i] + " \"" + inputs[i] + "\" file float32\n";
    for (std::size_t i = 0; i < 4; ++i)
        all += "%" + std::to_string(i + 4) + " " + types[i] + " \"new " + inputs[i] + "\" file float32\n";
    for (std::size_t i = 0; i < 4; ++i)
        all += "%" + std::to_string(i + 4) + " = word_chain(%" + std::to_string(i) + ") \"c" +
               std::to_string(i) + "\" {steps [\"add 0 0\"]}\n";
    return all;
}

struct Named {
    explicit Named(const std::string& contents) : file(folder.file("g.txt", contents)) {}

    Pairs pairs(std::vector<StatePairs> state) const {
        run::RunSpec spec = tests::spec_of(file);
        spec.state = std::move(state);
        return run::read_model(spec).graph.state;
    }
    std::string error(std::vector<StatePairs> state) const {
        try {
            pairs(std::move(state));
        } catch (const ModelError& caught) {
            const std::string message = caught.what();
            REQUIRE(message.starts_with(file + ": "));
            return message.substr(file.size() + 2);
        }
        return "no error";
    }

    tests::Folder folder;
    std::string file;
};

StatePairs from(const std::string& input, const std::string& output, std::uint32_t count = 1) {
    return {.input = input, .output = output, .count = count};
}

}  // namespace

TEST_CASE("A run names state by names, by positions, and several pairs at once", "[run]") {
    const Named plain(text(""));
    CHECK(plain.pairs({}).empty());
    CHECK(plain.pairs({from("b", "new b")}) == Pairs{{1, 1}});
    CHECK(plain.pairs({from("1", "0")}) == Pairs{{1, 0}});
    CHECK(plain.pairs({from("a", "0"), from("1", "new 2")}) == Pairs{{0, 0}, {1, 2}});
    CHECK(plain.pairs({from("0", "0", 4)}) == Pairs{{0, 0}, {1, 1}, {2, 2}, {3, 3}});
    CHECK(plain.pairs({from("a", "1", 2)}) == Pairs{{0, 1}, {1, 2}});
}

TEST_CASE("A name goes before a position", "[run]") {
    std::string contents = text("");
    contents.replace(contents.find("\"a\""), 3, "\"1\"");
    CHECK(Named(contents).pairs({from("1", "0")}) == Pairs{{0, 0}});
}

TEST_CASE("State that the file has, too, is there once", "[run]") {
    const Named stated(text("state %1 -> %5\n"));
    CHECK(stated.pairs({}) == Pairs{{1, 1}});
    CHECK(stated.pairs({from("b", "new b")}) == Pairs{{1, 1}});
    CHECK(stated.pairs({from("0", "0", 3)}) == Pairs{{1, 1}, {0, 0}, {2, 2}});
    CHECK(stated.pairs({from("0", "0"), from("a", "new a")}) == Pairs{{1, 1}, {0, 0}});
}

TEST_CASE("An input and an output are in one pair", "[run]") {
    const Named stated(text("state %1 -> %5\n"));
    CHECK(stated.error({from("b", "new a")}) ==
          "state pairs input \"b\" with output \"new b\", and input \"b\" with output \"new a\"; each is in "
          "one pair");
    CHECK(stated.error({from("a", "new b")}) ==
          "state pairs input \"b\" with output \"new b\", and input \"a\" with output \"new b\"; each is in "
          "one pair");
}

TEST_CASE("State of inputs or outputs that are not there is refused", "[run]") {
    const Named plain(text(""));
    CHECK(plain.error({from("c", "0")}) ==
          "state names the input \"c\"; there are 4, by their names or positions from 0");
    CHECK(plain.error({from("4", "0")}) ==
          "state names the input \"4\"; there are 4, by their names or positions from 0");
    CHECK(plain.error({from("a", "a")}) ==
          "state names the output \"a\"; there are 4, by their names or positions from 0");
    CHECK(plain.error({from("0", "-1")}) ==
          "state names the output \"-1\"; there are 4, by their names or positions from 0");
    CHECK(plain.error({from("", "0")}) ==
          "state names the input \"\"; there are 4, by their names or positions from 0");
    CHECK(plain.error({from("1", "0", 4)}) ==
          "state names 4 inputs from 1 and outputs from 0 on; there are 4 inputs and 4 outputs");
    CHECK(plain.error({from("0", "2", 3)}) ==
          "state names 3 inputs from 0 and outputs from 2 on; there are 4 inputs and 4 outputs");
    CHECK(plain.error({from("0", "0", 4294967295)}) ==
          "state names 4294967295 inputs from 0 and outputs from 0 on; there are 4 inputs and 4 outputs");
}

TEST_CASE("A pair has one shape and one number format, and is split along one axis", "[run]") {
    const Named plain(text(""));
    CHECK(plain.error({from("a", "new d")}) ==
          "state pairs input \"a\", which is float32 1x2, with output \"new d\", which is float32 1x3");
    std::string contents = text("");
    const std::string output = "\"new a\" file float32";
    contents.replace(contents.find(output), output.size(), "\"new a\" file float16");
    CHECK(Named(contents).error({from("a", "0")}) ==
          "state pairs input \"a\", which is float32 1x2, with output \"new a\", which is float16 1x2");
    contents = text("");
    contents.replace(contents.find("inputs"), 0, "replicas 2\n");
    const std::string input = "\"a\" file float32";
    contents.replace(contents.find(input), input.size(), "\"a\" file float32 split 0");
    CHECK(Named(contents).error({from("a", "0")}) ==
          "state pairs input \"a\", which is float32 1x2, split along axis 0, with output \"new a\", which "
          "is float32 1x2");
}

TEST_CASE("The outputs of a file are in its order, with those that are constants", "[run]") {
    ir::Graph graph;
    for (const char* const name : {"a", "b"}) {
        ir::Value value;
        value.name = name;
        graph.outputs.push_back(static_cast<ir::ValueId>(graph.values.size()));
        graph.values.push_back(value);
    }
    ir::Value constant;
    constant.name = "c";
    graph.constant_outputs = {{.place = 1, .value = constant}, {.place = 3, .value = constant}};
    const std::vector<run::FileOutput> outputs = run::outputs_of_file(graph);
    REQUIRE(outputs.size() == 4);
    CHECK(outputs[0].name == "a");
    CHECK(outputs[0].place == 0);
    CHECK(outputs[1].name == "c");
    CHECK_FALSE(outputs[1].place);
    CHECK(outputs[2].name == "b");
    CHECK(outputs[2].place == 1);
    CHECK_FALSE(outputs[3].place);
    CHECK(run::find_output(outputs, "b") == 2U);
    CHECK(run::find_output(outputs, "3") == 3U);
    CHECK_FALSE(run::find_output(outputs, "4"));
}
