#pragma once

#include <algorithm>
#include <cstdint>

#include "hw/machine/dram_config.h"

namespace systole::hw {

/// Where the bytes of a DRAM lie. Consecutive addresses take turns over the channels in steps of
/// channel_interleave_bytes; what a channel gets, put together, is the channel's own address space. Its
/// bytes take turns over the banks in steps of bank_interleave_bytes, and what a bank gets, put together,
/// is cut into rows.
class DramAddressMap {
public:
    explicit DramAddressMap(const machine::DramConfig& dram) : dram_(dram) {}

    /// How many bytes below `address` lie in the channel: the channel's own address.
    std::uint64_t in_channel(std::uint64_t channel, std::uint64_t address) const {
        const std::uint64_t step = dram_.channel_interleave_bytes;
        const std::uint64_t turn = step * dram_.channels;
        const std::uint64_t offset = address % turn;
        const std::uint64_t before = std::min(offset, channel * step);
        return address / turn * step + std::min(offset - before, step);
    }

    /// Bursts of one row.
    struct Piece {
        std::uint64_t bank = 0;
        std::uint64_t row = 0;
        std::uint64_t bursts = 0;
    };
    /// The row of the channel's burst number `first` and how many of the bursts [first, last) lie in it,
    /// one behind the other.
    Piece piece(std::uint64_t first, std::uint64_t last) const {
        const std::uint64_t step = dram_.bank_interleave_bytes;
        const std::uint64_t address = first * dram_.burst_bytes();
        const std::uint64_t in_bank = address / step / dram_.banks * step + address % step;
        const std::uint64_t together = std::min<std::uint64_t>(step, dram_.row_bytes);
        const std::uint64_t left = (together - address % together) / dram_.burst_bytes();
        return {.bank = address / step % dram_.banks,
                .row = in_bank / dram_.row_bytes,
                .bursts = std::min(left, last - first)};
    }

private:
    const machine::DramConfig& dram_;
};

}  // namespace systole::hw
