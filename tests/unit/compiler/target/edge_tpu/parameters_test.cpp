// Where the compiler for machines with tiles puts parameters: compiler/target/edge_tpu/parameters.h.
#include "compiler/target/edge_tpu/parameters.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "base/rounding.h"
#include "compiler/compile.h"
#include "compiler/target/edge_tpu/network.h"
#include "hw/machine/machine_config.h"
#include "hw/timing/tiles.h"
#include "tests/support/integer_graphs.h"

using namespace systole;

namespace {

/// Two tiles of 16 lanes; a weight buffer takes 4 of a tile's units.
machine::MachineConfig two_tiles(std::uint32_t units) {
    machine::MachineConfig machine;
    machine.family = machine::Family::EdgeTpu;
    machine.tile_array.lines = 1;
    machine.tile_array.columns = 2;
    machine.tile_array.lanes = 16;
    machine.tile_array.weight_buffers = 1;
    machine.tile_array.weight_buffer_rows = 4;
    machine.tile_array.rounding = Rounding::Tflite;
    machine.wide_memory.bytes = (4 + units) * 64;
    return machine;
}

/// Pointwise convolutions one after the other, each with so many filters, and then dense layers.
ir::Graph chain(const std::vector<std::uint32_t>& filters, const std::vector<std::uint32_t>& dense = {}) {
    tests::IntegerGraph made("chain");
    ir::ValueId value = made.input({1, 1, 4});
    for (const std::uint32_t outputs : filters) {
        const std::uint64_t count = std::uint64_t{made.map(value).channels} * outputs;
        value = made.convolution(value, {}, outputs,
                                 {.values = std::vector<std::int8_t>(count, 1), .scales = {0.1}}, {});
    }
    for (const std::uint32_t outputs : dense) {
        const std::uint64_t count = made.map(value).elements() * outputs;
        value =
            made.dense({value}, outputs, {.values = std::vector<std::int8_t>(count, 1), .scales = {0.1}}, {});
    }
    return made.graph();
}

/// The plan of a network, which must outlive it.
edge_tpu::ParameterPlan plan_of(const ir::Graph& prepared, const machine::MachineConfig& machine) {
    edge_tpu::Network network = edge_tpu::make_network(prepared, machine);
    return edge_tpu::plan_parameters(network, machine);
}

/// Of the products: the first unit of those that stay, and -1 of those that are streamed.
std::vector<int> units_of(const edge_tpu::ParameterPlan& plan) {
    std::vector<int> units;
    for (const auto& place : plan.places) {
        if (place) units.push_back(place->cached ? static_cast<int>(place->unit) : -1);
    }
    return units;
}

}  // namespace

TEST_CASE("Weight buffers and other networks take their part of the wide memories", "[edge_tpu]") {
    machine::MachineConfig machine = two_tiles(100);
    CHECK(edge_tpu::cache_bytes(machine) == 2 * 100 * 64);
    machine.tile_array.weight_buffers = 2;
    CHECK(edge_tpu::cache_bytes(machine) == 2 * 96 * 64);
    machine.parameter_cache.reserved_bytes = 1000;
    CHECK(edge_tpu::cache_bytes(machine) == 2 * 96 * 64 - 1000);
    machine.parameter_cache.reserved_bytes = 1'000'000;
    CHECK(edge_tpu::cache_bytes(machine) == 0);
    // The Edge TPU: 7.88 of 8 MiB.
    CHECK(edge_tpu::cache_bytes(machine::MachineConfig{}) == 8'257'536);
}

TEST_CASE("Parameters stay up to the first that do not fit, and the rest are streamed", "[edge_tpu]") {
    // Rows of a unit: one of biases, and one for 4 inputs. So there are 2 units, 3 groups of 5, 13 and 3.
    const ir::Graph graph = compiler::prepare(chain({16, 48, 8, 8}), {}, two_tiles(100));
    const std::vector<int> all{0, 2, 17, 30};
    CHECK(units_of(plan_of(graph, two_tiles(100))) == all);
    const edge_tpu::ParameterPlan plan = plan_of(graph, two_tiles(17));
    CHECK(units_of(plan) == std::vector<int>{0, 2, 17, 30});
    CHECK(plan.cached_bytes == 33 * 64);
    CHECK(plan.streamed_bytes == 0);
    // 32 units hold the first three, and 16 the first alone: then those behind come with every call, though
    // they would fit.
    CHECK(units_of(plan_of(graph, two_tiles(16))) == std::vector<int>{0, 2, 17, -1});
    const edge_tpu::ParameterPlan few = plan_of(graph, two_tiles(8));
    CHECK(units_of(few) == std::vector<int>{0, -1, -1, -1});
    CHECK(few.cached_bytes == 2 * 64);
    CHECK(few.streamed_bytes == (15 + 13 + 3) * 64);
}

TEST_CASE("The parameters of a dense product begin at the same unit of every tile", "[edge_tpu]") {
    // The convolution has 2 units, so the next are unit 1 of both tiles. 40 outputs are 3 groups: 2 in the
    // first tile, each with a row of biases and 4 of weights; the second has as much room.
    const ir::Graph graph = compiler::prepare(chain({16}, {40, 3}), {}, two_tiles(100));
    const edge_tpu::ParameterPlan plan = plan_of(graph, two_tiles(100));
    CHECK(units_of(plan) == std::vector<int>{0, 1, 11});
    // 10 rows for 40 inputs and one of biases.
    CHECK(plan.cached_bytes == (2 + 2 * 2 * 5 + 2 * 11) * 64);

    // 2 and 5 units of convolutions: the dense product begins behind an unused one.
    const ir::Graph odd = compiler::prepare(chain({16, 16}, {40}), {}, two_tiles(100));
    const edge_tpu::ParameterPlan behind = plan_of(odd, two_tiles(100));
    CHECK(units_of(behind) == std::vector<int>{0, 2, 4});
}
