#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/arithmetic.h"
#include "compiler/ir/graph.h"
#include "compiler/reference/executor.h"
#include "compiler/target/tensor_core/choose.h"
#include "compiler/target/tensor_core/network.h"
#include "compiler/target/tensor_core/prepare.h"
#include "hw/isa/assembly.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"
#include "hw/math/floats/word_values.h"
#include "hw/system/system.h"
#include "sim/functional/tensor/tensor_executor.h"
#include "tests/support/fresh_simulation.h"

/// Networks on random machines with a tensor core: compiled in any way, and held to the reference's bits.
namespace systole::tests {

inline machine::MachineConfig random_core(std::mt19937& random) {
    const auto drawn = [&](std::uint32_t low, std::uint32_t high) {
        return std::uniform_int_distribution<std::uint32_t>(low, high)(random);
    };
    machine::MachineConfig machine;
    machine.name = "random";
    machine.family = machine::Family::TensorCore;
    machine.clock_mhz = 500;
    machine.matrix_unit.formats = machine::float_array_formats();
    machine.vector_unit.lanes = 1U << drawn(2, 4);
    machine.vector_unit.sublanes = drawn(1, 8);
    machine.matrix_unit.columns = machine.vector_unit.lanes;
    machine.matrix_unit.rows = drawn(1, 16);
    machine.vector_memory.rows = drawn(0, 2) == 0 ? drawn(300, 800) : drawn(800, 9000);
    machine.hbm.bytes = std::uint64_t{1} << 26U;
    machine.hbm.bandwidth_gb_per_s = drawn(5, 80);
    machine.hbm.latency_cycles = drawn(0, 9);
    machine.vector_unit.latency_cycles = drawn(0, 5);
    machine.cross_lane_unit.latency_cycles = drawn(0, 9);
    machine.matrix_unit.arrays = drawn(0, 2) == 0 ? 2 : 1;
    return machine;
}

inline machine::MachineConfig core_of_16_lanes(std::uint32_t vector_memory_rows) {
    machine::MachineConfig machine;
    machine.name = "core";
    machine.family = machine::Family::TensorCore;
    machine.clock_mhz = 700;
    machine.matrix_unit.formats = machine::float_array_formats();
    machine.matrix_unit.rows = machine.matrix_unit.columns = machine.vector_unit.lanes = 16;
    machine.vector_unit.sublanes = 4;
    machine.vector_memory.rows = vector_memory_rows;
    machine.hbm.bytes = std::uint64_t{1} << 28U;
    machine.hbm.bandwidth_gb_per_s = 40;
    return machine;
}

/// The elements of inputs or outputs, each as the word that a tensor core has.
using WordTensors = std::vector<std::vector<std::uint32_t>>;

/// Host memory of a program for a tensor core has a word for each element.
inline void fill_inputs(const isa::Program& program, const WordTensors& inputs, const auto& bytes_of_buffer) {
    std::size_t input = 0;
    for (const isa::HostBuffer& buffer : program.buffers) {
        if (buffer.kind != isa::BufferKind::Input) continue;
        const std::span<std::uint8_t> bytes = bytes_of_buffer(buffer);
        std::memcpy(bytes.data(), inputs[input].data(), inputs[input].size() * sizeof(std::uint32_t));
        ++input;
    }
}

inline WordTensors outputs_of(const isa::Program& program, const auto& bytes_of_buffer) {
    WordTensors outputs;
    for (const isa::HostBuffer& buffer : program.buffers) {
        if (buffer.kind != isa::BufferKind::Output) continue;
        const std::span<const std::uint8_t> bytes = bytes_of_buffer(buffer);
        outputs.emplace_back(bytes.size() / sizeof(std::uint32_t));
        std::memcpy(outputs.back().data(), bytes.data(), bytes.size());
    }
    return outputs;
}

inline WordTensors on_units(const isa::Program& program, machine::MachineConfig machine,
                            machine::Engine engine, const WordTensors& inputs, Cycle* cycles = nullptr) {
    machine.matrix_unit.engine = engine;
    FreshSimulation simulation;
    hw::System system("system", machine, program, {.values = hw::Values::Computed, .test_delta_delay = {}});
    const auto host_bytes = [&](const isa::HostBuffer& buffer) { return system.host_bytes(buffer); };
    fill_inputs(program, inputs, host_bytes);
    system.run();
    if (cycles != nullptr) *cycles = system.cycles();
    return outputs_of(program, host_bytes);
}

/// The first difference.
inline std::string difference(const WordTensors& found, const WordTensors& expected) {
    if (found.size() != expected.size()) return "another number of outputs";
    for (std::size_t output = 0; output < expected.size(); ++output) {
        if (found[output].size() != expected[output].size()) return "another size";
        for (std::size_t i = 0; i < expected[output].size(); ++i) {
            const std::uint32_t a = found[output][i];
            const std::uint32_t b = expected[output][i];
            if (a != b) {
                return fmt::format("output {}, element {}: {:#x} ({}) instead of {:#x} ({})", output, i, a,
                                   std::bit_cast<float>(a), b, std::bit_cast<float>(b));
            }
        }
    }
    return {};
}

/// Of several cores, each writes its part of the outputs, and leaves the others at zero.
inline WordTensors without_time(const isa::Program& program, const machine::MachineConfig& machine,
                                const WordTensors& inputs) {
    std::deque<functional::TensorExecutor> cores;
    std::vector<functional::TensorExecutor*> all;
    for (std::uint32_t core = 0; core < machine.cores(); ++core) {
        all.push_back(
            &cores.emplace_back(program, functional::TensorSizes{.vector_rows = machine.vector_memory.rows,
                                                                 .hbm_rows = machine.hbm_rows_of_core(),
                                                                 .core = core}));
        fill_inputs(program, inputs,
                    [&](const isa::HostBuffer& buffer) { return cores.back().host_bytes(buffer); });
    }
    functional::TensorExecutor::run_together(all);
    WordTensors outputs;
    for (functional::TensorExecutor& executor : cores) {
        const auto own =
            outputs_of(program, [&](const isa::HostBuffer& buffer) { return executor.host_bytes(buffer); });
        if (outputs.empty()) {
            outputs = own;
            continue;
        }
        for (std::size_t output = 0; output < own.size(); ++output) {
            std::ranges::transform(own[output], outputs[output], outputs[output].begin(),
                                   [](std::uint32_t a, std::uint32_t b) { return a | b; });
        }
    }
    return outputs;
}

/// A third of the machines have several cores, of which each has as much memory as the one.
inline void draw_cores(std::mt19937& random, machine::MachineConfig& machine, mapping::Batches& batches) {
    if (random() % 3 != 0) return;
    constexpr std::array<machine::SystemConfig, 8> systems{{{.chips = 1, .cores = 2},
                                                            {.chips = 1, .cores = 3},
                                                            {.chips = 2, .cores = 1},
                                                            {.chips = 2, .cores = 2},
                                                            {.chips = 2, .cores = 3},
                                                            {.chips = 5, .cores = 1},
                                                            {.chips = 4, .cores = 2},
                                                            {.chips = 8, .cores = 1}}};
    machine.system = systems.at(random() % systems.size());
    machine.hbm.bytes *= machine.system.cores;
    batches.batch *= machine.cores();
    batches.inferences = 1 + random() % (2 * batches.batch);
}

/// How a step is cut into tiles, and which weights and tensors stay: any of it gives the same bits.
inline void draw_limits(std::mt19937& random, tensor_core::Network& network) {
    const auto limit = [&](std::uint64_t most) {
        return random() % 2 == 0 ? tensor_core::TileLimits::none : 1 + random() % most;
    };
    for (tensor_core::Step& step : network.steps) {
        step.limits = {.images = limit(3),
                       .lines = limit(12),
                       .columns = limit(6),
                       .weights = limit(3),
                       .keeps_weights = random() % 3 > 0};
    }
    for (tensor_core::Tensor& tensor : network.tensors) tensor.may_stay = random() % 4 > 0;
}

/// Any mapping that could be chosen, and others. With caches, all images of a batch are there at once.
inline tensor_core::Mapping random_mapping(std::mt19937& random, std::uint32_t batch, std::size_t steps,
                                           bool has_caches) {
    tensor_core::Mapping mapping{.images = has_caches ? batch : 1 + random() % batch, .segments = {}};
    for (std::uint32_t first = 0; first < steps;) {
        std::uint64_t images = 1 + random() % mapping.images;
        while (mapping.images % images != 0) --images;
        const auto end = static_cast<std::uint32_t>(first + 1 + random() % (steps - first));
        mapping.segments.push_back({.first = first, .end = end, .images = images});
        first = end;
    }
    mapping.kept_share = static_cast<double>(random() % 101) / 100;
    mapping.least_tiles = 1 + random() % 5;
    mapping.room_by_step = random() % 2 == 0;
    return mapping;
}

struct DrawnProgram {
    isa::Program program;
    bool is_cut = false;  ///< by the limits that were drawn
};

inline DrawnProgram random_program(std::mt19937& random, const ir::Graph& graph,
                                   const machine::MachineConfig& machine, const mapping::Batches& batches) {
    const tensor_core::NetworkForm form{.by_lines = random() % 4 > 0,
                                        .joins_steps = random() % 4 > 0,
                                        .packs_rows = random() % 4 > 0,
                                        .transposes_on_the_way = random() % 4 > 0,
                                        .keeps_results = random() % 8 > 0,
                                        .frees_early = random() % 2 == 0,
                                        .overlaps = random() % 8 > 0};
    const ir::Graph prepared = tensor_core::prepared(graph, machine);
    tensor_core::Network network =
        tensor_core::make_network(random() % 2 == 0 ? prepared : graph, machine, 1, form);
    const tensor_core::Mapping mapping =
        random_mapping(random, batches.batch / machine.cores(), network.steps.size(), !graph.caches.empty());
    tensor_core::Network limited = network;
    draw_limits(random, limited);
    DrawnProgram drawn{.program = tensor_core::map_program(limited, machine, mapping, batches, true).program};
    const std::size_t most =
        tensor_core::map_program(network, machine, mapping, batches).program.instructions.size();
    drawn.is_cut = drawn.program.instructions.size() > most;
    return drawn;
}

/// Rows of high-bandwidth memory that a program reads and writes.
inline std::uint64_t rows_moved(const isa::Program& program) {
    std::uint64_t rows = 0;
    for (const isa::Instruction& instruction : program.instructions) {
        if (const auto* const in = std::get_if<isa::DmaIn>(&instruction))
            rows += std::uint64_t{in->rows} * in->blocks;
        if (const auto* const gather = std::get_if<isa::GatherRows>(&instruction))
            rows += 1 + std::uint64_t{gather->rows} * gather->blocks;
        if (const auto* const out = std::get_if<isa::DmaOut>(&instruction))
            rows += std::uint64_t{out->rows} * out->blocks;
    }
    return rows;
}

/// The reference's outputs: of all inferences, or batch by batch if images of a batch are summed.
inline WordTensors expected_outputs(const ir::Graph& graph, const mapping::Batches& batches,
                                    const WordTensors& inputs) {
    const auto inferences = static_cast<std::uint32_t>(batches.inferences);
    const std::uint32_t at_once = ir::mixes_images(graph) ? batches.batch : inferences;
    WordTensors expected(graph.outputs.size());
    for (std::uint32_t first = 0; first < inferences; first += at_once) {
        std::vector<std::vector<std::uint8_t>> some;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const DataType type = graph.values[graph.inputs[i]].type;
            const std::size_t each = inputs[i].size() / inferences;
            some.emplace_back(each * at_once * bytes_of(type));
            math::from_words(std::span(inputs[i]).subspan(first * each, at_once * each), type,
                             some.back().data());
        }
        const std::vector<std::span<const std::uint8_t>> bytes(some.begin(), some.end());
        const auto outputs = reference::run(graph, bytes, at_once);
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            const DataType type = graph.values[graph.outputs[i]].type;
            std::vector<std::uint32_t> words(outputs[i].size() / bytes_of(type));
            math::to_words(outputs[i].data(), type, words);
            expected[i].insert(expected[i].end(), words.begin(), words.end());
        }
    }
    return expected;
}

