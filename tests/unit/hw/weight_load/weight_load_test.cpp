// docs/timing.md, "Machines with a tensor core": the loading of weights alone; the test is the array.
#include "hw/weight_load/weight_load.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "hw/isa/instruction.h"
#include "hw/isa/registers.h"
#include "tests/support/tensor_neighbours.h"
#include "tests/support/unit_bench.h"

using namespace systole;

namespace {

struct LoadBench : tests::UnitBench {
    explicit LoadBench(hw::Values values = hw::Values::TimingOnly) : UnitBench(tests::small_core(), values) {}

    /// For use in a process.
    void load(const isa::LoadWeights& weights) { issue(isa::QueueId::Weights, unit.queue(), weights); }
    std::uint64_t count(const std::string& name) const {
        return counter(unit, "weight_load." + name).value();
    }
    /// The values of a tile, row by row.
    static std::vector<float> numbers(const hw::Tile& tile) {
        std::vector<float> all(std::size_t{tile.rows} * tile.columns);
        for (std::size_t row = 0; row < tile.rows; ++row) {
            std::memcpy(all.data() + row * tile.columns, tile.values + row * tile.row_bytes,
                        tile.columns * sizeof(float));
        }
        return all;
    }

    tests::BenchWords memory{64, 4};
    hw::WeightLoad unit{"weight_load", context, memory};
};

}  // namespace

TEST_CASE("Weights are whole when their instruction begins, and complete when they have shifted in",
          "[hw][weight_load]") {
    LoadBench bench;
    constexpr Cycle shift = 4;  // a cycle for each row of the array
    bench.process([&] {
        bench.at(10);
        bench.load({.source = 3, .depth = 2, .columns = 3});
        bench.load({.source = 9, .depth = 4, .columns = 4});
    });
    bench.process([&] {
        const hw::Tile first = bench.unit.front();
        CHECK(bench.clock.now() == 10);
        CHECK(first.whole_at == 10);
        CHECK(first.rows == 2);
        CHECK(first.columns == 3);
        CHECK(first.useful_macs == 6);
        CHECK(first.type == DataType::Bfloat16);
        bench.at(10 + shift);
        bench.unit.release();
        const hw::Tile second = bench.unit.front();
        CHECK(second.whole_at == 10 + shift);
        bench.at(100);  // a product takes the first weights in cycle 96
        bench.unit.release();
    });
    bench.run();
    REQUIRE(bench.instructions.size() == 2);
    CHECK(bench.instructions[0].begun == 10);
    CHECK(bench.instructions[0].complete == 10 + shift);
    CHECK(bench.instructions[1].begun == 10 + shift);
    CHECK(bench.instructions[1].complete == 100);
    bench.unit.finish(120, 0);
    CHECK(bench.count("busy_cycles") == 2 * shift);
    CHECK(bench.count("plane_cycles") == 100 - shift - (10 + shift));
    CHECK(bench.count("matrices") == 2);
    CHECK(bench.cycles_of(bench.unit, "weight_load") == 120);
    CHECK(bench.count("bytes") == (2 + 4) * 16);
    CHECK(bench.memory.used == 13);
}

TEST_CASE("Weights are cut into parts, transposed and widened on their way", "[hw][weight_load]") {
    LoadBench bench(hw::Values::Computed);
    bench.memory.count_up();
    bench.memory.set(20, 0, 1.0F + 0x1p-9F + 0x1p-17F);  // parts 1, 2^-9 and 2^-17
    bench.memory.words[30 * 4] = 0x40003F80;             // 1 and 2 as bfloat16
    std::vector<std::vector<float>> found;
    bench.process([&] {
        bench.load({.source = 0, .depth = 2, .columns = 3});
        bench.load({.source = 0, .depth = 2, .columns = 3, .transposed = true});
        for (std::uint8_t part = 0; part < 3; ++part) {
            bench.load({.source = 20, .depth = 1, .columns = 1, .part = part});
        }
        bench.load({.source = 30, .depth = 2, .columns = 1, .packed = true});
    });
    bench.process([&] {
        for (int i = 0; i < 6; ++i) {
            found.push_back(LoadBench::numbers(bench.unit.front()));
            bench.at(bench.clock.now() + 4);
            bench.unit.release();
        }
    });
    bench.run();
    CHECK(found == std::vector<std::vector<float>>{
                       {1, 2, 3, 5, 6, 7}, {1, 5, 9, 2, 6, 10}, {1.0F}, {0x1p-9F}, {0x1p-17F}, {1, 2}});
}
