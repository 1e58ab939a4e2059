#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "compiler/frontend/door/read_network.h"
#include "compiler/mapping/compiled.h"
#include "compiler/mapping/options.h"
#include "compiler/passes/prepare.h"
#include "compiler/target/tpu_v1/compile.h"
#include "compiler/target/tpu_v1/lowering/lowering.h"
#include "compiler/target/tpu_v1/network/network.h"
#include "hw/machine/machine_config.h"
#include "hw/system/system.h"
#include "sim/run/execute/simulator.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/random_graph_file.h"
#include "tests/support/random_layers.h"

/// Whole networks on odd machines, for which mappings are compared.
namespace systole::tests {

struct MappingCase {
    machine::MachineConfig machine;
    tpu_v1::Network network;
    mapping::Batches options;
};

/// A machine of which any unit may be the slowest: the array, weight memory, either direction of the link,
/// the delivery and the issue of instructions, queues, the activation unit.
inline machine::MachineConfig odd_machine(std::mt19937& random) {
    machine::MachineConfig machine;
    machine.clock_mhz = one_of(random, {700.0, 700.0, 333.3, 1500.0});
    machine.matrix_unit.rows = one_of(random, {256U, 256U, 128U, 100U, 64U, 32U, 16U, 8U});
    machine.matrix_unit.columns = one_of(random, {256U, 256U, 128U, 72U, 64U, 32U, 16U, 8U});
    machine.matrix_unit.mac_latency_cycles = between(random, 1, 3);
    machine.matrix_unit.row_sums = between(random, 0, 3) > 0;
    machine.systolic_data_setup.fetches_per_cycle = between(random, 1, 3);
    machine.weight_fifo.depth_tiles = between(random, 1, 8);
    machine.weight_memory.bandwidth_gb_per_s = one_of(random, {1.0, 10.0, 34.0, 34.0, 300.0});
    machine.weight_memory.latency_cycles = one_of(random, {0U, 0U, 40U, 500U});
    machine.weight_memory.whole_tiles = between(random, 0, 1) == 0;
    machine.unified_buffer.rows =
        one_of(random, {25'000'000U, 25'000'000U, 4'000'000U, 600'000U}) / machine.matrix_unit.rows;
    machine.unified_buffer.read_ports = between(random, 1, 3);
    machine.unified_buffer.write_ports = between(random, 1, 2);
    machine.accumulators.rows = one_of(random, {4096U, 4096U, 1024U, 256U});
    machine.accumulators.ports = between(random, 1, 2);
    machine.activation_unit.latency_cycles = one_of(random, {0U, 1U, 40U, 1000U, 3000U});
    machine.host_interface.read_gb_per_s = one_of(random, {0.05, 0.3, 2.0, 10.7, 10.7, 60.0});
    machine.host_interface.write_gb_per_s = one_of(random, {0.05, 0.3, 2.0, 10.7, 10.7, 60.0});
    machine.host_interface.latency_cycles = one_of(random, {0U, 100U, 700U, 5000U});
    machine.sequencer.instruction_buffer_bytes = one_of(random, {32U, 64U, 256U, 4096U, 32768U});
    machine.sequencer.queue_depth = one_of(random, {1U, 2U, 4U, 32U, 32U, 256U});
    machine.sequencer.issue_cycles = one_of(random, {0U, 1U, 1U, 8U, 50U});
    // What a file could not say is no machine.
    return machine::read_machine(machine::to_json(machine), "random machine");
}

/// A graph file of convolutions, pooling and dense layers, larger than those of RandomGraphFile.
inline nlohmann::json random_image_network(std::mt19937& random) {
    const std::uint32_t size = one_of(random, {8U, 14U, 28U, 32U, 56U});
    nlohmann::json layers = nlohmann::json::array();
    std::string last = "input";
    const auto add = [&](nlohmann::json layer) {
        layer["name"] = "l" + std::to_string(layers.size());
        layer["inputs"] = {last};
        last = layer["name"];
        layers.push_back(std::move(layer));
    };
    const std::uint32_t count = between(random, 1, 6);
    for (std::uint32_t i = 0; i < count; ++i) {
        nlohmann::json window{{"kernel", between(random, 1, 5)},
                              {"stride", one_of(random, {1U, 1U, 1U, 2U})},
                              {"padding", "same"}};
        switch (between(random, 0, 5)) {
            case 0:
                window["op"] = "max_pool";
                break;
            case 1:
                window.update({{"op", "depthwise_convolution"}, {"activation", "relu"}, {"multiplier", 1}});
                break;
            default:
                window.update({{"op", "convolution"},
                               {"activation", "relu"},
                               {"filters", between(random, 1, one_of(random, {12U, 64U, 200U}))}});
        }
        add(std::move(window));
    }
    add({{"op", "dense"},
         {"units", between(random, 1, one_of(random, {10U, 100U, 600U}))},
         {"activation", "linear"}});
    return {{"schema", "sim.graph/1"},
            {"name", "images"},
            {"input", {{"shape", {size, size, one_of(random, {1U, 3U, 16U})}}}},
            {"weights", {{"seed", 1}}},
            {"layers", layers},
            {"output", last}};
}

/// A graph file of dense layers.
inline nlohmann::json random_dense_network(std::mt19937& random) {
    nlohmann::json layers = nlohmann::json::array();
    std::string last = "input";
    const std::uint32_t count = between(random, 1, 6);
    const std::uint32_t widest = one_of(random, {30U, 300U, 1500U});
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::string name = "l" + std::to_string(i);
        layers.push_back({{"name", name},
                          {"op", "dense"},
                          {"inputs", {last}},
                          {"units", between(random, 1, widest)},
                          {"activation", "relu"}});
        last = name;
    }
    return {
        {"schema", "sim.graph/1"},  {"name", "dense"},  {"input", {{"shape", {between(random, 1, widest)}}}},
        {"weights", {{"seed", 1}}}, {"layers", layers}, {"output", last}};
}

inline MappingCase mapping_case(std::uint32_t seed) {
    std::mt19937 random(seed);
    MappingCase drawn;
    drawn.machine = odd_machine(random);
    nlohmann::json file;
    switch (between(random, 0, 3)) {
        case 0:
            file = RandomGraphFile(static_cast<std::uint32_t>(random())).draw();
            break;
        case 1:
            file = random_dense_network(random);
            break;
        default:
            file = random_image_network(random);
    }
    drawn.network = tpu_v1::lower(
        passes::prepare(frontend::build_json_graph(file.dump(), frontend::WeightValues::Skipped), {}));
    // A small array takes many tiles, each a step of the simulation.
    const bool is_small = drawn.machine.tile_bytes() < 64 * 64;
    const std::uint32_t batch = is_small ? between(random, 1, 2) : one_of(random, {1U, 1U, 2U, 7U, 16U, 64U});
    drawn.options = {.batch = batch, .inferences = std::uint64_t{batch} * one_of(random, {1U, 1U, 2U, 5U})};
    return drawn;
}

/// The program of a case for a mapping.
inline mapping::Compiled compiled(const MappingCase& drawn, const machine::Mapping& mapping,
                                  const mapping::ComparisonSteps& steps = {}) {
    run::RunSpec spec;
    spec.machine = drawn.machine;
    return tpu_v1::compile(drawn.network, drawn.machine,
                           {.mapping = mapping,
                            .batches = drawn.options,
                            .simulate = run::simulator_of(spec),
                            .comparison = steps});
}

/// The cycles of a program that uses no host.
inline Cycle cycles_of(const isa::Program& program, const machine::MachineConfig& machine) {
    const FreshSimulation simulation;
    hw::System system("system", machine, program, {.values = hw::Values::TimingOnly, .test_delta_delay = {}});
    system.run();
    return system.cycles();
}

}  // namespace systole::tests
