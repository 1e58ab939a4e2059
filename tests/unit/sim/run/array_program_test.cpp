// What a program says of the arrays in files, so that it runs without its network.
#include "sim/run/array_program.h"

#include <catch2/catch.hpp>

#include "tests/support/text_graphs.h"

using namespace systole;

namespace {

constexpr const char* network =
    "graph \"g\"\nreplicas 2\ninputs %0, %1\noutputs %2, %1\n%0 float32 1x2x3 \"x\" split 1\n"
    "%1 float32 1 \"n\"\n%2 float32 1x2x3 \"y\" split 0\n"
    "%2 = word_chain(%0) \"y\" {steps [\"negate 0\"]}\n";

/// The program as the compiler leaves it.
isa::Program compiled() {
    isa::Program program;
    program.geometry.tensor = {.lanes = 8};
    program.inputs = {{.name = "x", .shape = {2, 3}, .type = DataType::Float32},
                      {.name = "n", .shape = {1}, .type = DataType::Float32}};
    program.outputs = {{.name = "y", .shape = {2, 3}, .type = DataType::Float32},
                       {.name = "n", .shape = {1}, .type = DataType::Float32}};
    return program;
}

}  // namespace

TEST_CASE("The program of a network of arrays says what files have", "[run]") {
    ir::Graph graph = tests::graph_of_text(network);
    ir::Value truths{.name = "t", .shape = {2}, .type = DataType::Int32, .file_type = DataType::Bool};
    truths.constant = ir::Constant::of(std::vector<std::int32_t>{1, 0});
    graph.constant_outputs = {{1, truths}};
    machine::MachineConfig machine;
    machine.family = machine::Family::TensorCore;
    isa::Program program = compiled();
    run::declare_arrays(program, graph, machine);
    REQUIRE(program.arrays);
    CHECK(program.arrays->replicas == 2);
    CHECK(program.arrays->constants ==
          std::vector<isa::ConstantOutput>{{.place = 1,
                                            .tensor = {.name = "t", .shape = {2}, .type = DataType::Bool},
                                            .words = {1, 0, 0, 0, 0, 0, 0, 0}}});
    CHECK(program.inputs[0].shape == std::vector<std::uint32_t>{2, 3});
    CHECK(program.inputs[0].split_axis == 1U);
    CHECK(program.inputs[1].shape.empty());
    CHECK_FALSE(program.inputs[1].split_axis);
    CHECK(program.outputs[0].split_axis == 0U);
    CHECK(program.outputs[1].shape.empty());
    // Nothing is known of a constant whose values were not read.
    graph.constant_outputs[0].value.constant = ir::Constant();
    run::declare_arrays(program, graph, machine);
    CHECK(program.arrays->constants.empty());
}

TEST_CASE("The program of a network of images says nothing of arrays", "[run]") {
    const ir::Graph graph = tests::graph_of_text(
        "graph \"g\"\ninputs %0\noutputs %1\n%0 float32 1x2 \"x\"\n%1 float32 1x2 \"y\"\n"
        "%1 = add(%0, %0) \"y\"\n");
    machine::MachineConfig machine;
    machine.family = machine::Family::TensorCore;
    isa::Program program = compiled();
    run::declare_arrays(program, graph, machine);
    CHECK_FALSE(program.arrays);
    CHECK(program.inputs[1].shape == std::vector<std::uint32_t>{1});
}
