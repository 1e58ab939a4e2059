#pragma once

#include <cstdint>
#include <string>

#include "hw/base/cycle.h"
#include "hw/machine/config_fields.h"

namespace systole::machine {

/// The ratio of a DRAM's clock to the core's: `clocks` memory clocks in every `cycles` core cycles, in lowest
/// terms.
struct MemoryClock {
    std::uint64_t clocks = 1;
    std::uint64_t cycles = 1;

    bool operator==(const MemoryClock&) const = default;
};

/// A double-data-rate DRAM: channels of one rank each and the timing rules of the controller. Fields named
/// t... and cl are the DDR standards' timing parameters in memory clocks, as a controller's registers hold
/// them: a time in ns is rounded up. The defaults are two channels of DDR3-2133;
/// configs/machines/tpu_v1_dram.json names their sources.
struct DramConfig {
    std::uint32_t channels = 2;
    std::uint32_t banks = 8;
    std::uint32_t row_bytes = 8192;
    std::uint32_t bus_bits = 64;
    std::uint32_t burst_length = 8;
    double clock_ns = 0.9375;
    std::uint64_t channel_interleave_bytes = 64;
    std::uint64_t bank_interleave_bytes = 8192;
    std::uint32_t queue_bursts = 32;
    std::uint32_t trcd_clocks = 14;
    std::uint32_t trp_clocks = 14;
    std::uint32_t cl_clocks = 14;
    std::uint32_t tccd_clocks = 4;
    std::uint32_t tras_clocks = 36;
    std::uint32_t trc_clocks = 50;
    std::uint32_t trrd_clocks = 6;
    std::uint32_t tfaw_clocks = 27;
    std::uint32_t trtp_clocks = 8;
    std::uint32_t trefi_clocks = 8320;
    std::uint32_t trfc_clocks = 278;

    std::uint64_t burst_bytes() const { return std::uint64_t{bus_bits} / 8 * burst_length; }
    /// Clocks a burst is on the data bus: two transfers a clock.
    std::uint64_t burst_clocks() const { return burst_length / 2; }
    MemoryClock memory_clock(std::uint64_t core_hz) const;
    /// Bytes per core cycle over the data buses of all channels, without any pause.
    Rate peak_rate(std::uint64_t core_hz) const;
};

/// Checks the rules between fields and with the size of the memory. Throws ConfigError with `file` first.
void validate(const DramConfig& dram, std::uint64_t memory_bytes, const std::string& file);

template <class Visitor>
void describe(Visitor& visitor, DramConfig& config) {
    // Products of the bounds below fit 64 bits, even with clocks counted in femtoseconds.
    constexpr std::uint32_t most_clocks = 1'000'000;
    visitor.field({"channels", "channels", "each with buses and banks of its own"}, config.channels,
                  Range{1, 64});
    visitor.field({"banks", "banks", "of a channel, each with one row open at a time"}, config.banks,
                  Range{1, 1024});
    visitor.field({"row_bytes", "bytes", "a row (page) of a bank, over all devices of the channel"},
                  config.row_bytes, Range{1, 1U << 30U});
    visitor.field({.key = "bus_bits",
                   .unit = "bits",
                   .meaning = "data bus of a channel",
                   .rule = "it must be whole bytes"},
                  config.bus_bits, Range{8, 1024});
    // At least 4: bursts of two transfers would fill the command bus, which is not modelled.
    visitor.field({"burst_length", "transfers", "on the data bus for each read command, two a clock"},
                  config.burst_length, Range{4, 64});
    visitor.field({"clock_ns", "ns", "period of the memory clock"}, config.clock_ns, RealRange{0.1, 10});
    visitor.field({"channel_interleave_bytes", "bytes",
                   "consecutive addresses in one channel before the next channel's turn"},
                  config.channel_interleave_bytes, Range{1, std::uint64_t{1} << 40U});
    visitor.field({"bank_interleave_bytes", "bytes",
                   "consecutive bytes of a channel in one bank before the next bank's turn"},
                  config.bank_interleave_bytes, Range{1, std::uint64_t{1} << 40U});
    visitor.field({"queue_bursts", "bursts", "the controller of a channel sees ahead, to open rows"},
                  config.queue_bursts, Range{1, 1U << 20U});
    visitor.field({"trcd_clocks", "clocks", "tRCD: from a row's activation to its first read"},
                  config.trcd_clocks, Range{1, most_clocks});
    visitor.field({"trp_clocks", "clocks", "tRP: from a bank's precharge to its next activation"},
                  config.trp_clocks, Range{1, most_clocks});
    visitor.field({"cl_clocks", "clocks", "CL: from a read command to its first data"}, config.cl_clocks,
                  Range{1, most_clocks});
    visitor.field({"tccd_clocks", "clocks", "tCCD: from a read command to the next"}, config.tccd_clocks,
                  Range{1, most_clocks});
    visitor.field({"tras_clocks", "clocks", "tRAS: from a row's activation to its bank's precharge"},
                  config.tras_clocks, Range{1, most_clocks});
    visitor.field({"trc_clocks", "clocks", "tRC: from a bank's activation to its next, or to a refresh"},
                  config.trc_clocks, Range{1, most_clocks});
    visitor.field({"trrd_clocks", "clocks", "tRRD: from an activation to the next one of any bank"},
                  config.trrd_clocks, Range{1, most_clocks});
    visitor.field({"tfaw_clocks", "clocks", "tFAW: from an activation to the fourth one after it"},
                  config.tfaw_clocks, Range{1, most_clocks});
    visitor.field({"trtp_clocks", "clocks", "tRTP: from a read command to its bank's precharge"},
                  config.trtp_clocks, Range{1, most_clocks});
    visitor.field({"trefi_clocks", "clocks", "tREFI: from one refresh to the next; 0 for a DRAM without"},
                  config.trefi_clocks, Range{0, 1'000'000'000});
    visitor.field({"trfc_clocks", "clocks", "tRFC: from a refresh to the next activation"},
                  config.trfc_clocks, Range{0, most_clocks});
}

}  // namespace systole::machine
