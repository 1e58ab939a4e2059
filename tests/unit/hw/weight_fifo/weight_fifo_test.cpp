#include "hw/weight_fifo/weight_fifo.h"

#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <systemc>
#include <tlm>
#include <vector>

#include "hw/weight_memory/weight_memory.h"
#include "tests/support/unit_bench.h"

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

/// A FIFO of tiles of 4 x 3 and an array written in the test. The memory is the test's.
struct FifoBench : tests::UnitBench {
    FifoBench(const machine::MachineConfig& config, hw::Values values)
        : UnitBench(config, values), fifo("fifo", context, link) {
        program.geometry = geometry();
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
        process([this, tiles] {
            issue(isa::QueueId::Weights, fifo.queue(), isa::ReadWeights{.first_tile = 0, .tiles = tiles});
        });
        process(array);
        UnitBench::run();
    }

    isa::Program program;
    SlowLink link{clock};
    hw::WeightFifo fifo;
};

/// Without values, with the machine's own memory of 1 byte a cycle.
struct Bench : FifoBench {
    Bench(std::uint32_t depth, bool whole_tiles, std::uint64_t resident_tiles = 8)
        : FifoBench(make_machine(depth, whole_tiles, resident_tiles), hw::Values::TimingOnly),
          memory("memory", machine, clock) {
        fifo.memory.bind(memory.sockets.front());
        program.tiles.assign(8, {.rows = 2,
                                 .columns = 3,
                                 .type = DataType::Int8,
                                 .useful_macs = 6,
                                 .values = {1, 2, 3, 4, 5, 6}});
        fifo.load(program, hw::TileValues::InMemory);
    }

    hw::WeightMemory memory;
};

/// What a memory answers to the request for direct access.
enum class Direct : std::uint8_t { Granted, Refused, RefusedAndDescribed, GrantedForAPart };

/// A memory that answers reads at once. Byte `b` of tile `t` is 16 t + b, and that of what direct access
/// would show is its complement: as of a memory that is encrypted, or that has moved its bytes.
class AnsweringMemory final : public sc_core::sc_module {
public:
    AnsweringMemory(const sc_core::sc_module_name& name, Direct direct) : sc_module(name), direct_(direct) {
        for (std::size_t i = 0; i < shown_.size(); ++i) shown_[i] = static_cast<unsigned char>(~value_at(i));
        socket.register_b_transport(this, &AnsweringMemory::read);
        socket.register_get_direct_mem_ptr(this, &AnsweringMemory::grant);
    }

    static constexpr std::size_t tile_bytes = 12;
    static std::uint8_t value_at(std::uint64_t address) {
        return static_cast<std::uint8_t>(16 * (address / tile_bytes) + address % tile_bytes);
    }
    static constexpr std::size_t tiles = 12;

    tlm_utils::simple_target_socket<AnsweringMemory> socket{"socket"};
    std::size_t grants_asked = 0;
    std::size_t reads = 0;

private:
    void read(tlm::tlm_generic_payload& tile, sc_core::sc_time& /*delay*/) {
        ++reads;
        // What a memory of the user's may rely on, of a payload that is used again and again.
        CHECK(tile.is_read());
        CHECK(tile.get_data_length() == tile_bytes);
        CHECK(tile.get_streaming_width() == tile_bytes);
        CHECK(tile.get_byte_enable_ptr() == nullptr);
        CHECK(tile.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE);
        CHECK(tile.get_address() % tile_bytes == 0);
        if (tile.get_data_ptr() != nullptr) {
            for (unsigned i = 0; i < tile.get_data_length(); ++i) {
                tile.get_data_ptr()[i] = value_at(tile.get_address() + i);
            }
        }
        tile.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    bool grant(tlm::tlm_generic_payload& tile, tlm::tlm_dmi& access) {
        ++grants_asked;
        CHECK(tile.is_read());
        CHECK(tile.get_address() % tile_bytes == 0);
        if (direct_ == Direct::Refused) return false;
        access.allow_read();
        access.set_dmi_ptr(shown_.data());
        access.set_start_address(0);
        access.set_end_address(direct_ == Direct::GrantedForAPart ? tile_bytes + 5 : shown_.size() - 1);
        return direct_ != Direct::RefusedAndDescribed;
    }

    const Direct direct_;
    std::array<unsigned char, tile_bytes * tiles> shown_{};
};

/// With values, from a memory that answers as told.
struct ValuesBench : FifoBench {
    ValuesBench(std::uint32_t depth, Direct direct, hw::TileValues where)
        : FifoBench(make_machine(depth, true, AnsweringMemory::tiles), hw::Values::Computed),
          memory("memory", direct) {
        fifo.memory.bind(memory.socket);
        const isa::WeightTile tile{.rows = 4, .columns = 3, .type = DataType::Int8, .useful_macs = 12};
        program.tiles.assign(AnsweringMemory::tiles, tile);
        fifo.load(program, where);
    }

