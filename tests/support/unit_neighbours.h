#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "hw/common/counter.h"
#include "hw/common/memory_interfaces.h"
#include "hw/isa/row_range.h"
#include "hw/machine/machine_config.h"

namespace systole::tests {

/// A unified buffer that begins with zeros, and keeps which rows were asked for and what was counted.
class BenchBuffer final : public hw::UnifiedBufferAccess {
public:
    explicit BenchBuffer(const machine::MachineConfig& machine)
        : bytes(std::size_t{machine.unified_buffer.rows} * machine.matrix_unit.rows),
          row_bytes_(machine.matrix_unit.rows) {}

    std::size_t row_bytes() const override { return row_bytes_; }
    const std::uint8_t* read(std::uint64_t first, std::uint64_t count) const override {
        read_rows.push_back({.first = first, .last = first + count});
        return bytes.data() + first * row_bytes_;
    }
    std::uint8_t* write(std::uint64_t first, std::uint64_t count) override {
        written_rows.push_back({.first = first, .last = first + count});
        return bytes.data() + first * row_bytes_;
    }
    void count_reads(std::uint64_t accesses, hw::Tag /*tag*/) override { reads += accesses; }
    void count_writes(std::uint64_t accesses, hw::Tag /*tag*/) override { writes += accesses; }

    std::vector<std::uint8_t> bytes;
    mutable std::vector<isa::RowRange> read_rows;
    std::vector<isa::RowRange> written_rows;
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;

private:
    std::size_t row_bytes_;
};

/// Accumulators that begin with zeros, and keep what was counted.
class BenchAccumulators final : public hw::AccumulatorAccess {
public:
    explicit BenchAccumulators(const machine::MachineConfig& machine)
        : sums(std::size_t{machine.accumulators.rows} * machine.matrix_unit.columns),
          columns_(machine.matrix_unit.columns),
          bank_rows_(machine.accumulators.rows / machine.accumulators.banks) {}

    std::size_t columns() const override { return columns_; }
    const std::int32_t* read(std::uint64_t first, std::uint64_t /*count*/) const override {
        return sums.data() + first * columns_;
    }
    std::int32_t* write(std::uint64_t first, std::uint64_t /*count*/) override {
        return sums.data() + first * columns_;
    }
    void count_reads(std::uint64_t rows, hw::Tag /*tag*/) override { reads += rows; }
    void count_writes(std::uint64_t rows, hw::Tag /*tag*/) override { writes += rows; }
    void count_passes(std::uint64_t passes, std::uint64_t more, hw::Tag /*tag*/) override {
        pass_writes += passes;
        additions += more;
    }
    std::pair<std::size_t, std::size_t> banks(std::uint64_t first, std::uint64_t count) const override {
        return {first / bank_rows_, (first + count - 1) / bank_rows_};
    }

    std::vector<std::int32_t> sums;
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    std::uint64_t pass_writes = 0;
    std::uint64_t additions = 0;

private:
    std::size_t columns_;
    std::size_t bank_rows_;
};

}  // namespace systole::tests
