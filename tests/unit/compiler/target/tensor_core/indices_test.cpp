// Computed indices on random machines with a tensor core: all places that they name have the reference's
// bits, and one outside of its axis ends the run, on the units and without time.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "compiler/passes/compute_in_words.h"
#include "compiler/target/tensor_core/family.h"
#include "hw/isa/program_error.h"
#include "tests/support/graphs.h"
#include "tests/support/index_nodes.h"
#include "tests/support/random_runs.h"
#include "tests/support/tensor_networks.h"

using namespace systole;
using namespace systole::tests;

namespace {

/// A node with computed indices, compiled for a machine.
struct CompiledNode {
    machine::MachineConfig machine;
    ir::Graph graph;
    mapping::Options options;
    isa::Program program;

    CompiledNode(std::mt19937& random, const nodes::IndexedNode& drawn) : machine(random_core(random)) {
        machine.vector_memory.rows = 9000;
        options.batches = {.batch = 1 + static_cast<std::uint32_t>(random() % 3),
                           .inferences = 1 + random() % 4};
        graph = passes::compute_in_words(nodes::read_node(drawn.node, drawn.inputs),
                                         {.sum_tile = machine.matrix_unit.rows,
                                          .precision = "default",
                                          .reduction_block = machine.vector_unit.lanes});
        program = tensor_core::family.compile(graph, machine, options).program;
    }
};

/// The inputs of several inferences, each with those of the node.
WordTensors inputs_of(const nodes::IndexedNode& drawn, std::uint64_t inferences) {
    WordTensors inputs;
    for (const nodes::Tensor& input : drawn.inputs) {
        if (input.is_constant) continue;
        std::vector<std::uint32_t> words(input.bytes.size() / sizeof(std::uint32_t));
        std::memcpy(words.data(), input.bytes.data(), input.bytes.size());
        std::vector<std::uint32_t>& all = inputs.emplace_back();
        for (std::uint64_t i = 0; i < inferences; ++i) all.insert(all.end(), words.begin(), words.end());
    }
    return inputs;
}

/// The number of the node's indices among its inputs that are no constants.
std::size_t input_of_indices(const nodes::IndexedNode& drawn) {
    const auto end = drawn.inputs.begin() + static_cast<std::ptrdiff_t>(drawn.indices);
    return static_cast<std::size_t>(
        std::count_if(drawn.inputs.begin(), end, [](const auto& input) { return !input.is_constant; }));
}

template <typename Run>
std::string error_of(const Run& run) {
    try {
        run();
    } catch (const isa::ProgramError& error) {
        return error.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("Places at computed indices have the reference's bits on a tensor core",
          "[tensor_core][networks]") {
    for (std::uint32_t seed = 0; seed < random_runs(120); ++seed) {
        std::mt19937 random(seed);
        GraphParts parts(seed);
        const nodes::IndexedNode drawn = nodes::IndexedNodes(parts).draw();
        INFO("seed " << seed << ": " << drawn.node.name);
        const CompiledNode compiled(random, drawn);
        const WordTensors inputs = inputs_of(drawn, compiled.options.batches.inferences);
        check_bits(compiled.program, compiled.machine, inputs,
                   expected_outputs(compiled.graph, compiled.options.batches, inputs));
    }
}

TEST_CASE("An index outside of its axis ends the run of a tensor core, and is named",
          "[tensor_core][networks]") {
    for (std::uint32_t seed = 0; seed < random_runs(120); ++seed) {
        std::mt19937 random(seed);
        GraphParts parts(seed);
        const nodes::IndexedNode drawn = nodes::IndexedNodes(parts).draw();
        const auto elements = static_cast<std::uint32_t>(drawn.inputs[drawn.indices].shape.elements());
        const std::uint32_t wrong = parts.number(0, elements - 1);
        const std::int32_t index = outside(parts, drawn, wrong);
        INFO("seed " << seed << ": " << drawn.node.name << ", index " << wrong << " is " << index);
        const CompiledNode compiled(random, drawn);
        const std::uint64_t inferences = compiled.options.batches.inferences;
        WordTensors inputs = inputs_of(drawn, inferences);
        // Of one of the inferences.
        inputs[input_of_indices(drawn)][random() % inferences * elements + wrong] =
            static_cast<std::uint32_t>(index);
        const std::string rule = " is " + std::to_string(index) + "; the table has rows 0 to ";
        CHECK_THAT(
            error_of([&] { without_time(compiled.program, compiled.machine, inputs); }),
            Catch::StartsWith("instruction ") && Catch::Contains("gather_rows ") && Catch::Contains(rule));
        for (const machine::Engine engine : {machine::Engine::Wavefront, machine::Engine::Pe})
            CHECK_THAT(error_of([&] { on_units(compiled.program, compiled.machine, engine, inputs); }),
                       Catch::StartsWith("layer \"node\", instruction ") &&
                           Catch::Contains(" (gather_rows ") && Catch::Contains(rule));
    }
}
