#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hw/common/clock.h"
#include "hw/common/tensor_interfaces.h"
#include "hw/isa/footprint.h"
#include "hw/isa/memory.h"
#include "hw/machine/machine_config.h"

// What a unit of the family tensor_core sees, for a test of one unit.
namespace systole::tests {

/// A machine of the family with few lanes.
inline machine::MachineConfig small_core(std::uint32_t lanes = 4) {
    machine::MachineConfig machine;
    machine.family = machine::Family::TensorCore;
    machine.clock_mhz = 500;
    machine.matrix_unit.rows = lanes;
    machine.matrix_unit.columns = lanes;
    machine.matrix_unit.formats = machine::float_array_formats();
    machine.vector_unit.lanes = lanes;
    machine.vector_unit.sublanes = 2;
    machine.vector_memory.rows = 64;
    machine.hbm.bytes = 128 * machine.vector_row_bytes();
    return machine;
}

/// A memory of rows of words that begins with zeros, and keeps what was counted.
class BenchWords final : public hw::WordMemoryAccess {
public:
    BenchWords(std::size_t rows, std::size_t lanes) : words(rows * lanes), lanes_(lanes) {}

    std::uint32_t* from_row(std::uint64_t row) override { return words.data() + row * lanes_; }
    void count_reads(std::uint64_t bytes, hw::Tag /*tag*/) override { reads += bytes; }
    void count_writes(std::uint64_t bytes, hw::Tag /*tag*/) override { writes += bytes; }
    void touch(const isa::Footprint& footprint) override {
        used = std::max(used, hw::end_of_words(footprint, isa::MemoryId::VectorMemory));
    }

    float number(std::size_t row, std::size_t lane) const {
        return std::bit_cast<float>(words[row * lanes_ + lane]);
    }
    void set(std::size_t row, std::size_t lane, float number) {
        words[row * lanes_ + lane] = std::bit_cast<std::uint32_t>(number);
    }
    /// Numbers from 1 on, row by row.
    void count_up() {
        for (std::size_t i = 0; i < words.size(); ++i)
            words[i] = std::bit_cast<std::uint32_t>(static_cast<float>(i + 1));
    }

    std::vector<std::uint32_t> words;
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    std::uint64_t used = 0;  ///< rows of vector memory

private:
    std::size_t lanes_;
};

/// The part of high-bandwidth memory that a core of a chip has.
class BenchHbm final : public hw::HbmAccess {
public:
    /// `first`: its first row in `words`.
    BenchHbm(BenchWords& words, const hw::Clock& clock, std::uint64_t first = 0)
        : words_(words), first_(first), requests_(1, clock) {}

    std::uint32_t* from_row(std::uint64_t row) override { return words_.from_row(first_ + row); }
    void count_reads(std::uint64_t bytes, hw::Tag tag) override { words_.count_reads(bytes, tag); }
    void count_writes(std::uint64_t bytes, hw::Tag tag) override { words_.count_writes(bytes, tag); }
    void touch(const isa::Footprint& footprint) override { words_.touch(footprint); }
    std::uint64_t first_row() const override { return first_; }
    std::size_t core() const override { return 0; }
    hw::HbmRequests& requests() override { return requests_; }

private:
    BenchWords& words_;
    std::uint64_t first_;
    hw::HbmRequests requests_;
};

}  // namespace systole::tests
