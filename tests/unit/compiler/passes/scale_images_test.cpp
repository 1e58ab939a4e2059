#include "compiler/passes/scale_images.h"

#include <catch2/catch.hpp>

#include "compiler/frontend/door/read_network.h"
#include "compiler/ir/model_error.h"

using namespace systole;

namespace {

ir::Graph read_json(const std::string& text,
                    frontend::WeightValues values = frontend::WeightValues::Skipped) {
    return frontend::build_json_graph(text, values);
}

const std::string growing = R"({"schema": "sim.graph/1", "name": "net", "input": {"shape": [28, 28, 1]},
    "weights": {"seed": 1}, "output": "scores", "layers": [
    {"name": "conv", "op": "convolution", "inputs": ["input"], "filters": 12, "kernel": 6, "stride": 2,
     "padding": "same", "activation": "relu"},
    {"name": "pool", "op": "max_pool", "inputs": ["conv"], "kernel": 2},
    {"name": "scores", "op": "dense", "inputs": ["pool"], "units": 10}]})";

TEST_CASE("Images grow, and the weights of dense layers with them", "[compiler][passes]") {
    const ir::Graph graph = passes::scale_images(read_json(growing), 3);
    CHECK(graph.input_map() == ir::FeatureMap{84, 84, 1});
    CHECK(graph.output_map() == ir::FeatureMap{1, 1, 10});
    const ir::Node& dense = graph.nodes.back();
    REQUIRE(dense.is("dense"));
    CHECK(graph.values[dense.inputs[1]].shape == ir::Shape{21 * 21 * 12, 10});
    CHECK(passes::scale_images(read_json(growing), 1) == read_json(growing));
}

TEST_CASE("Networks whose images cannot grow are refused", "[compiler][passes]") {
    CHECK_THROWS_WITH(passes::scale_images(read_json(growing, frontend::WeightValues::Read), 2),
                      "images of a network with weights keep their size");
    const std::string vector = R"({"schema": "sim.graph/1", "name": "net", "input": {"shape": [64]},
        "weights": {"seed": 1}, "output": "scores", "layers": [
        {"name": "scores", "op": "dense", "inputs": ["input"], "units": 10}]})";
    CHECK_THROWS_WITH(passes::scale_images(read_json(vector), 2),
                      "input \"input\": its shape is 1x64; only images can be larger");
    CHECK_THROWS_AS(passes::scale_images(read_json(growing), 1U << 20U), ModelError);
}

}  // namespace
