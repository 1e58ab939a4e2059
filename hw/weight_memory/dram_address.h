#pragma once

#include <algorithm>
#include <cstdint>

#include "hw/machine/dram_config.h"

namespace systole::hw {

/// The mapping of addresses to the channels, banks and rows of a DRAM. Addresses are interleaved over the
/// channels in steps of channel_interleave_bytes; the bytes of a channel form its own address space. This is
/// interleaved over the banks in steps of bank_interleave_bytes; the bytes of a bank are divided into rows.
class DramAddressMap {
public:
    explicit DramAddressMap(const machine::DramConfig& dram) : dram_(dram) {}

    /// The address within the channel: the number of bytes below `address` that lie in the channel.
    std::uint64_t in_channel(std::uint64_t channel, std::uint64_t address) const {
        const std::uint64_t step = dram_.channel_interleave_bytes;
        const std::uint64_t turn = step * dram_.channels;
        const std::uint64_t offset = address % turn;
        const std::uint64_t before = std::min(offset, channel * step);
        return address / turn * step + std::min(offset - before, step);
    }

    /// Consecutive bursts of one row.
    struct Piece {
        std::uint64_t bank = 0;
        std::uint64_t row = 0;
        std::uint64_t bursts = 0;
    };
    /// The row of the channel's burst `first`, and how many of the bursts [first, last) lie in it
    /// consecutively.
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
