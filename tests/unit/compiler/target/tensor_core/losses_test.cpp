// The loss of a classifier and its gradient, as programs of JAX have them: softmax along each row, a mask
// made of labels, which both read, and the sum of all numbers. The compiled program has the reference's bits,
// and keeps nothing but what a row has one number of.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "compiler/target/tensor_core/choose.h"
#include "compiler/target/tensor_core/family.h"
#include "compiler/target/tensor_core/network.h"
#include "compiler/target/tensor_core/prepare.h"
#include "tests/support/random_runs.h"
#include "tests/support/tensor_networks.h"

using namespace systole;
using namespace systole::tensor_core;

namespace {

using Steps = std::vector<std::string>;

struct Sizes {
    std::uint32_t rows = 8;
    std::uint32_t classes = 8;
    std::uint32_t lanes = 16;
};

ir::Graph loss_graph(const Sizes& sizes) {
    ir::Graph graph;
    graph.name = "loss";
    const auto append = [&](const std::string& op, std::vector<ir::NamedAttribute> attributes,
                            std::vector<ir::ValueId> inputs, DataType type = DataType::Float32) {
        const auto data = static_cast<std::uint32_t>(inputs.size());
        return graph.append(fmt::format("{}{}", op, graph.nodes.size()), operators::registry().at(op),
                            std::move(attributes), std::move(inputs), DataType::Float32, {{.type = type}},
                            data);
    };
    const auto chain = [&](std::vector<ir::ValueId> inputs, Steps steps, DataType type = DataType::Float32) {
        return append("word_chain", {{"steps", std::move(steps)}}, std::move(inputs), type);
    };
    const auto reduce = [&](const char* reduction, ir::ValueId input, std::int64_t axis) {
        return append("word_reduce",
                      {{"reduction", std::string(reduction)},
                       {"axes", std::vector<std::int64_t>{axis}},
                       {"keep", std::int64_t{1}},
                       {"sum_tile", std::int64_t{sizes.lanes}}},
                      {input});
    };
    const auto reshape = [&](ir::ValueId input, std::vector<std::int64_t> shape) {
        return append("reshape", {{"shape", std::move(shape)}}, {input});
    };
    const ir::ValueId x = graph.add_input("x", {1, sizes.rows, sizes.classes}, DataType::Float32);
    const ir::ValueId labels = graph.add_input("labels", {1, sizes.rows, 1}, DataType::Int32);
    // Numbers of bfloat16 that are there once, as a product leaves them: work on two tensors is not repeated.
    const ir::ValueId bias = graph.add_input("bias", {1, sizes.rows, sizes.classes}, DataType::Float32);
    const ir::ValueId logits = chain({x, bias}, {"add 0 1"}, DataType::Bfloat16);
    ir::ValueId largest = reduce("maximum", logits, 2);
    largest = chain({reshape(largest, {1, sizes.rows})}, {"constant 0xff800000", "maximum 0 1"});
    largest = reshape(largest, {1, sizes.rows, 1});
    const ir::ValueId sums = reduce("sum", chain({logits, largest}, {"subtract 0 1", "exp 2"}), 2);
    const ir::ValueId logarithms = chain({sums}, {"log 0"});
    const ir::ValueId shares = chain({logits, largest, logarithms}, {"subtract 0 1", "subtract 3 2"});
    std::vector<std::uint32_t> numbers(sizes.classes);
    for (std::uint32_t i = 0; i < sizes.classes; ++i) numbers[i] = i;
    const ir::ValueId classes =
        graph.add_constant("classes", {1, 1, sizes.classes}, DataType::Int32, std::move(numbers));
    const ir::ValueId is_label = chain({labels, classes}, {"equal_int 0 1", "int_to_float 2"});
    const ir::ValueId gradient =
        chain({shares, is_label}, {"exp 0", "subtract 2 1", "constant 0x3d000000", "multiply 3 4"});
    const ir::ValueId terms = chain({shares, is_label}, {"multiply 0 1"});
    graph.outputs = {reduce("sum", reduce("sum", terms, 2), 1), gradient};
    return graph;
}

}  // namespace

