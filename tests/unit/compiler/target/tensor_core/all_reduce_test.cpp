// Sums over the eight cores of a v2-8, one by one and combined: docs/cloud_tpu.md has these cycles, "Sums
// over all cores".
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "compiler/operators/operator.h"
#include "compiler/passes/combine_all_reduces.h"
#include "compiler/target/tensor_core/choose.h"
#include "compiler/target/tensor_core/family.h"
#include "compiler/target/tensor_core/network.h"
#include "hw/machine/machine_config.h"
#include "hw/system/system.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/source_dir.h"

using namespace systole;

namespace {

enum class Result { Largest, Sums };

/// Some tensors of 1,024 x 128 numbers, 512 KiB, each the work of a chain; of their sums over the cores, the
/// largest of each column goes to the host, or all of them do.
ir::Graph graph_of_sums(std::uint32_t tensors, Result result) {
    ir::Graph graph;
    graph.name = "sums";
    const ir::ValueId input = graph.add_input("input", {1, 1024, 128}, DataType::Float32);
    for (std::uint32_t i = 0; i < tensors; ++i) {
        const std::string name = std::to_string(i);
        const ir::ValueId work = graph.append(
            "work" + name, operators::registry().at("word_chain"),
            {{"steps", std::vector<std::string>{"constant 0x3f80000" + name, "multiply 0 1", "tanh 2"}}},
            {input}, DataType::Float32);
        const ir::ValueId sum = graph.append("sum" + name, operators::registry().at("all_reduce"),
                                             {{"parts", std::int64_t{8}}}, {work}, DataType::Float32);
        if (result == Result::Sums) {
            graph.outputs.push_back(sum);
            continue;
        }
        graph.outputs.push_back(graph.append("largest" + name, operators::registry().at("word_reduce"),
                                             {{"reduction", std::string("maximum")},
                                              {"axes", std::vector<std::int64_t>{1}},
                                              {"sum_tile", std::int64_t{128}}},
                                             {sum}, DataType::Float32));
    }
    return graph;
}

machine::MachineConfig v2_8() {
    return machine::read_machine(std::filesystem::path(tests::source_dir()) /
                                 "configs/machines/tpu_v2_8.json");
}

constexpr mapping::Batches eight_images{.batch = 8, .inferences = 8};

struct Ran {
    Cycle cycles = 0;
    std::uint64_t collectives = 0;
    std::uint64_t busy = 0;  ///< cycles of the links of core 0
};

Ran run(const isa::Program& program, const machine::MachineConfig& machine) {
    Ran ran;
    for (const isa::Instruction& each : program.instructions)
        ran.collectives += std::holds_alternative<isa::Collective>(each) ? 1 : 0;
    const tests::FreshSimulation simulation;
    hw::System system("system", machine, program, {.values = hw::Values::TimingOnly, .test_delta_delay = {}});
    system.run();
    ran.cycles = system.cycles();
    ran.busy = system.counter("chip0.core0.collective_unit.busy_cycles").value();
    return ran;
}

/// The graph as it is.
Ran run_graph(const ir::Graph& graph) {
    const machine::MachineConfig machine = v2_8();
    tensor_core::Network network = tensor_core::make_network(graph, machine, 1);
    return run(tensor_core::choose_mapping(network, machine, eight_images).program, machine);
}

/// The graph as it is compiled.
mapping::Compiled compiled(const ir::Graph& graph, const machine::MachineConfig& machine) {
    mapping::Options options;
    options.batches = eight_images;
    options.explain = true;
    options.mapping = machine::mapping_named(machine::MappingName::Best);
    return tensor_core::family.compile(graph, machine, options);
}

std::vector<std::string> chosen(const mapping::Compiled& compiled) {
    std::vector<std::string> names;
    for (const mapping::Alternative& each : compiled.choices.front().alternatives) {
        if (each.chosen) names.push_back(compiled.choices.front().of + ": " + each.name);
    }
    return names;
}

}  // namespace

TEST_CASE("Combined, six sums over eight cores go over the links as one", "[tensor_core][all_reduce]") {
    const ir::Graph graph = graph_of_sums(6, Result::Largest);
    const Ran alone = run_graph(graph);
    const Ran combined = run_graph(passes::combine_all_reduces(graph));
    CHECK(alone.collectives == 6);
    CHECK(combined.collectives == 1);
    // Bytes at 62 GB/s and 700 MHz, 620 bytes in 7 cycles. The way along 14 links adds 13 chunks of 64 KiB:
    // to each sum, or once.
    CHECK(alone.busy == 6 * (((8 + 13) * 65536 * 7 + 619) / 620));
    CHECK(combined.busy == ((6 * 8 + 13) * 65536 * 7 + 619) / 620);
    CHECK(alone.cycles == 158602);
    CHECK(combined.cycles == 114262);
    const mapping::Compiled both = compiled(graph, v2_8());
    CHECK(chosen(both) == std::vector<std::string>{"sums over all cores: combined"});
    CHECK(run(both.program, v2_8()).cycles == combined.cycles);
}

TEST_CASE("Sums that go to the host stay apart: the first ones go while the others are summed",
          "[tensor_core][all_reduce]") {
    const ir::Graph graph = graph_of_sums(6, Result::Sums);
    const Ran alone = run_graph(graph);
    const Ran combined = run_graph(passes::combine_all_reduces(graph));
    CHECK(alone.cycles == 339476);
    CHECK(combined.cycles == 375181);
    const mapping::Compiled both = compiled(graph, v2_8());
    CHECK(chosen(both) == std::vector<std::string>{"sums over all cores: one by one"});
    CHECK(run(both.program, v2_8()).cycles == alone.cycles);
}

TEST_CASE("Sums for which there is no room together are not combined", "[tensor_core][all_reduce]") {
    const ir::Graph graph = graph_of_sums(6, Result::Largest);
    machine::MachineConfig machine = v2_8();
    // The input, and a tensor and its sum: not twelve of them.
    constexpr std::uint64_t tensor_bytes = 1024 * 512;
    machine.hbm.bytes = machine.system.cores * 6 * tensor_bytes;
    const isa::Program program = compiled(graph, machine).program;
    CHECK(run(program, machine).collectives == 6);
    // What does not fit either way is refused with the bytes that it needs one by one.
    machine.hbm.bytes = machine.system.cores * tensor_bytes;
    CHECK_THROWS_WITH(compiled(graph, machine), Catch::Contains("of high-bandwidth memory"));
}
