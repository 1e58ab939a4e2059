#include "hw/weight_fifo/weight_fifo.h"

#include <catch2/catch.hpp>
#include <functional>
#include <systemc>

#include "hw/weight_memory/weight_memory.h"
#include "tests/support/fresh_simulation.h"

using namespace systole;

namespace {

/// A FIFO of tiles of 4 x 3 between its memory, 1 byte a cycle, and an array written in the test.
struct Bench : tests::FreshSimulation {
    Bench(std::uint32_t depth, bool whole_tiles)
        : machine(make_machine(depth, whole_tiles)),
          memory("memory", machine, clock),
          fifo("fifo", machine, hw::Values::TimingOnly, clock, semaphores, order, workers, failure, nullptr) {
        fifo.memory.bind(memory.socket);
        program.geometry = {4, 3};
        program.tiles.assign(8, {.rows = 2,
                                 .columns = 3,
                                 .type = DataType::Int8,
                                 .useful_macs = 6,
                                 .values = {1, 2, 3, 4, 5, 6}});
        fifo.load(program);
    }

    static machine::MachineConfig make_machine(std::uint32_t depth, bool whole_tiles) {
        machine::MachineConfig machine;
        machine.matrix_unit.rows = 4;
        machine.matrix_unit.columns = 3;
        machine.weight_fifo.depth_tiles = depth;
        machine.weight_memory.bandwidth_gb_per_s = 0.7;
        machine.weight_memory.whole_tiles = whole_tiles;
        return machine;
    }

    void run(std::uint16_t tiles, const std::function<void()>& array) {
        sc_core::sc_spawn([this, tiles] {
            order.issue(static_cast<std::size_t>(isa::Unit::Weights), 0, {});
            hw::Command command;
            command.bound.instruction = isa::ReadWeights{.first_tile = 0, .tiles = tiles};
            fifo.queue().push(command);
        });
        sc_core::sc_spawn(array);
        sc_core::sc_start();
        failure.rethrow();
    }

    const machine::MachineConfig machine;
    isa::Program program;
    hw::Clock clock;
    hw::Failure failure;
    hw::OrderChecker order;
    hw::Semaphores semaphores{clock, order};
    hw::WeightMemory memory;
    hw::ValueWorkers workers{order, 0};
    hw::WeightFifo fifo;
};

}  // namespace

TEST_CASE("A tile is at the front when its fetch has been issued, and says when it is whole",
          "[hw][weight_fifo]") {
    const bool whole_tiles = GENERATE(true, false);
    const Cycle tile_cycles = whole_tiles ? 12 : 6;
    Bench bench(4, whole_tiles);
    bench.run(3, [&] {
        for (Cycle i = 1; i <= 3; ++i) {
            const hw::Tile& tile = bench.fifo.front();
            CHECK(bench.clock.now() == 0);
            CHECK(tile.whole_at == i * tile_cycles);
            CHECK(tile.rows == 2);
            CHECK(tile.useful_macs == 6);
            bench.fifo.release();
        }
    });
    CHECK(bench.fifo.counters().bytes.value() == 3 * tile_cycles);
}

TEST_CASE("A full FIFO holds the next fetch back until a tile has left", "[hw][weight_fifo]") {
    const auto depth = GENERATE(1U, 2U, 5U);
    CAPTURE(depth);
    constexpr Cycle left_at = 40;
    Bench bench(depth, true);
    bench.run(static_cast<std::uint16_t>(depth + 1), [&] {
        bench.clock.wait_until(left_at);
        CHECK(bench.fifo.counters().tiles.value() == depth);
        bench.fifo.front();
        bench.fifo.release();
        bench.clock.wait_until(left_at + 1);
        CHECK(bench.fifo.counters().tiles.value() == depth + 1);
    });
    CHECK(bench.fifo.counters().full_cycles.value() == left_at);
}