    /// Whether values are those of a tile, or those that direct access shows of it.
    static void check(const std::uint8_t* values, std::size_t tile, bool in_memory) {
        for (std::size_t i = 0; i < AnsweringMemory::tile_bytes; ++i) {
            const std::uint8_t read = AnsweringMemory::value_at(tile * AnsweringMemory::tile_bytes + i);
            CAPTURE(tile, i);
            CHECK(int{values[i]} == int{in_memory ? static_cast<std::uint8_t>(~read) : read});
        }
    }

    AnsweringMemory memory;
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

TEST_CASE("Copied values stay until two more tiles have left, while the FIFO is full", "[hw][weight_fifo]") {
    const auto depth = GENERATE(1U, 2U, 3U, 7U);
    const auto direct =
        GENERATE(Direct::Granted, Direct::Refused, Direct::RefusedAndDescribed, Direct::GrantedForAPart);
    CAPTURE(depth, int(direct));
    ValuesBench bench(depth, direct, hw::TileValues::Copied);
    bench.run(AnsweringMemory::tiles, [&] {
        std::vector<const std::uint8_t*> left;
        for (std::size_t tile = 0; tile < AnsweringMemory::tiles; ++tile) {
            const std::uint8_t* const values = bench.fifo.front().values;
            ValuesBench::check(values, tile, false);
            // The array holds the tiles in its two planes, and the FIFO refills the slot that the last left.
            for (std::size_t ago = 1; ago <= std::min<std::size_t>(left.size(), 2); ++ago) {
                ValuesBench::check(left[left.size() - ago], tile - ago, false);
            }
            left.push_back(values);
            bench.fifo.release();
            bench.clock.wait_until(bench.clock.now() + 1);
            CHECK(bench.fifo.counters().tiles.value() ==
                  std::min<std::uint64_t>(AnsweringMemory::tiles, depth + tile + 1));
        }
    });
    CHECK(bench.memory.grants_asked == 0);
    CHECK(bench.memory.reads == AnsweringMemory::tiles);
}

TEST_CASE("Values are left in the memory only where it grants direct access to the whole tile",
          "[hw][weight_fifo]") {
    const auto direct =
        GENERATE(Direct::Granted, Direct::Refused, Direct::RefusedAndDescribed, Direct::GrantedForAPart);
    CAPTURE(int(direct));
    ValuesBench bench(2, direct, hw::TileValues::InMemory);
    bench.run(AnsweringMemory::tiles, [&] {
        for (std::size_t tile = 0; tile < AnsweringMemory::tiles; ++tile) {
            const bool granted =
                direct == Direct::Granted || (direct == Direct::GrantedForAPart && tile == 0);
            ValuesBench::check(bench.fifo.front().values, tile, granted);
            bench.fifo.release();
        }
    });
    // A grant holds for all tiles in its range; a refusal is no answer for the next.
    CHECK(bench.memory.grants_asked == (direct == Direct::Granted ? 1 : AnsweringMemory::tiles));
}
