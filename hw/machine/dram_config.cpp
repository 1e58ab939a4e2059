#include "hw/machine/dram_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "hw/machine/config_error.h"

namespace systole::machine {

namespace {

constexpr std::uint64_t femtoseconds_a_second = 1'000'000'000'000'000;
constexpr double femtoseconds_a_nanosecond = 1e6;
constexpr std::uint64_t transfers_a_clock = 2;  // double data rate

std::uint64_t clock_femtoseconds(const DramConfig& dram) {
    return static_cast<std::uint64_t>(std::llround(dram.clock_ns * femtoseconds_a_nanosecond));
}

/// The longest time from the last command before a refresh is due to the first read after it.
std::uint64_t refresh_to_read(const DramConfig& dram) {
    const std::uint64_t closed = std::max<std::uint64_t>(
        std::uint64_t{std::max(dram.tras_clocks, dram.trtp_clocks)} + dram.trp_clocks, dram.trc_clocks);
    const std::uint64_t activation = std::max(
        {closed + dram.trfc_clocks, std::uint64_t{dram.tfaw_clocks}, std::uint64_t{dram.trrd_clocks}});
    return std::max<std::uint64_t>(activation + dram.trcd_clocks, dram.tccd_clocks);
}

}  // namespace

MemoryClock DramConfig::memory_clock(std::uint64_t core_hz) const {
    const std::uint64_t cycles = clock_femtoseconds(*this) * core_hz;
    const std::uint64_t divisor = std::gcd(femtoseconds_a_second, cycles);
    return {.clocks = femtoseconds_a_second / divisor, .cycles = cycles / divisor};
}

Rate DramConfig::peak_rate(std::uint64_t core_hz) const {
    const std::uint64_t bytes_a_clock = std::uint64_t{channels} * (bus_bits / 8) * transfers_a_clock;
    return make_rate(bytes_a_clock * femtoseconds_a_second, clock_femtoseconds(*this) * core_hz);
}

void validate(const DramConfig& dram, std::uint64_t memory_bytes, const std::string& file) {
    const auto fail = [&](std::string_view key, std::uint64_t value, std::string_view rule) {
        throw ConfigError(fmt::format("{}: weight_memory.{} is {}; {}", file, key, value, rule));
    };
    if (dram.bus_bits % 8 != 0) fail("dram.bus_bits", dram.bus_bits, "it must be whole bytes");
    if (dram.burst_length % 2 != 0) {
        fail("dram.burst_length", dram.burst_length, "it must be even: two transfers a clock");
    }
    const std::string whole_bursts = fmt::format("it must be whole bursts of {} bytes", dram.burst_bytes());
    if (dram.row_bytes % dram.burst_bytes() != 0) fail("dram.row_bytes", dram.row_bytes, whole_bursts);
    if (dram.channel_interleave_bytes % dram.burst_bytes() != 0) {
        fail("dram.channel_interleave_bytes", dram.channel_interleave_bytes, whole_bursts);
    }
    if (dram.bank_interleave_bytes % dram.burst_bytes() != 0) {
        fail("dram.bank_interleave_bytes", dram.bank_interleave_bytes, whole_bursts);
    }
    if (dram.row_bytes % dram.bank_interleave_bytes != 0 &&
        dram.bank_interleave_bytes % dram.row_bytes != 0) {
        fail("dram.bank_interleave_bytes", dram.bank_interleave_bytes,
             fmt::format("it must divide row_bytes, {}, or be a multiple of it", dram.row_bytes));
    }
    const std::uint64_t turn = std::uint64_t{dram.channels} * dram.banks *
                               std::max<std::uint64_t>(dram.row_bytes, dram.bank_interleave_bytes);
    if (memory_bytes % turn != 0) {
        fail("bytes", memory_bytes,
             fmt::format("the DRAM's channels and banks share it in steps of {} bytes", turn));
    }
    const std::uint64_t channel_turn = dram.channels * dram.channel_interleave_bytes;
    if (memory_bytes % channel_turn != 0) {
        fail("bytes", memory_bytes,
             fmt::format("the DRAM's channels share it in steps of {} bytes", channel_turn));
    }
    if (dram.tccd_clocks < dram.burst_clocks()) {
        fail("dram.tccd_clocks", dram.tccd_clocks,
             fmt::format("a burst takes {} clocks of the data bus", dram.burst_clocks()));
    }
    if (dram.trefi_clocks == 0) {
        if (dram.trfc_clocks != 0) {
            fail("dram.trfc_clocks", dram.trfc_clocks,
                 "it must be 0 where trefi_clocks is: nothing refreshes");
        }
    } else if (dram.trefi_clocks < refresh_to_read(dram)) {
        fail("dram.trefi_clocks", dram.trefi_clocks,
             fmt::format("closing the rows, a refresh and the first read after it take {} clocks",
                         refresh_to_read(dram)));
    }
}

}  // namespace systole::machine
