#include "sim/run/outputs.h"

#include <catch2/catch.hpp>

using namespace systole;

namespace {

isa::Program program_of(DataType type, std::vector<std::uint32_t> shape) {
    isa::Program program;
    program.inferences = 2;
    program.outputs = {
        {.name = "tensor", .shape = std::move(shape), .scale = 0.5, .zero_point = 1, .type = type}};
    return program;
}

}  // namespace

TEST_CASE("An output has the network's shape and name, all inferences, and what is stored", "[run]") {
    const ir::Value value{.name = "logits", .shape = {1, 3}};
    const run::Outputs outputs{.per_inference = 3, .values = {1, 2, 3, 4, 5, 6}, .predictions = {2, 2}};
    const std::vector<std::uint8_t> stored{3, 5, 7, 9, 11, 13};
    isa::Program program = program_of(DataType::Uint8, {1, 1, 3});
    const run::OutputArray array = run::output_array(program, &value, outputs, stored);
    CHECK(array.name == "logits");
    CHECK(array.shape == std::vector<std::uint64_t>{2, 3});
    CHECK(array.values == outputs.values);
    CHECK(array.type == DataType::Uint8);
    CHECK(array.stored == stored);
    const run::OutputArray alone = run::output_array(program, nullptr, outputs, stored);
    CHECK(alone.name == "tensor");
    CHECK(alone.shape == std::vector<std::uint64_t>{2, 1, 1, 3});
    program.host_operations = {{.kind = "softmax", .layer = "softmax"}};
    CHECK(run::output_array(program, &value, outputs, stored).stored.empty());
    const run::OutputArray real = run::output_array(value, 2, {1, 2, 3, 4, 5, 6});
    CHECK(real.type == DataType::Float32);
    CHECK(real.stored.empty());
    CHECK(real.shape == std::vector<std::uint64_t>{2, 3});
    CHECK_THROWS_AS(run::output_array(value, 2, {1, 2, 3}), std::logic_error);
}

TEST_CASE("The five best classes, the best first and of equals the first, with their names", "[run]") {
    const std::vector<std::string> names{"a", "b", "c", "d", "e", "f"};
    run::Outputs outputs{.per_inference = 6, .values = {1, 5, 2, 5, 0, 4}, .predictions = {1}};
    const std::vector<run::BestClasses> best = run::best_classes(outputs, names);
    REQUIRE(best.size() == 1);
    REQUIRE(best[0].classes.size() == 5);
    CHECK(best[0].classes[0] == run::ClassScore{.number = 1, .score = 5, .name = "b"});
    CHECK(best[0].classes[1] == run::ClassScore{.number = 3, .score = 5, .name = "d"});
    CHECK(best[0].classes[4] == run::ClassScore{.number = 0, .score = 1, .name = "a"});
    // Two probabilities that were rounded to the same float: the prediction is from the numbers before.
    outputs.predictions = {3};
    CHECK(run::best_classes(outputs, names)[0].classes[0].name == "d");
    CHECK(run::best_classes(outputs, names)[0].classes[1].name == "b");
    const run::Outputs many{
        .per_inference = 2, .values = std::vector<float>(40), .predictions = std::vector<std::uint32_t>(20)};
    CHECK(run::best_classes(many, names).size() == 8);
    CHECK(run::best_classes(many, names)[0].classes.size() == 2);
}

TEST_CASE("Outputs that are constants have their place, their shape, and what the file stores", "[run]") {
    ir::Graph graph;
    ir::Value reals{.name = "reals", .shape = {2}};
    reals.constant = ir::Constant::of(std::vector<float>{1, 2});
    ir::Value scaled{.name = "scaled", .shape = {2, 2}, .type = DataType::Int8};
    scaled.constant = ir::Constant::of(std::vector<std::int8_t>{-1, 0, 1, 2});
    scaled.quantization = ir::Quantization{{0.5, 2}, {1, 0}, 1U};
    ir::Value counts{.name = "counts", .shape = {}, .type = DataType::Int32};
    counts.constant = ir::Constant::of(std::vector<std::int32_t>{7});
    graph.constant_outputs = {{0, reals}, {2, scaled}, {3, counts}};
    std::vector<run::OutputArray> arrays{{.name = "y", .shape = {5}, .values = {}, .type = {}, .stored = {}}};
    run::add_constant_outputs(graph, arrays);
    REQUIRE(arrays.size() == 4);
    CHECK(arrays[0].name == "reals");
    CHECK(arrays[0].shape == std::vector<std::uint64_t>{2});
    CHECK(arrays[0].values == std::vector<float>{1, 2});
    CHECK(arrays[0].stored.empty());
    CHECK(arrays[1].name == "y");
    CHECK(arrays[2].name == "scaled");
    CHECK(arrays[2].shape == std::vector<std::uint64_t>{2, 2});
    CHECK(arrays[2].values == std::vector<float>{-1, 0, 0, 4});
    CHECK(arrays[2].stored == std::vector<std::uint8_t>{0xff, 0, 1, 2});
    CHECK(arrays[3].shape.empty());
    CHECK(arrays[3].values == std::vector<float>{7});
    // Where a run asks for one output alone, places are beyond the end.
    arrays.clear();
    run::add_constant_outputs(graph, arrays);
    CHECK(arrays.size() == 3);
}
