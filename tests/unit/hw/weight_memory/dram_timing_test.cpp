#include "hw/weight_memory/dram_timing.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/unit/hw/weight_memory/dram_support.h"

using namespace systole;
using tests::memory_clocks;
using tests::value_of;

namespace {

constexpr std::uint64_t core_hz = 1'000'000'000;

// No two of them alike; a memory clock is a core cycle.
constexpr std::uint32_t burst = 4;  // clocks on the bus, for 8 bytes
constexpr std::uint32_t rcd = 5;
constexpr std::uint32_t rp = 7;
constexpr std::uint32_t cl = 6;
constexpr std::uint32_t ras = 23;
constexpr std::uint32_t rc = 31;
constexpr std::uint32_t rrd = 3;
constexpr std::uint32_t faw = 17;
constexpr std::uint32_t rtp = 9;
constexpr std::uint32_t rfc = 40;
constexpr std::uint64_t burst_bytes = 8;
constexpr std::uint64_t row_bytes = 4 * burst_bytes;
constexpr std::uint64_t banks = 8;
/// From one row of a bank to its next.
constexpr std::uint64_t next_row = banks * row_bytes;

/// One channel without refresh, with rows interleaved over the banks.
machine::DramConfig small_dram() {
    return {.channels = 1,
            .banks = banks,
            .row_bytes = row_bytes,
            .bus_bits = 8,
            .burst_length = 2 * burst,
            .clock_ns = 1,
            .channel_interleave_bytes = burst_bytes,
            .bank_interleave_bytes = row_bytes,
            .queue_bursts = 64,
            .trcd_clocks = rcd,
            .trp_clocks = rp,
            .cl_clocks = cl,
            .tccd_clocks = burst,
            .tras_clocks = ras,
            .trc_clocks = rc,
            .trrd_clocks = rrd,
            .tfaw_clocks = faw,
            .trtp_clocks = rtp,
            .trefi_clocks = 0,
            .trfc_clocks = 0};
}

machine::DramConfig with(const std::function<void(machine::DramConfig&)>& change,
                         machine::DramConfig dram = small_dram()) {
    change(dram);
    return dram;
}

hw::DramTiming make(const machine::DramConfig& dram, std::uint64_t latency = 0) {
    return {dram, core_hz, latency};
}

}  // namespace

TEST_CASE("A burst takes its row's activation, tRCD, CL and its transfers", "[hw][dram]") {
    hw::DramTiming dram = make(small_dram());
    CHECK(dram.read(0, burst_bytes, 100, 0) == 100 + rcd + cl + burst);
    CHECK(value_of(*dram.counters(), "row_activations") == 1);
    CHECK(value_of(*dram.counters(), "row_hits") == 0);
}

TEST_CASE("The bursts of a row follow each other tCCD apart", "[hw][dram]") {
    const std::uint32_t ccd = GENERATE(as<std::uint32_t>(), burst, burst + 1, burst + 7);
    hw::DramTiming dram = make(with([&](auto& d) { d.tccd_clocks = ccd; }));
    CHECK(dram.read(0, row_bytes, 100, 0) == 100 + rcd + 3 * ccd + cl + burst);
    CHECK(value_of(*dram.counters(), "row_activations") == 1);
    CHECK(value_of(*dram.counters(), "row_hits") == 3);
    CHECK(value_of(*dram.counters(), "gap_clocks") == 3 * (ccd - burst));
    // A hit has no tRCD to wait for.
    CHECK(dram.read(0, burst_bytes, 500, 0) == 500 + cl + burst);
}

TEST_CASE("A burst of an open row waits for the burst before, asked for as early as may be", "[hw][dram]") {
    hw::DramTiming dram = make(small_dram());
    CHECK(dram.read(0, burst_bytes, 0, 0) == rcd + cl + burst);
    CHECK(dram.read(burst_bytes, burst_bytes, 0, 0) == rcd + burst + cl + burst);
    constexpr std::uint64_t read = rcd + burst;  // the command of the burst before
    CHECK(dram.read(2 * burst_bytes, burst_bytes, read + burst + 1, 0) == read + burst + 1 + cl + burst);
}

