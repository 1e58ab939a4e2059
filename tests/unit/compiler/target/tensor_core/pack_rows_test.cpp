// Rows of bfloat16, two in one: which tensors have them, and that no tile begins between the two.
#include "compiler/target/tensor_core/pack_rows.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/ir/window.h"
#include "compiler/operators/operator.h"
#include "compiler/target/tensor_core/family.h"
#include "compiler/target/tensor_core/network.h"
#include "tests/support/random_runs.h"
#include "tests/support/tensor_networks.h"
#include "tests/support/text_graphs.h"

using namespace systole;
using namespace systole::tensor_core;

namespace {

class Values {
public:
    explicit Values(std::uint32_t sum_tile) : sum_tile_(sum_tile) { graph.name = "pairs"; }

    ir::ValueId input(const std::vector<std::uint32_t>& extents) {
        return graph.add_input("x", ir::Shape(std::span(extents)), DataType::Float32);
    }
    ir::ValueId chain(ir::ValueId source, DataType type, const char* step) {
        return append("word_chain", {{"steps", std::vector<std::string>{step}}}, {source}, type);
    }
    ir::ValueId sums(const std::string& op, std::vector<ir::NamedAttribute> attributes, ir::ValueId a,
                     ir::ValueId b) {
        attributes.emplace_back("sum_tile", std::int64_t{sum_tile_});
        attributes.emplace_back("precision", std::string("default"));
        return append(op, std::move(attributes), {a, b}, DataType::Float32);
    }

    ir::Graph graph;

private:
    ir::ValueId append(const std::string& op, std::vector<ir::NamedAttribute> attributes,
                       std::vector<ir::ValueId> inputs, DataType type) {
        const auto data = static_cast<std::uint32_t>(inputs.size());
        return graph.append(fmt::format("{}{}", op, graph.nodes.size()), operators::registry().at(op),
                            std::move(attributes), std::move(inputs), DataType::Float32, {{.type = type}},
                            data);
    }

    std::uint32_t sum_tile_;
};

/// How often a value of a graph had packed rows.
struct Met {
    std::uint32_t packed = 0;
    std::uint32_t apart = 0;
};

/// The bits of graphs of random extents, each with any mapping. The last node reads the value that counts.
template <class Draw>
Met check_graphs(std::uint32_t count, const Draw& draw) {
    Met met;
    for (std::uint32_t seed = 1; seed <= count; ++seed) {
        std::mt19937 random(seed);
        machine::MachineConfig machine = tests::random_core(random);
        machine.matrix_unit.rows = machine.vector_unit.lanes;
        const ir::Graph graph = draw(random, machine.matrix_unit.rows);
        mapping::Batches batches{.batch = static_cast<std::uint32_t>(1 + random() % 3), .inferences = 0};
        batches.inferences = batches.batch;
        INFO("seed " << seed << ": " << machine::to_json(machine).dump() << "\nbatch " << batches.batch
                     << "\n"
                     << ir::to_text(graph));
        const Network network = make_network(graph, machine, 1, {.joins_steps = false});
        const Tensor& read = network.tensors[read_by(network.steps.back()).front()];
        (read.is_packed ? met.packed : met.apart) += 1;
        try {
            const isa::Program program = tests::random_program(random, graph, machine, batches).program;
            const tests::WordTensors inputs = tests::random_inputs(random, graph, batches.inferences);
            const std::string wrong = tests::difference(tests::without_time(program, machine, inputs),
                                                        tests::expected_outputs(graph, batches, inputs));
            if (!wrong.empty()) FAIL(wrong);
        } catch (const ModelError& error) {
            REQUIRE(std::string(error.what()).find("rows of vector memory") != std::string::npos);
        }
    }
    return met;
}

}  // namespace

TEST_CASE("Images of an odd number of pixels share no row", "[tensor_core][pack_rows]") {
    const std::uint32_t count = tests::random_runs(120);
    const Met met = check_graphs(count, [](std::mt19937& random, std::uint32_t sum_tile) {
        const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
        Values values(sum_tile);
        // Images in inner axes: with an even number of them, all rows together are even.
        const std::uint32_t channels = 1 + below(12);
        const ir::ValueId images = values.input({1, 2 + below(3), 1 + below(6), 1 + below(6), channels});
        const std::vector<std::uint32_t> extents{1, 1, channels, 1 + below(20)};
        const ir::Shape shape{std::span(extents)};
        const ir::ValueId kernel = values.graph.add_constant("kernel", shape, DataType::Float32,
                                                             std::vector<float>(shape.elements(), 0.375F));
        auto attributes = ir::attributes_of(ir::Window{});
        attributes.emplace_back("groups", std::int64_t{1});
        attributes.emplace_back("spread_y", std::int64_t{1});
        attributes.emplace_back("spread_x", std::int64_t{1});
        const ir::ValueId sums = values.sums("word_convolution", std::move(attributes), images, kernel);
        // Two readers, so that the rounded sums are a tensor.
        const ir::ValueId rounded = values.chain(sums, DataType::Bfloat16, "tanh 0");
        values.graph.outputs = {values.chain(rounded, DataType::Float32, "exp 0"),
                                values.chain(rounded, DataType::Float32, "negate 0")};
        return std::move(values.graph);
    });
    CHECK(met.packed >= count / 5);
    CHECK(met.apart >= count / 20);  // too rare for a short run
}

TEST_CASE("Matrices of an odd number of rows share no row", "[tensor_core][pack_rows]") {
    const std::uint32_t count = tests::random_runs(120);
    const Met met = check_graphs(count, [](std::mt19937& random, std::uint32_t sum_tile) {
        const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
        Values values(sum_tile);
        const std::uint32_t matrices = 2 + below(3);
        const std::uint32_t depth = 1 + below(20);
        const ir::ValueId a = values.input({1, matrices, 1 + below(6), depth});
        const ir::ValueId b = values.input({1, matrices, depth, 1 + below(20)});
        const ir::ValueId sums = values.sums(
            "matrix_product", {{"transposed_a", std::int64_t{0}}, {"transposed_b", std::int64_t{0}}}, a, b);
        const ir::ValueId rounded = values.chain(sums, DataType::Bfloat16, "tanh 0");
        values.graph.outputs = {values.chain(rounded, DataType::Float32, "exp 0"),
                                values.chain(rounded, DataType::Float32, "negate 0")};
        return std::move(values.graph);
    });
    CHECK(met.packed >= count / 5);
    CHECK(met.apart >= count / 5);
}

TEST_CASE("A sum of packed rows goes through vector memory row by row", "[tensor_core][pack_rows]") {
    // Two sums of 120 rows: there is room for the rows of one.
    const machine::MachineConfig machine = tests::core_of_16_lanes(300);
    const ir::Graph graph = tests::graph_of_text(
        "graph \"g\"\ninputs %0\noutputs %1\n%0 bfloat16 1x2x120x16 \"x\"\n%1 float32 1x2x1x16 \"s\"\n"
        "%1 = word_reduce(%0) \"s\" {reduction \"sum\", axes [2], keep 1, sum_tile 16}\n");
    Network network = make_network(graph, machine, 1);
    CHECK(network.tensors[network.inputs[0]].is_packed);
    const isa::Program program =
        map_program(network, machine, {.images = 1}, {.batch = 1, .inferences = 1}, true).program;
    std::mt19937 random(1);
    const tests::WordTensors inputs = tests::random_inputs(random, graph, 1);
    CHECK(tests::difference(tests::without_time(program, machine, inputs),
                            tests::expected_outputs(graph, {.batch = 1, .inferences = 1}, inputs))
              .empty());
}
