// Products of computed matrices on the array: what the reference computes, from any layout of the heads.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/text.h"
#include "compiler/mapping/compiled.h"
#include "compiler/mapping/options.h"
#include "compiler/operators/operator.h"
#include "compiler/passes/quantize.h"
#include "compiler/reference/executor.h"
#include "compiler/target/tpu_v1/family.h"
#include "hw/isa/instruction.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"
#include "hw/machine/mapping.h"
#include "hw/system/system.h"
#include "sim/functional/executor.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/random_runs.h"
#include "tests/support/reference_host.h"

using namespace systole;

namespace {

class Heads {
public:
    explicit Heads(std::uint32_t seed) : random_(seed) {}

    std::uint32_t number(std::uint32_t least, std::uint32_t most) {
        return std::uniform_int_distribution<std::uint32_t>(least, most)(random_);
    }

    /// Scores of queries and keys, and their product with values: [1, heads, sequence, depth] each, or made
    /// of [1, sequence, heads, depth] by a transposition, which may also be behind a product.
    ir::Graph graph() {
        const std::uint32_t heads = number(1, 4);
        const std::uint32_t queries = number(1, 9);
        const std::uint32_t keys = number(1, 9);
        const std::uint32_t depth = number(1, 30);
        graph_ = {};
        graph_.name = "attention";
        const ir::ValueId query = operand("q", heads, queries, depth);
        const ir::ValueId key = operand("k", heads, keys, depth);
        const ir::ValueId value = operand("v", heads, keys, number(1, 30));
        // Keys as they are, or with rows and columns exchanged.
        const bool exchanged = number(0, 1) == 1;
        const ir::ValueId scores = product(
            "scores", query, exchanged ? transposed("exchanged k", key, {0, 1, 3, 2}) : key, !exchanged);
        ir::ValueId context = product("context", scores, value, false);
        if (number(0, 1) == 1) {
            context = swapped("swapped context", context);
            if (number(0, 2) == 0) context = beside_others(context);
        }
        graph_.outputs = {context};
        if (number(0, 3) == 0) graph_.outputs.push_back(scores);
        return graph_;
    }

    machine::MachineConfig machine() {
        machine::MachineConfig machine;
        machine.matrix_unit.rows = number(1, 24);
        machine.matrix_unit.columns = number(number(1, 2), 24);
        machine.accumulators.banks = 1;
        machine.accumulators.rows = number(9, 60);
        machine.weight_fifo.depth_tiles = number(1, 4);
        machine.unified_buffer.read_ports = number(1, 3);
        machine.weight_memory.writable = {.gb_per_s = number(1, 100) * 0.5, .latency_cycles = number(0, 9)};
        machine.sequencer.queue_depth = number(1, 32);
        return machine::read_machine(machine::to_json(machine), "random machine");
    }

    std::vector<std::uint8_t> bytes(std::uint64_t count) {
        std::vector<std::uint8_t> drawn(count);
        std::ranges::generate(drawn, [&] { return static_cast<std::uint8_t>(random_()); });
        return drawn;
    }

private:
    /// Of uint8 and int8, of any zero point that the chip can subtract, at both ends too.
    std::pair<DataType, ir::Quantization> encoding() {
        const bool is_signed = number(0, 1) == 1;
        const std::uint32_t drawn = number(0, 3) == 0 ? 0 : number(0, 3) == 0 ? 128 : number(0, 128);
        const std::int32_t least = is_signed ? -128 : 0;
        return {is_signed ? DataType::Int8 : DataType::Uint8,
                {{0.01 * number(1, 9)}, {least + static_cast<std::int32_t>(drawn)}, {}}};
    }

    ir::ValueId operand(const char* name, std::uint32_t heads, std::uint32_t rows, std::uint32_t columns) {
        const bool is_swapped = number(0, 1) == 1;
        const ir::ValueId id =
            graph_.add_input(name, {1, is_swapped ? rows : heads, is_swapped ? heads : rows, columns});
        std::tie(graph_.values[id].type, graph_.values[id].quantization) = encoding();
        return is_swapped ? swapped(fmt::format("swapped {}", name), id) : id;
    }

    ir::ValueId swapped(const std::string& name, ir::ValueId from) {
        return transposed(name, from, {0, 2, 1, 3});
    }

