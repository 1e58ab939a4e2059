// The closed form of a DRAM against the rules of its commands, on random DRAMs and reads.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "hw/machine/config_error.h"
#include "hw/weight_memory/dram_timing.h"
#include "tests/support/random_runs.h"
#include "tests/unit/hw/weight_memory/dram_support.h"
#include "tests/unit/hw/weight_memory/slow_dram.h"

using namespace systole;
using tests::value_of;

namespace {

using Random = std::mt19937;

std::uint32_t draw(Random& random, std::uint32_t least, std::uint32_t most) {
    return std::uniform_int_distribution<std::uint32_t>(least, most)(random);
}

bool can_be(const machine::DramConfig& dram) {
    const std::uint64_t any_size = dram.channels * dram.banks * dram.row_bytes * dram.bank_interleave_bytes *
                                   dram.channel_interleave_bytes;
    try {
        validate(dram, any_size, "test");
    } catch (const machine::ConfigError&) {
        return false;
    }
    return true;
}

machine::DramConfig random_dram(Random& random) {
    machine::DramConfig dram;
    dram.channels = draw(random, 1, 3);
    dram.banks = draw(random, 1, 6);
    dram.bus_bits = 8 * draw(random, 1, 3);
    dram.burst_length = 2 * draw(random, 2, 4);
    const auto burst_bytes = static_cast<std::uint32_t>(dram.burst_bytes());
    const std::uint32_t columns = draw(random, 1, 12);
    dram.row_bytes = burst_bytes * columns;
    dram.channel_interleave_bytes = burst_bytes * draw(random, 1, 5);
    std::uint32_t step = draw(random, 1, columns);
    while (columns % step != 0) --step;
    dram.bank_interleave_bytes = draw(random, 0, 1) == 0 ? std::uint64_t{burst_bytes} * step
                                                         : std::uint64_t{dram.row_bytes} * draw(random, 1, 3);
    dram.queue_bursts = draw(random, 1, 20);
    constexpr double periods[] = {0.9375, 1.25, 1.07, 2.5, 0.313};
    dram.clock_ns = periods[draw(random, 0, 4)];
    dram.trcd_clocks = draw(random, 1, 15);
    dram.trp_clocks = draw(random, 1, 15);
    dram.cl_clocks = draw(random, 1, 15);
    dram.tccd_clocks = dram.burst_length / 2 + (draw(random, 0, 1) == 0 ? 0 : draw(random, 1, 9));
    dram.tras_clocks = draw(random, 1, 40);
    dram.trc_clocks = draw(random, 1, 60);
    dram.trrd_clocks = draw(random, 1, 12);
    dram.tfaw_clocks = draw(random, 1, 60);
    dram.trtp_clocks = draw(random, 1, 20);
    dram.trfc_clocks = dram.trefi_clocks = 0;
    if (draw(random, 0, 3) > 0) {
        dram.trfc_clocks = draw(random, 0, 50);
        dram.trefi_clocks = 1;
        while (!can_be(dram)) ++dram.trefi_clocks;
        if (draw(random, 0, 1) == 0) dram.trefi_clocks += draw(random, 1, 300);
    }
    return dram;
}

}  // namespace

TEST_CASE("The closed form gives every read the cycle, and every clock the cause, that the rules give",
          "[hw][dram][property]") {
    constexpr unsigned machines = 400;
    constexpr int reads = 30;
    constexpr std::uint64_t frequencies[] = {700'000'000, 1'000'000'000, 333'333'333, 2'400'000'000};
    for (unsigned seed = 1; seed <= tests::random_runs(machines); ++seed) {
        CAPTURE(seed);
        Random random(seed);
        const machine::DramConfig config = random_dram(random);
        REQUIRE(can_be(config));
        const std::uint64_t core_hz = frequencies[draw(random, 0, 3)];
        const std::uint64_t latency = draw(random, 0, 1) * draw(random, 0, 30);
        hw::DramTiming fast(config, core_hz, latency);
        tests::SlowDram slow(config, core_hz, latency);
        std::uint64_t issued = 0;
        std::uint64_t address = 0;
        bool same = true;
        for (int i = 0; i < reads && same; ++i) {
            const std::uint64_t bytes = draw(random, 1, 120);
            const Cycle expected = slow.read(address, bytes, issued);
            CAPTURE(i, address, bytes, issued);
            const Cycle done = fast.read(address, bytes, issued, 0);
            CHECK(done == expected);
            same = done == expected;
            address = draw(random, 0, 3) > 0 ? address + bytes : draw(random, 0, 5000);
            const std::uint32_t pause = draw(random, 0, 3);
            if (pause == 1) issued += draw(random, 1, 100);
            if (pause == 2) issued = std::max(issued, done);
            if (pause == 3 && draw(random, 0, 3) == 0) issued += draw(random, 100, 3000);
        }
        tests::SlowDramChannel::Counts counts;
        for (const tests::SlowDramChannel& channel : slow.channels()) {
            counts.reads += channel.counts.reads;
            counts.hits += channel.counts.hits;
            counts.activations += channel.counts.activations;
            counts.refreshes += channel.counts.refreshes;
            counts.data += channel.counts.data;
            counts.row += channel.counts.row;
            counts.refresh += channel.counts.refresh;
            counts.gap += channel.counts.gap;
            counts.idle += channel.counts.idle;
        }
        const hw::CounterGroup& counters = *fast.counters();
        CHECK(value_of(counters, "reads") == counts.reads);
        CHECK(value_of(counters, "row_hits") == counts.hits);
        CHECK(value_of(counters, "row_activations") == counts.activations);
        CHECK(value_of(counters, "refreshes") == counts.refreshes);
        CHECK(value_of(counters, "data_clocks") == counts.data);
        CHECK(value_of(counters, "row_clocks") == counts.row);
        CHECK(value_of(counters, "refresh_clocks") == counts.refresh);
        CHECK(value_of(counters, "gap_clocks") == counts.gap);
        CHECK(value_of(counters, "idle_clocks") == counts.idle);
        CHECK(value_of(counters, "row_hits") + value_of(counters, "row_activations") ==
              value_of(counters, "reads"));
    }
}