/// The outputs of a graph with state after so many steps, each a batch of its replicas: those without state
/// of all steps, state of the last one.
inline WordTensors expected_of_steps(const ir::Graph& graph, std::uint64_t steps, const WordTensors& inputs) {
    const std::uint32_t batch = graph.replicas;
    const auto bytes_of_words = [](std::span<const std::uint32_t> words, DataType type) {
        reference::TensorBytes bytes(words.size() * bytes_of(type));
        math::from_words(words, type, bytes.data());
        return bytes;
    };
    std::vector<reference::TensorBytes> state;
    for (const ir::Graph::State& each : graph.state)
        state.push_back(bytes_of_words(inputs[each.input], graph.values[graph.inputs[each.input]].type));
    std::vector<std::vector<reference::TensorBytes>> of_steps(steps);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (std::ranges::count(graph.state, i, &ir::Graph::State::input) > 0) continue;
        const ir::Value& value = graph.values[graph.inputs[i]];
        const std::size_t each = batch * value.shape.elements();
        for (std::size_t step = 0; step < steps; ++step) {
            of_steps[step].push_back(
                bytes_of_words(std::span(inputs[i]).subspan(step * each, each), value.type));
        }
    }
    WordTensors expected(graph.outputs.size());
    for (const auto& outputs : reference::run_steps(graph, std::move(state), of_steps, batch)) {
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            const DataType type = graph.values[graph.outputs[i]].type;
            std::vector<std::uint32_t> words(outputs[i].size() / bytes_of(type));
            math::to_words(outputs[i].data(), type, words);
            if (std::ranges::count(graph.state, i, &ir::Graph::State::output) > 0) expected[i].clear();
            expected[i].insert(expected[i].end(), words.begin(), words.end());
        }
    }
    return expected;
}

