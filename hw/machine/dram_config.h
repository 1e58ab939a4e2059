#pragma once

#include <cstdint>
#include <string>

#include "base/cycle.h"
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
    visitor.field({"channels", "channels", "independent channels, each with its own buses and banks"},
                  config.channels, Range{1, 64});
    visitor.field({"banks", "banks", "banks of a channel; each has one row open at a time"}, config.banks,
                  Range{1, 1024});
    visitor.field(
        {"row_bytes", "bytes", "size of a row (page) of a bank, summed over all devices of the channel"},
        config.row_bytes, Range{1, 1U << 30U});
    visitor.field({.key = "bus_bits",
                   .unit = "bits",
                   .meaning = "width of a channel's data bus",
                   .rule = "it must be whole bytes"},
                  config.bus_bits, Range{8, 1024});
    // At least 4: bursts of two transfers would fill the command bus, which is not modelled.
    visitor.field(
        {"burst_length", "transfers", "transfers that a read command makes on the data bus, two per clock"},
        config.burst_length, Range{4, 64});
    visitor.field({"clock_ns", "ns", "period of the memory clock"}, config.clock_ns, RealRange{0.1, 10});
    visitor.field({"channel_interleave_bytes", "bytes",
                   "consecutive bytes that lie in one channel before the next channel follows"},
                  config.channel_interleave_bytes, Range{1, std::uint64_t{1} << 40U});
    visitor.field({"bank_interleave_bytes", "bytes",
                   "consecutive bytes of a channel that lie in one bank before the next bank follows"},
                  config.bank_interleave_bytes, Range{1, std::uint64_t{1} << 40U});
    visitor.field({"queue_bursts", "bursts",
                   "waiting bursts that the controller of a channel looks at, to open their rows early"},
                  config.queue_bursts, Range{1, 1U << 20U});
    visitor.field({"trcd_clocks", "clocks", "tRCD: least time from opening a row to its first read"},
                  config.trcd_clocks, Range{1, most_clocks});
    visitor.field({"trp_clocks", "clocks",
                   "tRP: least time from closing a row (precharge) to opening the bank's next row"},
                  config.trp_clocks, Range{1, most_clocks});
    visitor.field({"cl_clocks", "clocks", "CL: time from a read command to its first data"}, config.cl_clocks,
                  Range{1, most_clocks});
    visitor.field({"tccd_clocks", "clocks", "tCCD: least time from a read command to the next one"},
                  config.tccd_clocks, Range{1, most_clocks});
    visitor.field({"tras_clocks", "clocks", "tRAS: least time from opening a row to closing it"},
                  config.tras_clocks, Range{1, most_clocks});
    visitor.field({"trc_clocks", "clocks",
                   "tRC: least time from opening a row to opening the bank's next row, or to a refresh"},
                  config.trc_clocks, Range{1, most_clocks});
    visitor.field(
        {"trrd_clocks", "clocks", "tRRD: least time from opening a row to opening the next one, in any bank"},
        config.trrd_clocks, Range{1, most_clocks});
    visitor.field(
        {"tfaw_clocks", "clocks", "tFAW: least time from opening a row to opening the fourth row after it"},
        config.tfaw_clocks, Range{1, most_clocks});
    visitor.field({"trtp_clocks", "clocks", "tRTP: least time from a read command to closing its row"},
                  config.trtp_clocks, Range{1, most_clocks});
    visitor.field({"trefi_clocks", "clocks",
                   "tREFI: time from one refresh to the next; 0 if the memory needs no refresh"},
                  config.trefi_clocks, Range{0, 1'000'000'000});
    visitor.field({"trfc_clocks", "clocks", "tRFC: least time from a refresh to opening a row"},
                  config.trfc_clocks, Range{0, most_clocks});
}

}  // namespace systole::machine
