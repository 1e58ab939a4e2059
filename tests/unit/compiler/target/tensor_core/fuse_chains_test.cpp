// Element-wise work that is put together: fewer nodes, the same bits.
#include "compiler/target/tensor_core/fuse_chains.h"

#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/words.h"
#include "compiler/passes/compute_in_words.h"
#include "compiler/reference/executor.h"
#include "tests/support/random_runs.h"
#include "tests/support/tensor_networks.h"
#include "tests/support/text_graphs.h"

namespace systole::tests {
namespace {

std::size_t chains_in(const ir::Graph& graph) {
    return static_cast<std::size_t>(
        std::ranges::count_if(graph.nodes, [](const ir::Node& node) { return node.is("word_chain"); }));
}

TEST_CASE("A chain takes in those that it alone reads, with what both compute once", "[tensor_core]") {
    const ir::Graph graph = graph_of_text(
        "graph \"g\"\ninputs %0, %1\noutputs %4\n%0 float32 1x4 \"x\"\n%1 float32 1x4 \"y\"\n"
        "%2 float32 1x4 \"a\"\n%3 float32 1x4 \"b\"\n%4 float32 1x4 \"c\"\n"
        "%2 = word_chain(%0) \"a\" {steps [\"exp 0\", \"add 1 0\"]}\n"
        "%3 = word_chain(%0, %1) \"b\" {steps [\"exp 0\", \"multiply 2 1\"]}\n"
        "%4 = word_chain(%2, %3) \"c\" {steps [\"subtract 0 1\"]}\n");
    CHECK(to_text(tensor_core::fuse_chains(graph)) ==
          "graph \"g\"\ninputs %0, %1\noutputs %2\n%0 float32 1x4 \"x\"\n%1 float32 1x4 \"y\"\n"
          "%2 float32 1x4 \"c\"\n"
          "%2 = word_chain(%0, %1) \"c\" {steps [\"exp 0\", \"multiply 2 1\", \"add 2 0\", \"subtract 4 "
          "3\"]}\n");
}

TEST_CASE("What others need, and what is smaller than the result, is computed once", "[tensor_core]") {
    // An output; two tensors for two readers; a column for all columns.
    const ir::Graph graph = graph_of_text(
        "graph \"g\"\ninputs %0, %1, %2\noutputs %3, %7\n%0 float32 1x4 \"x\"\n%1 float32 1x4 \"y\"\n"
        "%2 float32 1x1 \"z\"\n%3 float32 1x4 \"a\"\n%4 float32 1x4 \"b\"\n%5 float32 1x1 \"c\"\n"
        "%6 float32 1x4 \"d\"\n%7 float32 1x1 \"e\"\n"
        "%3 = word_chain(%0) \"a\" {steps [\"negate 0\"]}\n"
        "%4 = word_chain(%0, %1) \"b\" {steps [\"add 0 1\"]}\n"
        "%5 = word_chain(%2) \"c\" {steps [\"exp 0\"]}\n"
        "%6 = word_chain(%3, %4, %5) \"d\" {steps [\"add 0 1\", \"multiply 3 2\"]}\n"
        "%7 = word_reduce(%6) \"e\" {reduction \"sum\", axes [1], keep 1}\n");
    const ir::Graph fused = tensor_core::fuse_chains(graph);
    CHECK(chains_in(fused) == 3);  // a, c, and d with b
}

TEST_CASE("Short work on one tensor is done by each of its readers", "[tensor_core]") {
    const ir::Graph graph = graph_of_text(
        "graph \"g\"\ninputs %0\noutputs %2, %3\n%0 float32 1x4 \"x\"\n%1 float32 1x4 \"a\"\n"
        "%2 float32 1x4 \"b\"\n%3 float32 1x4 \"c\"\n"
        "%1 = word_chain(%0) \"a\" {steps [\"negate 0\"]}\n"
        "%2 = word_chain(%1, %0) \"b\" {steps [\"exp 0\", \"add 2 1\"]}\n"
        "%3 = word_chain(%1) \"c\" {steps [\"tanh 0\"]}\n");
    CHECK(chains_in(tensor_core::fuse_chains(graph)) == 2);
}

TEST_CASE("Where an instruction has no room for both, each reader has its own copy of small work",
          "[tensor_core]") {
    // A mask of a column and a row, and two tensors beside two columns: five sources, of four.
    const auto graph_with = [](const std::string& outputs, const std::string& label) {
        return graph_of_text("graph \"g\"\ninputs %0, %1, %2, %3, %4, %5\noutputs " + outputs +
                             "\n%0 float32 1x4x8 \"x\"\n%1 float32 1x4x1 \"m\"\n%2 float32 1x4x1 \"l\"\n"
                             "%3 int32 " +
                             label +
                             " \"labels\"\n%4 int32 1x1x8 \"row\"\n%5 float32 1x4x1 \"n\"\n"
                             "%6 int32 1x4x8 \"mask\"\n%7 float32 1x4x8 \"a\"\n%8 float32 1x4x8 \"b\"\n"
                             "%6 = word_chain(%3, %4) \"mask\" {steps [\"equal_int 0 1\"]}\n"
                             "%7 = word_chain(%0, %1, %2, %6) \"a\" {steps [\"add 0 1\", \"add 4 2\", "
                             "\"select 3 5 0\"]}\n"
                             "%8 = word_chain(%0, %1, %5, %6) \"b\" {steps [\"add 0 1\", \"multiply 4 2\", "
                             "\"select 3 5 1\"]}\n");
    };
    const ir::Graph copied = tensor_core::fuse_chains(graph_with("%7, %8", "1x4x1"));
    CHECK_FALSE(ir::find_fault(copied));
    REQUIRE(chains_in(copied) == 4);
    // Each stands before its reader.
    CHECK(copied.nodes[1].inputs.back() == copied.nodes[0].output());
    CHECK(copied.nodes[3].inputs.back() == copied.nodes[2].output());
    CHECK(copied.nodes[0].inputs == copied.nodes[2].inputs);
    // An output is there anyway, and what is as large as the mask is no less to read than the mask itself.
    CHECK(chains_in(tensor_core::fuse_chains(graph_with("%7, %8, %6", "1x4x1"))) == 3);
    CHECK(chains_in(tensor_core::fuse_chains(graph_with("%7, %8", "1x4x8"))) == 3);
}

TEST_CASE("A bfloat16 between chains is rounded when it is no value any more", "[tensor_core]") {
    const ir::Graph graph = graph_of_text(
        "graph \"g\"\ninputs %0, %1\noutputs %4\n%0 float32 1x4 \"x\"\n%1 bfloat16 1x4 \"y\"\n"
        "%2 bfloat16 1x4 \"a\"\n%3 bfloat16 1x4 \"b\"\n%4 float32 1x4 \"c\"\n"
        "%2 = word_chain(%0) \"a\" {steps [\"negate 0\"]}\n"
        "%3 = word_chain(%1) \"b\" {steps [\"negate 0\"]}\n"
        "%4 = word_chain(%2, %3) \"c\" {steps [\"add 0 1\"]}\n");
    const ir::Graph fused = tensor_core::fuse_chains(graph);
    REQUIRE(chains_in(fused) == 1);
    CHECK(std::get<std::vector<std::string>>(fused.nodes.front().attributes.front()) ==
          std::vector<std::string>{"negate 0", "negate 1", "round_to_bfloat16 3", "add 4 2"});
}

/// A constant, many of whose words are special: zeros, infinities, what floats are next to them, subnormal
/// numbers, and NaN with other bits than the one of the machine.
ir::ValueId random_constant(std::mt19937& random, ir::Graph& graph, const ir::Shape& shape, DataType type) {
    constexpr std::array<std::uint32_t, 12> special{0x00000000, 0x80000000, 0x00010000, 0x807F0000,
                                                    0x00400001, 0x00800000, 0x7F800000, 0xFF800000,
                                                    0x7F810000, 0xFFC10001, 0x7B800000, 0x3F800000};
    std::vector<std::uint32_t> words(shape.elements());
    for (std::uint32_t& word : words) {
        word = special.at(random() % special.size());
        if (random() % 2 == 0)
            word = std::bit_cast<std::uint32_t>(std::uniform_real_distribution<float>(-2.0F, 2.0F)(random));
    }
    if (type == DataType::Bfloat16) {
        std::vector<std::uint16_t> halves;
        for (const std::uint32_t word : words) halves.push_back(static_cast<std::uint16_t>(word >> 16U));
        return graph.add_constant("c", shape, type, std::move(halves));
    }
    return graph.add_constant("c", shape, type, std::move(words));
}

/// Chains on values before them and on constants, some of which are smaller than others.
ir::Graph random_chains(std::mt19937& random) {
    const auto pick = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
    const auto type = [&] {
        constexpr std::array types{DataType::Float32, DataType::Bfloat16, DataType::Bfloat16,
                                   DataType::Int32};
        return types.at(pick(types.size()));
    };
    ir::Graph graph;
    graph.name = "random";
    std::vector<ir::ValueId> values;
    for (int i = 0; i < 3; ++i) {
        values.push_back(graph.add_input("x" + std::to_string(i),
                                         random() % 3 == 0 ? ir::Shape{1, 1, 4} : ir::Shape{1, 3, 4}));
        graph.values[values.back()].type = type();
    }
    for (int i = 0; i < 3; ++i) {
        const std::array<ir::Shape, 4> shapes{ir::Shape{1}, {1}, {1, 1, 4}, {1, 3, 4}};
        values.push_back(random_constant(random, graph, shapes.at(pick(shapes.size())), type()));
    }
    const std::vector<std::string> binary{"add", "subtract", "multiply", "maximum", "minimum", "less", "xor"};
    const std::vector<std::string> unary{"negate", "absolute", "round_to_bfloat16"};
    const auto bfloat16_values = [&] {
        std::vector<ir::ValueId> found;
        std::ranges::copy_if(values, std::back_inserter(found),
                             [&](ir::ValueId id) { return graph.values[id].type == DataType::Bfloat16; });
        return found;
    };
    const auto append = [&](std::vector<std::string> steps, std::vector<ir::ValueId> inputs,
                            DataType type_of) {
        values.push_back(graph.append("n", operators::registry().at("word_chain"),
                                      {{"steps", std::move(steps)}}, std::move(inputs), DataType::Uint8,
                                      {{.type = type_of}}));
    };
    for (int node = 0; node < 12; ++node) {
        const std::vector<ir::ValueId> halves = bfloat16_values();
        if (random() % 4 == 0 && !halves.empty()) {
            // One of two bfloat16 needs no rounding.
            const std::vector<std::string> choices{"maximum 0 1", "minimum 0 1", "select 0 1 0"};
            append({choices[pick(choices.size())]},
                   {halves[pick(halves.size())], halves[pick(halves.size())]}, DataType::Bfloat16);
            continue;
        }
        std::vector<ir::ValueId> inputs;
        bool is_computed = false;
        for (std::size_t i = 0; i < 1 + pick(3) || !is_computed; ++i) {
            inputs.push_back(values[pick(values.size())]);
            is_computed = is_computed || !graph.values[inputs.back()].constant;
        }
        std::vector<std::string> steps;
        for (std::size_t i = 0; i < 1 + pick(6); ++i) {
            const std::size_t before = inputs.size() + steps.size();
            const auto operand = [&] { return " " + std::to_string(pick(before)); };
            std::string step;
            switch (pick(6)) {
                case 0:
                    step = unary[pick(unary.size())] + operand();
                    break;
                case 1:
                    step = "select" + operand() + operand() + operand();
                    break;
                case 2:
                    step = random() % 2 == 0 ? "constant 0x00010000" : "constant 0x3f800000";
                    break;
                default:
                    step = binary[pick(binary.size())] + operand() + operand();
            }
            steps.push_back(std::move(step));
        }
        append(std::move(steps), std::move(inputs), type());
    }
    for (int i = 0; i < 3; ++i) graph.outputs.push_back(values[values.size() - 1 - pick(6)]);
    std::ranges::sort(graph.outputs);
    graph.outputs.erase(std::unique(graph.outputs.begin(), graph.outputs.end()), graph.outputs.end());
    ir::remove_unread(graph);
    return graph;
}

TEST_CASE("Random chains have the same bits when they are put together", "[tensor_core]") {
    std::size_t before = 0;
    std::size_t behind = 0;
    std::size_t on_chip = 0;
    for (std::uint32_t seed = 0; seed < random_runs(1000); ++seed) {
        std::mt19937 random(seed);
        const ir::Graph graph = passes::compute_in_words(random_chains(random), {});
        INFO("seed " << seed << "\n" << to_text(graph));
        const ir::Graph fused = tensor_core::fuse_chains(graph);
        REQUIRE(ir::find_fault(fused).value_or("") == "");
        before += chains_in(graph);
        behind += chains_in(fused);
        const mapping::Batches batches{.batch = 2, .inferences = 2};
        const WordTensors inputs = random_inputs(random, graph, 2);
        const WordTensors expected = expected_outputs(graph, batches, inputs);
        CHECK(difference(expected_outputs(fused, batches, inputs), expected) == "");
        const machine::MachineConfig machine = random_core(random);
        for (const ir::Graph* const each : {&graph, &fused}) {
            try {
                check_bits(random_program(random, *each, machine, batches).program, machine, inputs, expected,
                           false);
                ++on_chip;
            } catch (const ModelError& error) {
                // A chain reads at most so many tensors, and a random graph is not cut.
                REQUIRE(std::string(error.what()).find("a chain reads at most") != std::string::npos);
            }
        }
    }
    CHECK(behind < before * 2 / 3);
    CHECK(on_chip > random_runs(1000));
}

TEST_CASE("Chains round to bfloat16 where their nodes do, and nowhere else", "[tensor_core]") {
    const auto roundings_in = [](const auto& steps) {
        return std::ranges::count_if(
            steps, [](const auto& step) { return step.operation == WordOperation::RoundToBfloat16; });
    };
    std::ptrdiff_t all = 0;
    std::size_t needless = 0;
    for (std::uint32_t seed = 0; seed < random_runs(300); ++seed) {
        std::mt19937 random(seed);
        const ir::Graph graph = passes::compute_in_words(random_chains(random), {});
        INFO("seed " << seed << "\n" << to_text(graph));
        std::ptrdiff_t in_nodes = 0;
        for (const ir::Node& node : graph.nodes) {
            in_nodes += roundings_in(operators::rounded_word_steps({graph, node}));
            const bool is_rounded = graph.values[node.output()].type == DataType::Bfloat16;
            needless += is_rounded && operators::rounded_word_steps({graph, node}).size() ==
                                          operators::word_steps(node).size()
                            ? 1
                            : 0;
        }
        try {
            const tensor_core::Network network = tensor_core::make_network(graph, random_core(random), 1);
            std::ptrdiff_t in_chains = 0;
            for (const tensor_core::Step& step : network.steps) {
                for (const tensor_core::ChainUse* const chain : tensor_core::chains_of(step))
                    in_chains += roundings_in(chain->steps);
            }
            CHECK(in_chains == in_nodes);
            all += in_chains;
        } catch (const ModelError& error) {
            REQUIRE(std::string(error.what()).find("a chain reads at most") != std::string::npos);
        }
    }
    CHECK(all > random_share(300));
    CHECK(needless > random_share(300));
}

TEST_CASE("Chains of any length are put together or left as they are", "[tensor_core]") {
    std::size_t together = 0;
    for (std::uint32_t seed = 0; seed < random_runs(100); ++seed) {
        std::mt19937 random(seed);
        ir::Graph graph;
        graph.name = "long";
        std::vector<ir::ValueId> values{graph.add_input("x", {1, 4}), graph.add_input("y", {1, 4})};
        for (int node = 0; node < 3; ++node) {
            const bool is_long = random() % 2 == 0;
            const std::size_t count = 1 + random() % (is_long ? ir::most_word_values - 2 : 40);
            std::vector<std::string> steps;
            while (steps.size() < count) {
                // Each reads the one before it, so that no two are the same.
                const std::size_t before = 2 + steps.size();
                steps.push_back("add " + std::to_string(before - 1) + " " + std::to_string(random() % 2));
            }
            values.push_back(graph.append("n", operators::registry().at("word_chain"),
                                          {{"steps", std::move(steps)}}, {values[0], values.back()}));
        }
        graph.outputs = {values.back()};
        INFO("seed " << seed << "\n" << to_text(graph));
        const ir::Graph fused = tensor_core::fuse_chains(graph);
        together += chains_in(fused) < 3 ? 1 : 0;
        const mapping::Batches batches{.batch = 1, .inferences = 1};
        const WordTensors inputs = random_inputs(random, graph, 1);
        CHECK(difference(expected_outputs(fused, batches, inputs),
                         expected_outputs(graph, batches, inputs)) == "");
    }
    CHECK(together > random_share(5));
    CHECK(together < random_runs(100));
}

}  // namespace
}  // namespace systole::tests