/// Without time, and on both engines.
inline void check_bits(const isa::Program& program, const machine::MachineConfig& machine,
                       const WordTensors& inputs, const WordTensors& expected, bool with_units = true) {
    const std::string wrong = difference(without_time(program, machine, inputs), expected);
    if (!wrong.empty()) FAIL("without time: " << wrong << "\n" << isa::disassemble(program).substr(0, 20000));
    if (!with_units) return;
    for (const machine::Engine engine : {machine::Engine::Wavefront, machine::Engine::Pe}) {
        const std::string of_units = difference(on_units(program, machine, engine, inputs), expected);
        if (!of_units.empty()) FAIL("on the units: " << of_units);
    }
}

/// Floats between -2 and 2, and small whole numbers; of state, for a batch.
inline WordTensors random_inputs(std::mt19937& random, const ir::Graph& graph, std::uint64_t inferences) {
    WordTensors inputs;
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
        const ir::Value& value = graph.values[graph.inputs[i]];
        const bool is_state = std::ranges::count(graph.state, i, &ir::Graph::State::input) > 0;
        std::vector<std::uint32_t>& words =
            inputs.emplace_back((is_state ? graph.replicas : inferences) * value.shape.elements());
        for (std::uint32_t& word : words) {
            if (value.type == DataType::Int32) {
                word = static_cast<std::uint32_t>(random() % 61) - 30;
                continue;
            }
            const float number = std::uniform_real_distribution<float>(-2.0F, 2.0F)(random);
            word = std::bit_cast<std::uint32_t>(number);
            if (value.type == DataType::Bfloat16) word &= 0xFFFF0000U;
        }
    }
    return inputs;
}

}  // namespace systole::tests