TEST_CASE("Another row of the bank comes after tRAS, tRTP, tRP and tRC, whichever is last", "[hw][dram]") {
    const auto second_row = [](const machine::DramConfig& config) {
        hw::DramTiming dram = make(config);
        dram.read(0, burst_bytes, 0, 0);
        const Cycle end = dram.read(next_row, burst_bytes, 0, 0);
        CHECK(value_of(*dram.counters(), "row_activations") == 2);
        return end - rcd - cl - burst;  // the activation
    };
    // The row is closed tRAS after it was opened in clock 0, and tRP later the next one may open.
    CHECK(second_row(with([](auto& d) { d.trc_clocks = ras + rp; })) == ras + rp);
    CHECK(second_row(small_dram()) == rc);
    CHECK(second_row(with([](auto& d) { d.tras_clocks = rc - rp; })) == rc);
    CHECK(second_row(with([](auto& d) { d.tras_clocks = rc - rp + 1; })) == rc + 1);
    CHECK(second_row(with([](auto& d) { d.trp_clocks = rc - ras; })) == rc);
    CHECK(second_row(with([](auto& d) { d.trp_clocks = rc - ras + 1; })) == rc + 1);
    CHECK(second_row(with([](auto& d) { d.trtp_clocks = rc - rp - rcd; })) == rc);
    CHECK(second_row(with([](auto& d) { d.trtp_clocks = rc - rp - rcd + 1; })) == rc + 1);
}

TEST_CASE("Activations keep tRRD apart, and the fifth tFAW behind the first", "[hw][dram]") {
    // Bursts of five banks; the first four reads are held back by the data bus, the fifth by its row.
    const auto fifth = [](const machine::DramConfig& config) {
        hw::DramTiming dram = make(config);
        return dram.read(0, 5 * burst_bytes, 0, 0) - cl - burst;
    };
    const auto turn = [](machine::DramConfig& d) { d.bank_interleave_bytes = burst_bytes; };
    const machine::DramConfig turns = with(turn);
    CHECK(fifth(turns) == faw + rcd);
    CHECK(fifth(with([](auto& d) { d.tfaw_clocks = 4 * burst; }, turns)) == 4 * burst + rcd);
    CHECK(fifth(with([](auto& d) { d.tfaw_clocks = 4 * burst - 1; }, turns)) == 4 * burst + rcd);  // the bus
    CHECK(fifth(with([](auto& d) { d.trrd_clocks = 5; }, turns)) == 4 * 5 + rcd);
    CHECK(fifth(with([](auto& d) { d.trrd_clocks = 6; }, turns)) == 4 * 6 + rcd);
}

TEST_CASE("The next rows open while a row is read, as far as the queue sees", "[hw][dram]") {
    // Rows of banks that are closed: the next one's activation and tRCD hide behind the last two bursts.
    const auto two_rows = [](std::uint32_t queue) {
        hw::DramTiming dram = make(with([&](auto& d) { d.queue_bursts = queue; }));
        const Cycle end = dram.read(0, 2 * row_bytes, 0, 0);
        return std::pair{end, value_of(*dram.counters(), "row_clocks")};
    };
    constexpr std::uint64_t hidden = rcd + 7 * burst + cl + burst;
    CHECK(two_rows(64) == std::pair{hidden, std::uint64_t{rcd}});
    CHECK(two_rows(2) == std::pair{hidden, std::uint64_t{rcd}});
    // The queue shows it the clock after the burst before has been read.
    constexpr std::uint64_t seen = 1 + rcd;
    CHECK(two_rows(1) == std::pair{hidden - burst + seen, std::uint64_t{rcd + seen - burst}});
}