    ir::ValueId transposed(const std::string& name, ir::ValueId from, std::vector<std::int64_t> permutation) {
        const ir::Value& value = graph_.values[from];
        return graph_.append(name, operators::registry().at("transpose"),
                             {{"permutation", std::move(permutation)}}, {from}, value.type,
                             {{value.type, value.quantization}});
    }

    /// The value as a part of an image's channels, which another layer reads.
    ir::ValueId beside_others(ir::ValueId part) {
        const ir::Value value = graph_.values[part];
        const ir::ValueId input = graph_.add_input("x", {1, value.shape[1], value.shape[2], number(1, 9)});
        std::tie(graph_.values[input].type, graph_.values[input].quantization) =
            std::tie(value.type, value.quantization);
        const ir::ValueId other = pooled("y", input);
        const ir::ValueId all =
            graph_.append("all", operators::registry().at("concat"), {{"axis", std::int64_t{3}}},
                          {part, other}, value.type, {{value.type, value.quantization}});
        return pooled("pooled", all);
    }

    ir::ValueId pooled(const std::string& name, ir::ValueId from) {
        const ir::Value& value = graph_.values[from];
        return graph_.append(name, operators::registry().at("max_pool"),
                             {{"kernel", std::vector<std::int64_t>{3, 3}},
                              {"stride", std::vector<std::int64_t>{1, 1}},
                              {"padding", std::vector<std::int64_t>{1, 1, 1, 1}}},
                             {from}, value.type, {{value.type, value.quantization}});
    }

    ir::ValueId product(const char* name, ir::ValueId a, ir::ValueId b, bool transposes_b) {
        const auto [type, quantization] = encoding();
        return graph_.append(name, operators::registry().at("matrix_product"),
                             {{"transposed_b", std::int64_t{transposes_b}},
                              {"rounding", std::string(number(0, 1) == 0 ? "tflite" : "half_to_even")}},
                             {a, b}, type, {{type, quantization}});
    }

    std::mt19937 random_;
    ir::Graph graph_;
};

std::uint64_t count_writes(const isa::Program& program) {
    return static_cast<std::uint64_t>(std::ranges::count_if(program.instructions, [](const auto& each) {
        return std::holds_alternative<isa::WriteWeights>(each);
    }));
}

/// The outputs of the program after a run by `run`, which has the host's memory.
template <class Machine>
std::vector<std::vector<std::uint8_t>> outputs_of(Machine& machine, const isa::Program& program,
                                                  const std::vector<std::vector<std::uint8_t>>& inputs) {
    std::size_t input = 0;
    for (const isa::HostBuffer& buffer : program.buffers) {
        if (buffer.kind == isa::BufferKind::Input)
            std::ranges::copy(inputs.at(input++), machine.host_bytes(buffer).begin());
    }
    machine.run();
    std::vector<std::vector<std::uint8_t>> outputs;
    for (const isa::HostBuffer& buffer : program.buffers) {
        if (buffer.kind != isa::BufferKind::Output) continue;
        const auto bytes = machine.host_bytes(buffer);
        outputs.emplace_back(bytes.begin(), bytes.end());
    }
    return outputs;
}

}  // namespace

TEST_CASE("Products of computed matrices on the array are those of the reference", "[compiler][emit]") {
    std::uint64_t written = 0;
    std::uint64_t all_on_array = 0;
    const std::uint32_t runs = tests::random_runs(150);
    for (std::uint32_t seed = 7100; seed < 7100 + runs; ++seed) {
        CAPTURE(seed);
        Heads heads(seed);
        const ir::Graph graph = heads.graph();
        REQUIRE(ir::find_fault(graph) == std::nullopt);
        const machine::MachineConfig machine = heads.machine();
        INFO(ir::to_text(graph) << machine::to_json(machine).dump());
        const std::uint32_t inferences = heads.number(1, 5);
        const machine::Mapping mapping = heads.number(0, 1) == 0
                                             ? machine::mapping_named(machine::MappingName::Plain, true)
                                             : machine::Mapping{};
        const isa::Program program =
            tpu_v1::family
                .compile(
                    graph, machine,
                    {.mapping = mapping, .batches = {.batch = heads.number(1, 3), .inferences = inferences}})
                .program;
        written += count_writes(program);
        all_on_array += program.host_segments.empty() ? 1 : 0;
        std::vector<std::vector<std::uint8_t>> inputs;
        for (const ir::ValueId input : graph.inputs) {
            inputs.push_back(heads.bytes(graph.values[input].shape.elements() * inferences));
        }
        const std::vector<std::span<const std::uint8_t>> views(inputs.begin(), inputs.end());
        const auto expected = reference::run(graph, views, inferences);
        tests::ReferenceHost host(program);
        functional::Executor executor(program, machine, &host);
        REQUIRE(outputs_of(executor, program, inputs) == expected);
        const tests::FreshSimulation simulation;
        hw::SystemOptions options;
        options.host = &host;
        hw::System system("system", machine, program, options);
        REQUIRE(outputs_of(system, program, inputs) == expected);
        if (!program.host_segments.empty()) continue;
        // Streams that subtract zero points count no multiply-accumulate of the network.
        std::uint64_t macs = 0;
        for (const ir::Node& node : graph.nodes) macs += node.op->macs({graph, node});
        CHECK(system.counter("matrix_unit.multiply_accumulates").value() == inferences * macs);
    }
    CHECK(written >= tests::random_share(1000));
    CHECK(all_on_array >= tests::random_share(60));
}

