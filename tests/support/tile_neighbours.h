#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <systemc>
#include <utility>
#include <vector>

#include "base/cycle.h"
#include "hw/common/clock.h"
#include "hw/common/counter.h"
#include "hw/common/memory_interfaces.h"
#include "hw/common/tile_interfaces.h"
#include "hw/isa/footprint.h"
#include "hw/isa/memory.h"
#include "hw/isa/tile_grid.h"
#include "hw/machine/machine_config.h"

// What a unit of the family edge_tpu sees, for a test of one unit.
namespace systole::tests {

/// Narrow memories that begin with zeros, and keep what was counted.
class BenchNarrow final : public hw::NarrowMemoryAccess {
public:
    explicit BenchNarrow(const machine::MachineConfig& machine)
        : tiles(machine.tile_array.tiles(), std::vector<std::uint8_t>(machine.narrow_memory.bytes)) {}

    std::uint8_t* of_tile(std::size_t tile) override { return tiles.at(tile).data(); }
    void count_reads(std::uint64_t bytes, hw::Tag /*tag*/) override { reads += bytes; }
    void count_writes(std::uint64_t bytes, hw::Tag /*tag*/) override { writes += bytes; }
    void touch(const isa::Footprint& footprint) override {
        used = std::max(used, hw::end_of_rows(footprint, isa::MemoryId::NarrowMemory));
    }

    std::vector<std::vector<std::uint8_t>> tiles;
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    std::uint64_t used = 0;
};

/// Wide memories that begin with zeros, and keep what was counted.
class BenchWide final : public hw::WideMemoryAccess {
public:
    explicit BenchWide(const machine::MachineConfig& machine)
        : bytes(std::size_t{machine.wide_memory.bytes} * machine.tile_array.tiles()) {}

    std::uint8_t* from_unit(std::uint64_t unit) override {
        return bytes.data() + unit * isa::tile_unit_bytes;
    }
    void count_reads(std::uint64_t count, hw::Tag /*tag*/) override { reads += count; }
    void count_writes(std::uint64_t count, hw::Tag /*tag*/) override { writes += count; }
    void touch(const isa::Footprint& /*footprint*/) override {}

    std::vector<std::uint8_t> bytes;
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
};

/// The host's memory: one buffer from address 0 on.
class BenchHost final : public hw::HostMemoryAccess {
public:
    explicit BenchHost(std::size_t size) : bytes(size) {}

    bool has(std::uint64_t address, std::uint64_t count) override {
        return address <= bytes.size() && count <= bytes.size() - address;
    }
    std::uint8_t* host_bytes(std::uint64_t address, std::uint64_t /*count*/) override {
        return bytes.data() + address;
    }

    std::vector<std::uint8_t> bytes;
};

/// Parts that the test hands over before the run, each with the cycle in which it is whole: as the ring and
/// the staging buffer do. It keeps the cycles in which they were released.
class BenchParts final : public hw::WeightParts, public hw::StagedParts {
public:
    explicit BenchParts(const hw::Clock& clock) : clock_(clock) {}

    void add(hw::WeightPart part) { parts_.push_back(std::move(part)); }

    const hw::WeightPart& next() override {
        while (parts_.empty()) clock_.wait(never_);
        clock_.wait_until(parts_.front().whole_at);
        return parts_.front();
    }
    void release() override {
        parts_.pop_front();
        released.push_back(clock_.now());
    }

    std::vector<Cycle> released;

private:
    const hw::Clock& clock_;
    std::deque<hw::WeightPart> parts_;
    sc_core::sc_event never_;
};

}  // namespace systole::tests
