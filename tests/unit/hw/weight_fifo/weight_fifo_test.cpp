#include "hw/weight_fifo/weight_fifo.h"

#include <catch2/catch.hpp>
#include <functional>
#include <systemc>

#include "hw/weight_memory/weight_memory.h"
#include "tests/support/fresh_simulation.h"

using namespace systole;

namespace {

/// A link over which a tile takes 100 cycles, of which 30 are latency.
class SlowLink final : public hw::WeightLink {
public:
    explicit SlowLink(const hw::Clock& clock) : clock_(clock) {}
    Cycle receive_weights(std::uint64_t bytes, hw::Tag /*tag*/) override {
        moved += bytes;
        clock_.wait_until(clock_.now() + 70);
        return clock_.now() + 30;
    }
    std::uint64_t moved = 0;

private:
    const hw::Clock& clock_;
};

/// A FIFO of tiles of 4 x 3 between its memory, 1 byte a cycle, and an array written in the test.
struct Bench : tests::FreshSimulation {
    Bench(std::uint32_t depth, bool whole_tiles, std::uint64_t resident_tiles = 8)
        : machine(make_machine(depth, whole_tiles, resident_tiles)),
          memory("memory", machine, clock),
          fifo("fifo", machine, hw::Values::TimingOnly, clock, semaphores, order, workers, link, failure,
               nullptr) {
        fifo.memory.bind(memory.socket);
        program.geometry = {4, 3};
        program.tiles.assign(8, {.rows = 2,
                                 .columns = 3,
                                 .type = DataType::Int8,
                                 .useful_macs = 6,
                                 .values = {1, 2, 3, 4, 5, 6}});
        fifo.load(program);
    }

    static machine::MachineConfig make_machine(std::uint32_t depth, bool whole_tiles,
                                               std::uint64_t resident_tiles) {
        machine::MachineConfig machine;
        machine.matrix_unit.rows = 4;
        machine.matrix_unit.columns = 3;
        machine.weight_fifo.depth_tiles = depth;
        machine.weight_memory.bandwidth_gb_per_s = 0.7;
        machine.weight_memory.whole_tiles = whole_tiles;
        machine.weight_memory.bytes = resident_tiles * 4 * 3;
        machine.weight_memory.spill = true;
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
    SlowLink link{clock};
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

TEST_CASE("Tiles that weight memory does not hold come over the link, and hold the next fetch back",
          "[hw][weight_fifo]") {
    Bench bench(4, true, 2);
    bench.run(4, [&] {
        const std::vector<Cycle> whole{12, 24, 100, 170};
        for (const Cycle cycle : whole) {
            CHECK(bench.fifo.front().whole_at == cycle);
            bench.fifo.release();
        }
    });
    CHECK(bench.link.moved == 2 * 12);
    CHECK(bench.fifo.counters().bytes.value() == 2 * 12);
    CHECK(bench.fifo.counters().spilled_bytes.value() == 2 * 12);
    CHECK(bench.fifo.counters().link_cycles.value() == 2 * 70);
}