TEST_CASE("Without weight_memory.writable, products of computed matrices are the host's",
          "[compiler][emit]") {
    Heads heads(1);
    const ir::Graph graph = heads.graph();
    machine::MachineConfig machine = heads.machine();
    machine.weight_memory.writable.reset();
    const isa::Program program =
        tpu_v1::family.compile(graph, machine, {.batches = {.batch = 1, .inferences = 1}}).program;
    CHECK(count_writes(program) == 0);
    CHECK_FALSE(program.host_segments.empty());
}

TEST_CASE("Products go to the array or to the host, whichever takes fewer cycles", "[compiler][emit]") {
    Heads heads(3);
    const ir::Graph graph = heads.graph();
    const machine::MachineConfig machine = heads.machine();
    const bool is_slow = GENERATE(false, true);
    mapping::Options options{.batches = {.batch = 2, .inferences = 8}};
    options.explain = true;
    options.simulate = [&](const isa::Program& program, std::uint64_t inferences) {
        const Cycle each = (count_writes(program) > 0) == is_slow ? 1000 : 10;
        return each * inferences;
    };
    const mapping::Compiled compiled = tpu_v1::family.compile(graph, machine, options);
    CHECK((count_writes(compiled.program) > 0) == !is_slow);
    const mapping::Choice& choice = compiled.choices.back();
    CHECK(choice.of == "products of two computed matrices, by where they are computed");
    REQUIRE(choice.alternatives.size() == 2);
    CHECK(choice.alternatives[0].cycles == (is_slow ? 8000 : 80));
    CHECK(choice.alternatives[0].chosen == !is_slow);
    CHECK(choice.alternatives[1].chosen == is_slow);
}

TEST_CASE("Products of a float network become integers if asked, with keys exchanged in both ways",
          "[compiler][emit]") {
    const ir::Graph graph = ir::parse_graph(R"(graph "attention"
inputs %0, %1
outputs %4
%0 float32 1x5x2x3 "q" range -1.0 1.0
%1 float32 1x4x2x3 "k" range -2.0 1.0
%2 float32 1x2x5x3 "swapped q" range -1.0 1.0
%3 float32 1x2x3x4 "columns of k" range -2.0 1.0
%4 float32 1x2x5x4 "scores" range -9.0 9.0
%2 = transpose(%0) "swapped q" {permutation [0, 2, 1, 3]}
%3 = transpose(%1) "columns of k" {permutation [0, 2, 3, 1]}
%4 = matrix_product(%2, %3) "scores"
)",
                                            "test", operators::registry());
    const auto is_real = [](const ir::Value& value) { return value.type == DataType::Float32; };
    CHECK(std::ranges::any_of(passes::quantize(graph, {}).values, is_real));
    const ir::Graph stored = passes::quantize(graph, {}, true);
    CHECK(std::ranges::none_of(stored.values, is_real));
    machine::MachineConfig machine = Heads(1).machine();
    machine.matrix_unit.columns = 6;
    const isa::Program program =
        tpu_v1::family.compile(stored, machine, {.batches = {.batch = 1, .inferences = 1}}).program;
    CHECK(program.host_segments.empty());
    const std::vector<std::vector<std::uint8_t>> inputs{Heads(2).bytes(30), Heads(3).bytes(24)};
    const std::vector<std::span<const std::uint8_t>> views(inputs.begin(), inputs.end());
    functional::Executor executor(program, machine);
    CHECK(outputs_of(executor, program, inputs) == reference::run(stored, views, 1));
}
