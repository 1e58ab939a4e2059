// Caches that a run names (RunSpec::caches).
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/model_error.h"
#include "sim/run/network.h"
#include "tests/support/files.h"
#include "tests/unit/compiler/frontend/onnx_model.h"
#include "tests/unit/sim/study/train/made_training.h"

using namespace systole;

namespace {

using Caches = std::vector<ir::Graph::Cache>;

/// Two layers of a decoder: the keys and values of three tokens, to which those of one more are appended.
std::string two_layers() {
    tests::OnnxModel model;
    model.input("x", {1, 2, 1, 4});
    for (const char* const past : {"past.0.key", "past.0.value", "past.1.key", "past.1.value"})
        model.input(past, {1, 2, -1, 4});
    for (const char* const layer : {"0.key", "0.value", "1.key", "1.value"}) {
        auto& node =
            model.node("Concat", {"past." + std::string(layer), "x"}, {"present." + std::string(layer)});
        tests::attribute(node, "axis", ::onnx::AttributeProto::INT).set_i(2);
        model.output("present." + std::string(layer));
    }
    model.node("Relu", {"x"}, {"y"});
    return model.output("y").bytes();
}

struct NamedCaches {
    explicit NamedCaches(const std::string& contents, const std::string& name = "net.onnx")
        : file(folder.file(name, contents)) {}

    ir::Graph graph(const std::vector<run::StatePairs>& caches, std::vector<run::InputShape> shapes) const {
        run::RunSpec spec = tests::spec_of(file);
        spec.caches = caches;
        spec.input_shapes = std::move(shapes);
        return run::read_model(spec).graph;
    }
    std::string error(const std::vector<run::StatePairs>& caches,
                      const std::vector<run::InputShape>& shapes) const {
        try {
            graph(caches, shapes);
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

run::StatePairs pair_of(const std::string& input, const std::string& output) {
    return {.input = input, .output = output};
}

const std::vector<run::InputShape> three_tokens{{.input = "past.*", .extents = {1, 2, 3, 4}}};

}  // namespace

TEST_CASE("A run names caches by patterns, names and positions", "[run]") {
    const NamedCaches decoder(two_layers());
    CHECK(decoder.graph({}, three_tokens).caches.empty());
    CHECK(decoder.graph({pair_of("past.*", "present.*")}, three_tokens).caches ==
          Caches{{1U, 0}, {2U, 1}, {3U, 2}, {4U, 3}});
    CHECK(decoder.graph({pair_of("past.*.key", "present.*.key")}, three_tokens).caches ==
          Caches{{1U, 0}, {3U, 2}});
    CHECK(decoder.graph({pair_of("past.1.key", "present.1.key"), pair_of("2", "1")}, three_tokens).caches ==
          Caches{{3U, 2}, {2U, 1}});
}

TEST_CASE("A shape counts for the input of its name before one of a pattern", "[run]") {
    const NamedCaches decoder(two_layers());
    std::vector<run::InputShape> shapes = three_tokens;
    shapes.push_back({.input = "past.1.key", .extents = {1, 2, 5, 4}});
    const ir::Graph graph = decoder.graph({pair_of("past.*", "present.*")}, shapes);
    CHECK(graph.values[graph.inputs[1]].shape == ir::Shape{1, 2, 3, 4});
    CHECK(graph.values[graph.inputs[3]].shape == ir::Shape{1, 2, 5, 4});
    shapes.push_back({.input = "*.0.key", .extents = {1, 2, 7, 4}});
    CHECK(decoder.error({}, shapes) ==
          "the shape of input \"past.0.key\" is given twice, by \"*.0.key\" and \"past.*\"");
    CHECK(decoder.error({}, {{.input = "pst.*", .extents = {1, 2, 3, 4}}}) ==
          "the shape of \"pst.*\" is given, but it has no input of this name");
}

TEST_CASE("A cache without elements is no input, and its output begins it", "[run]") {
    const NamedCaches decoder(two_layers());
    std::vector<run::InputShape> shapes{{.input = "past.*", .extents = {1, 2, 0, 4}}};
    const ir::Graph graph = decoder.graph({pair_of("past.*", "present.*")}, shapes);
    CHECK(graph.inputs.size() == 1);
    CHECK(graph.caches == Caches{{{}, 0}, {{}, 1}, {{}, 2}, {{}, 3}});
    // The second layer has one token.
    shapes = {{.input = "past.0.*", .extents = {1, 2, 0, 4}}, {.input = "past.1.*", .extents = {1, 2, 1, 4}}};
    const ir::Graph second = decoder.graph({pair_of("past.*", "present.*")}, shapes);
    CHECK(second.inputs.size() == 3);
    CHECK(second.caches == Caches{{{}, 0}, {{}, 1}, {1U, 2}, {2U, 3}});
    CHECK(decoder.error({pair_of("y", "present.0.key")}, shapes) ==
          "cache names the input \"y\"; there are 3, by their names or positions from 0");
}

TEST_CASE("Wrong caches are refused in one line", "[run]") {
    const NamedCaches decoder(two_layers());
    const auto error = [&](const std::string& input, const std::string& output) {
        return decoder.error({pair_of(input, output)}, three_tokens);
    };
    CHECK(error("past.*", "presnt.*") == "cache names the outputs \"presnt.*\"; there are none");
    CHECK(error("pst.*", "present.*") ==
          "cache names the input \"pst.0.key\"; there are 5, by their names or positions from 0");
    CHECK(error("past.0.key", "present.9") ==
          "cache names the output \"present.9\"; there are 5, by their names or positions from 0");
    CHECK(
        error("x", "y") ==
        "cache pairs input \"x\", which is float32 1x2x1x4, with output \"y\", which is float32 1x2x1x4; the "
        "output must be longer along one axis and equal along all others");
    CHECK(decoder.error({pair_of("past.*", "present.*"), pair_of("past.0.key", "present.0.key")},
                        three_tokens) == "cache names output \"present.0.key\", or its input, twice");
    CHECK(decoder.error({pair_of("past.0.key", "present.0.key"), pair_of("past.0.key", "present.1.key")},
                        three_tokens) == "cache names output \"present.1.key\", or its input, twice");
    // State replaces an input, too, and what all inferences share is no cache.
    const std::string head = "graph \"g\"\ninputs %0\noutputs %1, %2\n";
    const std::string values =
        "%0 float32 1x2 \"a\"\n%1 float32 1x2 \"b\"\n%2 float32 1x4 \"c\"\n"
        "%1 = word_chain(%0) \"b\" {steps [\"add 0 0\"]}\n%2 = concat(%0, %1) \"c\" {axis 1}\n";
    const NamedCaches with_state(head + "state %0 -> %1\n" + values, "g.txt");
    CHECK(with_state.error({pair_of("a", "c")}, {}) ==
          "cache of output %2 \"c\": an input and an output may be of one cache or state only");
    const NamedCaches of_integers(
        "graph \"g\"\ninputs %0\noutputs %2\n%0 float32 1x2 \"a\"\n%1 int32 1x2 \"b\"\n%2 int32 1x4 \"c\"\n"
        "%1 = word_chain(%0) \"b\" {steps [\"float_to_int 0\"]}\n%2 = concat(%1, %1) \"c\" {axis 1}\n",
        "g.txt");
    CHECK(of_integers.error({pair_of("a", "c")}, {}) ==
          "cache pairs input \"a\", which is float32 1x2, with output \"c\", which is int32 1x4; the output "
          "must "
          "be longer along one axis and equal along all others");
}
