// Sizes of inputs that a network's file leaves open, and that the data has.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "compiler/ir/model_error.h"
#include "sim/run/network.h"
#include "sim/run/network_input.h"
#include "tests/support/files.h"
#include "tests/system/input_files.h"
#include "tests/unit/compiler/frontend/onnx_model.h"
#include "tests/unit/sim/study/train/made_training.h"

using namespace systole;
using tests::npy;

namespace {

/// x + x, of which all sizes are open but the last one.
std::string open_network() {
    tests::OnnxModel model;
    model.input("x", {-1, -1, 3});
    model.node("Add", {"x", "x"}, {"y"});
    model.output("y");
    return model.bytes();
}

/// Rows of a table of five, by indices from the file's input.
std::string table_network() {
    tests::OnnxModel model;
    model.input("places", {1, 4}, ::onnx::TensorProto::INT64);
    model.floats("table", {5, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    model.node("Gather", {"table", "places"}, {"rows"});
    model.output("rows");
    return model.bytes();
}

struct GivenData {
    explicit GivenData(const std::string& contents) : file(folder.file("net.onnx", contents)) {}

    run::RunSpec spec(const std::string& array, const std::string& input = "") {
        run::RunSpec spec = tests::spec_of(file);
        const std::string path = folder.file("data.npy", array);
        spec.data.input.push_back({.input = input, .content = {.name = "", .hash = "", .path = {path}}});
        return spec;
    }

    tests::Folder folder;
    std::string file;
};

std::string error_of(const run::RunSpec& spec) {
    try {
        const ir::Graph graph = run::read_model(spec).graph;
        static_cast<void>(run::read_input(spec, graph));
    } catch (const std::exception& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace

TEST_CASE("Open sizes are those of the data", "[sim][run]") {
    GivenData given(open_network());
    const std::string two_of_four(2 * 4 * 3 * sizeof(float), '\0');
    run::RunSpec spec = given.spec(npy("<f4", "(2, 4, 3)", two_of_four));
    CHECK(run::read_model(spec).graph.input().shape == ir::Shape{1, 4, 3});
    spec.timing_only = true;
    CHECK(run::read_model(spec).graph.input().shape == ir::Shape{1, 4, 3});
    CHECK(run::read_model(given.spec(npy("<f4", "(2, 4, 3)", two_of_four), "x")).graph.input().shape ==
          ir::Shape{1, 4, 3});
    // What is given counts.
    spec.input_shapes = {{.input = "x", .extents = {1, 7, 3}}};
    CHECK(run::read_model(spec).graph.input().shape == ir::Shape{1, 7, 3});
}

TEST_CASE("Data that do not fit a file with open sizes leave them open", "[sim][run]") {
    GivenData given(open_network());
    const std::string numbers(2 * 4 * 2 * sizeof(float), '\0');
    for (const char* const shape : {"(2, 4, 2)", "(4, 4)", "(16,)"}) {
        CHECK_THAT(error_of(given.spec(npy("<f4", shape, numbers))),
                   Catch::EndsWith("the input's shape must be given with --input-shape"));
    }
}

TEST_CASE("Indices of the data are checked before a run", "[sim][run]") {
    GivenData given(table_network());
    const auto places = [](const char* last) {
        std::string numbers(3 * sizeof(std::int32_t), '\0');
        return npy("<i4", "(1, 4)", numbers + std::string(last, sizeof(std::int32_t)));
    };
    run::RunSpec spec = given.spec(places("\4\0\0\0"));
    spec.machine.family = machine::Family::TensorCore;
    CHECK(error_of(spec) == "no error");
    spec = given.spec(places("\5\0\0\0"));
    spec.machine.family = machine::Family::TensorCore;
    CHECK_THAT(error_of(spec),
               Catch::EndsWith("an element of input \"places\" is 5; layer \"n_rows\" takes it as an "
                               "index, which must be from -5 to 4"));
}
