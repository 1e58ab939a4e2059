// Sums over the eight cores of a v2-8, one by one and combined: docs/cloud_tpu.md has these cycles.
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "compiler/operators/operator.h"
#include "compiler/passes/combine_all_reduces.h"
#include "compiler/target/tensor_core/family.h"
#include "hw/machine/machine_config.h"
#include "hw/system/system.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/source_dir.h"

using namespace systole;

namespace {

/// Some tensors of 1,024 x 128 numbers, 512 KiB, each the work of a chain; of their sums over the cores, the
/// largest of each column.
ir::Graph graph_of_sums(std::uint32_t tensors) {
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
        graph.outputs.push_back(graph.append("largest" + name, operators::registry().at("word_reduce"),
                                             {{"reduction", std::string("maximum")},
                                              {"axes", std::vector<std::int64_t>{1}},
                                              {"sum_tile", std::int64_t{128}}},
                                             {sum}, DataType::Float32));
    }
    return graph;
}

struct Ran {
    Cycle cycles = 0;
    std::uint64_t collectives = 0;
    std::uint64_t busy = 0;  ///< cycles of the links of core 0
};

Ran run(const ir::Graph& graph) {
    const machine::MachineConfig machine =
        machine::read_machine(std::filesystem::path(tests::source_dir()) / "configs/machines/tpu_v2_8.json");
    mapping::Options options;
    options.batches = {.batch = 8, .inferences = 8};
    const isa::Program program = tensor_core::family.compile(graph, machine, options).program;
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

}  // namespace

TEST_CASE("Combined, six sums over eight cores go over the links as one", "[tensor_core][all_reduce]") {
    const ir::Graph graph = graph_of_sums(6);
    const Ran alone = run(graph);
    const Ran combined = run(passes::combine_all_reduces(graph));
    CHECK(alone.collectives == 6);
    CHECK(combined.collectives == 1);
    // Bytes at 62 GB/s and 700 MHz, 620 bytes in 7 cycles. The way along 14 links adds 13 chunks of 64 KiB:
    // to each sum, or once.
    CHECK(alone.busy == 6 * (((8 + 13) * 65536 * 7 + 619) / 620));
    CHECK(combined.busy == ((6 * 8 + 13) * 65536 * 7 + 619) / 620);
    CHECK(alone.cycles == 170860);
    CHECK(combined.cycles == 116304);
}