TEST_CASE("From tREFI on nothing is read until the banks are refreshed", "[hw][dram]") {
    constexpr std::uint32_t refi = 200;
    const machine::DramConfig refreshed = with([](auto& d) {
        d.trefi_clocks = refi;
        d.trfc_clocks = rfc;
    });
    SECTION("a row that can be read before is opened") {
        hw::DramTiming dram = make(refreshed);
        CHECK(dram.read(0, burst_bytes, refi - 1 - rcd, 0) == refi - 1 + cl + burst);
        CHECK(value_of(*dram.counters(), "refreshes") == 0);
        // It is closed for the refresh, tRAS after it was opened, and opened again.
        constexpr std::uint64_t opened = refi - 1 - rcd;
        constexpr std::uint64_t again = opened + rc + rfc;
        static_assert(opened + rc > opened + ras + rp);
        CHECK(dram.read(burst_bytes, burst_bytes, refi - rcd, 0) == again + rcd + cl + burst);
        CHECK(value_of(*dram.counters(), "refreshes") == 1);
        CHECK(value_of(*dram.counters(), "row_activations") == 2);
        CHECK(value_of(*dram.counters(), "row_hits") == 0);
        // From the end of the burst to the end of the refresh, then the row.
        CHECK(value_of(*dram.counters(), "refresh_clocks") == again - (refi - 1 + burst));
        CHECK(value_of(*dram.counters(), "row_clocks") == 2 * rcd);
    }
    SECTION("a row that cannot is not, and no bank has to be closed") {
        hw::DramTiming dram = make(refreshed);
        CHECK(dram.read(0, burst_bytes, refi - rcd, 0) == refi + rfc + rcd + cl + burst);
        CHECK(value_of(*dram.counters(), "row_activations") == 1);
        CHECK(value_of(*dram.counters(), "refresh_clocks") == rcd + rfc);
    }
    SECTION("the bursts of a row that comes too late for are read after it") {
        // Reads in clocks 191, 195 and 199, the fourth would be in clock 203.
        constexpr std::uint32_t long_rtp = 20;  // so that it is the last read which holds the banks open
        hw::DramTiming dram = make(with([](auto& d) { d.trtp_clocks = long_rtp; }, refreshed));
        constexpr std::uint64_t opened = refi - 1 - 2 * burst - rcd;
        static_assert(refi - 1 + long_rtp > opened + ras && refi - 1 + long_rtp + rp > opened + rc);
        constexpr std::uint64_t again = refi - 1 + long_rtp + rp + rfc;
        CHECK(dram.read(0, row_bytes, opened, 0) == again + rcd + cl + burst);
        CHECK(value_of(*dram.counters(), "row_hits") == 2);
    }
    SECTION("while there is nothing to read refreshes cost nothing") {
        hw::DramTiming dram = make(refreshed);
        const std::uint64_t many = GENERATE(1U, 2U, 1'000'000'000U);
        const std::uint64_t issued = many * refi + rfc;
        CHECK(dram.read(0, burst_bytes, issued, 0) == issued + rcd + cl + burst);
        CHECK(value_of(*dram.counters(), "refreshes") == many);
        CHECK(value_of(*dram.counters(), "refresh_clocks") == 0);
    }
    SECTION("a read that comes into one waits for the rest") {
        hw::DramTiming dram = make(refreshed);
        const std::uint64_t many = GENERATE(1U, 2U, 1'000'000'000U);
        CHECK(dram.read(0, burst_bytes, many * refi + rfc - 9, 0) == many * refi + rfc + rcd + cl + burst);
        CHECK(value_of(*dram.counters(), "refresh_clocks") == 9);
    }
}

TEST_CASE("Channels take turns and read side by side; the slower one ends the read", "[hw][dram]") {
    const auto ends = [](std::uint64_t interleave, std::uint64_t bytes) {
        hw::DramTiming dram = make(with([&](auto& d) {
            d.channels = 2;
            d.channel_interleave_bytes = interleave;
        }));
        const Cycle end = dram.read(0, bytes, 0, 0) - rcd - cl;
        return std::pair{end / burst, value_of(*dram.counters(), "row_activations")};
    };
    using Ends = std::pair<std::uint64_t, std::uint64_t>;  // bursts of the slower channel, rows
    CHECK(ends(burst_bytes, 2 * burst_bytes) == Ends{1, 2});
    CHECK(ends(2 * burst_bytes, 2 * burst_bytes) == Ends{2, 1});
    CHECK(ends(2 * burst_bytes, 3 * burst_bytes) == Ends{2, 2});
    CHECK(ends(burst_bytes, 5 * burst_bytes) == Ends{3, 2});
}

TEST_CASE("Whole bursts move, wherever a read begins and ends", "[hw][dram]") {
    const auto reads = [](std::uint64_t address, std::uint64_t bytes) {
        hw::DramTiming dram = make(small_dram());
        dram.read(address, bytes, 0, 0);
        return value_of(*dram.counters(), "reads");
    };
    CHECK(reads(0, 1) == 1);
    CHECK(reads(7, 1) == 1);
    CHECK(reads(7, 2) == 2);
    CHECK(reads(0, 9) == 2);
    CHECK(reads(row_bytes - 1, 2) == 2);
}

TEST_CASE("The memory clock beside the core's is exact: 32 clocks in 21 cycles", "[hw][dram]") {
    machine::DramConfig dram = small_dram();
    dram.clock_ns = 0.9375;
    const auto read = [&](std::uint64_t issued, std::uint64_t latency) {
        hw::DramTiming timing(dram, 700'000'000, latency);
        return timing.read(0, burst_bytes, issued, 0);
    };
    constexpr std::uint64_t clocks = rcd + cl + burst;  // 15
    const auto cycle = [](std::uint64_t clock) { return clock * 21 / 32; };
    CHECK(read(0, 0) == cycle(clocks));
    CHECK(read(21, 0) == 21 + cycle(clocks));
    CHECK(read(1, 0) == cycle(2 + clocks));    // cycle 1 begins within clock 1
    CHECK(read(20, 0) == cycle(31 + clocks));  // and cycle 20 within clock 30
    CHECK(read(1, 19) == cycle(31 + clocks));
    // No drift: a million periods later it is the same.
    constexpr std::uint64_t later = 1'000'000'000'000;
    CHECK(read(21 * later + 20, 0) == 21 * later + cycle(31 + clocks));
}

TEST_CASE("A time that 64 bits do not hold is refused", "[hw][dram]") {
    hw::DramTiming dram = make(small_dram());
    CHECK_THROWS_AS(dram.read(0, 1, std::numeric_limits<std::uint64_t>::max() - 1, 0), std::overflow_error);
}

TEST_CASE("Counts go to the read's tag", "[hw][dram]") {
    hw::DramTiming dram = make(small_dram());
    dram.read(0, row_bytes, 0, 3);
    dram.read(row_bytes, 2 * row_bytes, 0, 5);
    for (const hw::Counter& counter : *dram.counters()) {
        CAPTURE(counter.name());
        CHECK(counter.value(3) + counter.value(5) == counter.value());
        if (counter.name() == "row_activations") CHECK(counter.value(5) == 2);
    }
}

TEST_CASE("At the end of a run, every clock of each channel has a cause", "[hw][dram]") {
    machine::DramConfig config = small_dram();
    config.channels = 3;
    config.trefi_clocks = 150;
    config.trfc_clocks = rfc;
    hw::DramTiming dram = make(config);
    dram.read(0, 50 * burst_bytes, 77, 0);
    dram.finish(5000, 0);
    CHECK(memory_clocks(*dram.counters()) == 3 * 5000);
    CHECK(value_of(*dram.counters(), "refreshes") == 3 * (4999 / 150));
}

TEST_CASE("No field of the configuration is without effect", "[hw][dram]") {
    // Reads that meet every rule somewhere: long ones, short ones, near and far, busy and idle.
    const auto ends = [](const machine::DramConfig& dram, std::uint64_t latency) {
        hw::DramTiming timing(dram, core_hz, latency);
        std::vector<Cycle> cycles;
        std::uint64_t address = 0;
        for (std::uint64_t i = 0; i < 60; ++i) {
            cycles.push_back(timing.read(address, 1 + i * 37 % 150, i * 60, 0));
            address = i % 3 == 0 ? address + 150 : i * 1111 % 4000;
        }
        return cycles;
    };
    machine::DramConfig base = small_dram();
    base.trefi_clocks = 190;
    base.trfc_clocks = rfc;
    base.bank_interleave_bytes = 2 * burst_bytes;
    base.queue_bursts = 2;
    base.trrd_clocks = 4;
    base.trtp_clocks = 15;
    base.tfaw_clocks = 37;
    base.trc_clocks = ras + rp;
    struct Change {
        const char* field;
        std::function<void(machine::DramConfig&)> make;
    };
    const std::vector<Change> changes{
        {"channels", [](auto& d) { d.channels = 2; }},
        {"banks", [](auto& d) { d.banks = 4; }},
        {"row_bytes", [](auto& d) { d.row_bytes *= 2; }},
        {"bus_bits", [](auto& d) { d.bus_bits *= 2; }},
        {"burst_length", [](auto& d) { d.burst_length = 4; }},
        {"clock_ns", [](auto& d) { d.clock_ns = 0.999; }},
        {"bank_interleave_bytes", [](auto& d) { d.bank_interleave_bytes *= 2; }},
        {"queue_bursts", [](auto& d) { d.queue_bursts = 3; }},
        {"trcd_clocks", [](auto& d) { ++d.trcd_clocks; }},
        {"trp_clocks", [](auto& d) { ++d.trp_clocks; }},
        {"cl_clocks", [](auto& d) { ++d.cl_clocks; }},
        {"tccd_clocks", [](auto& d) { ++d.tccd_clocks; }},
        {"tras_clocks", [](auto& d) { ++d.tras_clocks; }},
        {"trc_clocks", [](auto& d) { ++d.trc_clocks; }},
        {"trrd_clocks", [](auto& d) { d.trrd_clocks += 3; }},
        {"tfaw_clocks", [](auto& d) { ++d.tfaw_clocks; }},
        {"trtp_clocks", [](auto& d) { ++d.trtp_clocks; }},
        {"trefi_clocks", [](auto& d) { ++d.trefi_clocks; }},
        {"trfc_clocks", [](auto& d) { ++d.trfc_clocks; }},
    };
    for (const Change& change : changes) {
        CAPTURE(change.field);
        CHECK(ends(with(change.make, base), 0) != ends(base, 0));
    }
    CHECK(ends(base, 1) != ends(base, 0));
    base.channels = 2;  // how they take turns matters where there are two
    CHECK(ends(with([](auto& d) { d.channel_interleave_bytes *= 2; }, base), 0) != ends(base, 0));
}
