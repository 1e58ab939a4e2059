#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <variant>
#include <vector>

#include "compiler/reference/executor.h"
#include "compiler/target/tpu_v1/compile.h"
#include "compiler/target/tpu_v1/emit/emit_program.h"
#include "compiler/target/tpu_v1/lowering/lowering.h"
#include "compiler/target/tpu_v1/network/array_weights.h"
#include "compiler/target/tpu_v1/network/network.h"
#include "compiler/target/tpu_v1/target.h"
#include "hw/machine/machine_config.h"
#include "hw/system/system.h"
#include "sim/functional/executor.h"
#include "tests/support/chip.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/reference_host.h"

// Comparison of the chip and the functional executor with the integer reference.
namespace systole::tests {

using Bytes = std::vector<std::uint8_t>;

/// The target of a machine, with the compiler's usual choices.
inline tpu_v1::Target target_of(const machine::MachineConfig& machine) {
    return tpu_v1::target_of(machine, {});
}

inline const isa::HostBuffer& buffer_of(const isa::Program& program, isa::BufferKind kind) {
    return *std::find_if(program.buffers.begin(), program.buffers.end(),
                         [&](const isa::HostBuffer& buffer) { return buffer.kind == kind; });
}

/// The traffic on each path, computed from a program's instructions.
struct Asked {
    std::uint64_t host_read_bytes = 0;
    std::uint64_t host_write_bytes = 0;
    std::uint64_t tiles = 0;
    std::uint64_t tile_bytes = 0;  ///< of whole tiles, whose weights have 8 or 16 bits
};

inline Asked asked_of(const isa::Program& program) {
    Asked asked;
    for (const isa::Instruction& instruction : program.instructions) {
        if (const auto* read = std::get_if<isa::ReadHostMemory>(&instruction)) {
            asked.host_read_bytes += std::uint64_t{read->block_bytes} * read->blocks;
        } else if (const auto* write = std::get_if<isa::WriteHostMemory>(&instruction)) {
            asked.host_write_bytes += std::uint64_t{write->block_bytes} * write->blocks;
        } else if (const auto* weights = std::get_if<isa::ReadWeights>(&instruction)) {
            asked.tiles += weights->tiles;
            for (std::uint32_t i = 0; i < weights->tiles; ++i) {
                asked.tile_bytes += std::uint64_t{program.geometry.rows} * program.geometry.columns *
                                    bytes_of(program.tiles.at(weights->first_tile + i).type);
            }
        }
    }
    return asked;
}

/// Multiply-accumulates of one inference; each counted once, or once for each pass: for each pair of a byte
/// of the activation and a byte of the weight, as the array holds it.
struct NeededMacs {
    std::uint64_t once = 0;
    std::uint64_t by_passes = 0;
};

inline NeededMacs needed_macs(const tpu_v1::Network& network, const tpu_v1::Target& target) {
    NeededMacs needed;
    for (const tpu_v1::Layer& layer : network.layers) {
        needed.once += layer.macs;
        const auto* const product = std::get_if<tpu_v1::MatrixProduct>(&layer.work);
        if (product == nullptr) continue;
        needed.by_passes += layer.macs * bytes_of(network.tensors[layer.inputs[0]].type) *
                            bytes_of(tpu_v1::array_weights(*product, target).type);
    }
    return needed;
}

inline void check_traffic(const hw::System& system, const isa::Program& program) {
    const Asked asked = asked_of(program);
    CHECK(system.counter("host_interface.read_bytes").value() == asked.host_read_bytes);
    CHECK(system.counter("host_interface.write_bytes").value() == asked.host_write_bytes);
    CHECK(system.counter("weight_fifo.tiles").value() == asked.tiles);
    CHECK(system.counter("weight_fifo.bytes").value() == asked.tile_bytes);
}

inline void check_counters(const hw::System& system, const isa::Program& program,
                           const tpu_v1::Network& network, const machine::MachineConfig& machine,
                           std::uint64_t inferences) {
    CHECK(matrix_unit_cycles(system) == system.cycles());
    CHECK(system.counter("matrix_unit.useful_macs").value() +
              system.counter("matrix_unit.unused_macs").value() ==
          system.counter("matrix_unit.active_cycles").value() * machine.tile_bytes());
    const NeededMacs needed = needed_macs(network, target_of(machine));
    CHECK(system.counter("matrix_unit.useful_macs").value() == needed.by_passes * inferences);
    CHECK(system.counter("matrix_unit.multiply_accumulates").value() == needed.once * inferences);
    check_traffic(system, program);
}

/// Runs a program of a quantized graph on the chip and on the functional executor and compares both with the
/// integer reference; then lets `check` see the chip.
template <typename Check>
void check_program(const ir::Graph& graph, const isa::Program& program, const machine::MachineConfig& machine,
                   const Bytes& input, const Check& check) {
    const Bytes expected = reference::execute(graph, input, static_cast<std::uint32_t>(program.inferences));
    const isa::HostBuffer& in = buffer_of(program, isa::BufferKind::Input);
    const isa::HostBuffer& out = buffer_of(program, isa::BufferKind::Output);

    ReferenceHost host(program);
    functional::Executor judge(program, machine, &host);
    std::copy(input.begin(), input.end(), judge.host_bytes(in).begin());
    judge.run();
    const auto judged = judge.host_bytes(out);
    REQUIRE(Bytes(judged.begin(), judged.end()) == expected);

    FreshSimulation simulation;
    hw::System system("system", machine, program, {.host = &host, .test_delta_delay = {}});
    std::copy(input.begin(), input.end(), system.host_bytes(in).begin());
    system.run();
    const auto computed = system.host_bytes(out);
    REQUIRE(Bytes(computed.begin(), computed.end()) == expected);

    const auto buffer = judge.unified_buffer();
    CHECK(std::equal(buffer.begin(), buffer.end(),
                     system.tpu_v1_core().unified_buffer().read(0, machine.unified_buffer.rows)));
    const auto sums = judge.accumulators();
    CHECK(std::equal(sums.begin(), sums.end(),
                     system.tpu_v1_core().accumulators().read(0, machine.accumulators.rows)));
    check(system);
}

/// The program of a network with these choices of the compiler.
inline isa::Program mapped_program(const tpu_v1::Network& network, const machine::MachineConfig& machine,
                                   const mapping::Batches& options, const machine::Mapping& mapping) {
    return tpu_v1::compile(network, machine, {.mapping = mapping, .batches = options}).program;
}

/// The same for the program that the compiler makes. `mapping` cuts no images, whose lines may be computed
/// twice.
inline void check_truth(const ir::Graph& graph, const machine::MachineConfig& machine,
                        const mapping::Batches& options, const Bytes& input,
                        const machine::Mapping& mapping = {}) {
    const tpu_v1::Network network = tpu_v1::lower(graph);
    const isa::Program program = mapped_program(network, machine, options, mapping);
    check_program(graph, program, machine, input, [&](const hw::System& system) {
        check_counters(system, program, network, machine, options.inferences);
    });
}

}  // namespace systole::tests