TEST_CASE("Losses and their gradients have the reference's bits with any mapping", "[tensor_core][losses]") {
    std::map<std::string, std::uint32_t> met;
    const std::uint32_t count = tests::random_runs(80);
    for (std::uint32_t seed = 1; seed <= count; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
        const machine::MachineConfig machine = tests::random_core(random);
        const ir::Graph graph =
            loss_graph({.rows = 2 + below(60), .classes = 2 + below(60), .lanes = machine.vector_unit.lanes});
        INFO("seed " << seed << ": " << machine::to_json(machine).dump() << "\n" << ir::to_text(graph));
        const ir::Graph compiled = tensor_core::prepared(graph, machine);
        for (const Step& step : make_network(compiled, machine, 1).steps) {
            if (step.before.size() > 1) ++met["several chains before a reduction"];
            if (step.kind == StepKind::Chain && step.chains.size() > 1) ++met["several chains in a step"];
        }
        const mapping::Batches batches{.batch = 1, .inferences = 1};
        isa::Program program;
        try {
            if (below(3) == 0) {
                mapping::Options options;
                options.batches = batches;
                options.mapping.keep_results = below(2) == 0;
                program = family.compile(graph, machine, options).program;
            } else {
                program =
                    tests::random_program(random, below(2) == 0 ? compiled : graph, machine, batches).program;
            }
        } catch (const ModelError& error) {
            REQUIRE(std::string(error.what()).find("rows of vector memory") != std::string::npos);
            continue;
        }
        ++met["programs"];
        const tests::WordTensors inputs = tests::random_inputs(random, graph, 1);
        const tests::WordTensors expected = tests::expected_outputs(graph, batches, inputs);
        const std::string wrong = tests::difference(tests::without_time(program, machine, inputs), expected);
        if (!wrong.empty()) FAIL("without time: " << wrong);
        if (seed % 4 != 0) continue;
        Cycle cycles = 0;
        CHECK(tests::difference(
                  tests::on_units(program, machine, machine::Engine::Wavefront, inputs, &cycles), expected)
                  .empty());
    }
    CHECK(met["programs"] >= tests::random_share(72));
    CHECK(met["several chains before a reduction"] >= tests::random_share(72));
    CHECK(met["several chains in a step"] >= tests::random_share(72));
}

TEST_CASE("A loss reads its numbers once for each pass, and makes no mask", "[tensor_core][losses]") {
    // Many classes, so that what a row has one number of counts little; rows of 16 words.
    constexpr std::uint32_t rows = 256;
    constexpr std::uint32_t classes = 1000;
    const machine::MachineConfig machine = tests::core_of_16_lanes(16384);
    const ir::Graph graph =
        tensor_core::prepared(loss_graph({.rows = rows, .classes = classes, .lanes = 16}), machine);
    Network network = make_network(graph, machine, 1, {.keeps_results = false});
    for (const Step& step : network.steps) {
        INFO(network.layers[step.layer].name);
        // Sums are of rows as they lie, though 1,000 numbers are no whole rows of lanes.
        CHECK((step.kind == StepKind::Chain || step.kind == StepKind::ReduceLanes ||
               step.kind == StepKind::ReduceRows));
    }
    const MappedProgram mapped = map_program(network, machine, {.images = 1}, {.batch = 1, .inferences = 1});
    constexpr std::uint32_t panels = (classes + 15) / 16;
    const auto matrix = static_cast<double>(rows * panels);
    // Two inputs; logits out and, for maximum, sums, gradient and loss, in, all as halves; and the gradient.
    const double least = 2 + 0.5 * 5 + 1;
    CHECK(static_cast<double>(tests::rows_moved(mapped.program)) / matrix > least);
    CHECK(static_cast<double>(tests::rows_moved(mapped.program)) / matrix < least * 1.05);
}
