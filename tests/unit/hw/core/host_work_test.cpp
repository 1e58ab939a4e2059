// Rules 8 and 9 of docs/timing.md: the host computes segments while the chip goes on.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "hw/isa/program_error.h"
#include "sim/functional/executor.h"
#include "tests/support/chip.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/mixing_host.h"
#include "tests/unit/hw/core/odd_machine.h"

using namespace systole;
using Catch::Matchers::Contains;
using Catch::Matchers::Message;
using tests::Chip;
using tests::MixingHost;
using tests::odd_machine;
using tests::TimedChip;

namespace {

using HostReasons = std::map<std::string, Cycle>;

HostReasons host_reasons_of(const Chip& chip, hw::Tag tag) {
    HostReasons reasons;
    for (const hw::PlacedCounters& placed : chip->counters()) {
        if (placed.path != "matrix_unit.non_matrix_reasons") continue;
        for (const hw::Counter& counter : *placed.group) {
            if (counter.value(tag) > 0) reasons[std::string(counter.name())] = counter.value(tag);
        }
    }
    return reasons;
}

/// Two buffers of 8 inferences of 7 bytes, and the segment from the first to the second.
const std::string host_program =
    ".array 7 5\n.tile 7 5 random 1\n.unified_buffer 0 1400 random 3\n"
    ".buffer scores exchange 0 56\n.buffer shares exchange 0x100 56\n.buffer out output 0x200 56\n"
    ".host_segment first\n.reads scores 7\n.writes shares 7\n"
    ".host_segment second\n.reads shares 7\n.writes out 7\n";

/// Operands to the host, its work, results back; the product of the results.
const std::string host_round_trip =
    "tag 1\nread_weights tile=0\nmatmul ub=100 acc=0 rows=3\n"
    "tag 2\nwrite_host scores ub=0 block=7 count=8\nsync.signal host_write sem=0\nsync.wait host sem=0\n"
    "host_work segment=0 first=0 images=8\nsync.signal host sem=1\nsync.wait host_read sem=1\n"
    "read_host shares ub=20 block=7 count=8\nsync.signal host_read sem=2\n"
    "tag 3\nsync.wait matrix sem=2\nmatmul ub=20 acc=30 rows=8 keep\ntag 4\n";

machine::MachineConfig host_machine(std::uint32_t latency) {
    machine::MachineConfig machine = odd_machine();
    machine.host_interface.latency_cycles = latency;
    machine.weight_memory.bandwidth_gb_per_s = 70;  // out of the way
    return machine;
}

std::string host_error_of(const std::string& text) {
    try {
        Chip chip(odd_machine(), text);
        chip.run();
    } catch (const isa::ProgramError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("Rule 9: host work begins with its operands in host memory and ends with the host's answer",
          "[timing]") {
    const std::uint32_t latency = GENERATE(0U, 1U, 13U);
    CAPTURE(latency);
    TimedChip chip(host_machine(latency), host_program + host_round_trip + "halt\n");
    chip.run();
    const auto write = chip.times(isa::QueueId::HostWrite).at(0);
    const auto work = chip.times(isa::QueueId::Host).at(0);
    const auto read = chip.times(isa::QueueId::HostRead).at(0);
    const auto products = chip.times(isa::QueueId::Matrix);
    const Cycle computes = MixingHost::cycles_of({.segment = 0, .first_inference = 0, .images = 8});
    CHECK(work.begun == std::max(write.complete, work.issued));
    CHECK(work.released == work.begun + latency + computes);
    CHECK(work.complete == work.released + latency);
    CHECK(read.begun == work.complete);
    CHECK(products.at(1).begun == read.complete);
    CHECK(chip->counter("host.busy_cycles").value(2) == latency + computes);
    CHECK(chip->counter("host.segments").value() == 1);
    CHECK(chip->counter("host.images").value() == 8);
    const Cycle all = chip->counter("host.busy_cycles").value() + chip->counter("host.idle_cycles").value() +
                      chip->counter("host.sync_cycles").value();
    CHECK(all == chip->cycles());
}

TEST_CASE("Rule 9: the host does one segment at a time, and the chip goes on", "[timing]") {
    const std::uint32_t latency = GENERATE(0U, 6U);
    TimedChip chip(host_machine(latency), host_program +
                                              "host_work segment=0 first=0 images=1\n"
                                              "host_work segment=1 first=1 images=7\n"
                                              "read_weights tile=0\nmatmul ub=0 acc=0 rows=5\nhalt\n");
    chip.run();
    const auto work = chip.times(isa::QueueId::Host);
    REQUIRE(work.size() == 2);
    CHECK(work[1].begun == work[0].released);
    CHECK(work[1].complete == work[1].begun + 2 * latency + MixingHost::cycles_of({1, 1, 7}));
    CHECK(chip.times(isa::QueueId::Matrix).at(0).released < work[1].released);
    CHECK(chip->cycles() == std::max(work[1].complete, chip.times(isa::QueueId::Matrix).at(0).complete));
}

TEST_CASE("Rule 8: a product that waits for the host's results names the host", "[timing]") {
    const auto engine = GENERATE(machine::Engine::Wavefront, machine::Engine::Pe);
    machine::MachineConfig machine = host_machine(13);
    machine.matrix_unit.engine = engine;
    TimedChip chip(machine, host_program + host_round_trip + "halt\n");
    chip.run();
    const auto work = chip.times(isa::QueueId::Host).at(0);
    const auto read = chip.times(isa::QueueId::HostRead).at(0);
    const auto products = chip.times(isa::QueueId::Matrix);
    // The cycles before the read was issued are the sequencer's, or nobody's: the wait was not there yet.
    const HostReasons reasons = host_reasons_of(chip, 3);
    REQUIRE(reasons.contains("host_cycles"));
    CHECK(reasons.at("host_cycles") == work.complete - products.at(0).released);
    CHECK(reasons.at("input_cycles") == products.at(1).begun - read.begun);
}

TEST_CASE("Rule 8: vector work on the host's results does not hide the host", "[timing]") {
    // The activation unit waits for the host's reads, which wait for the host.
    machine::MachineConfig machine = host_machine(9);
    TimedChip chip(machine,
                   host_program +
                       "tag 1\nread_weights tile=0\nmatmul ub=100 acc=0 rows=3\n"
                       "tag 2\nhost_work segment=0 first=0 images=8\nsync.signal host sem=1\n"
                       "sync.wait host_read sem=1\nread_host shares ub=20 block=7 count=8\n"
                       "sync.signal host_read sem=2\nsync.wait activation sem=2\n"
                       "tag 3\nvector add dst=40 src=20 other=0 rows=8\nsync.signal activation sem=3\n"
                       "tag 4\nsync.wait matrix sem=3\nmatmul ub=40 acc=30 rows=8 keep\nhalt\n");
    chip.run();
    const auto work = chip.times(isa::QueueId::Host).at(0);
    const auto products = chip.times(isa::QueueId::Matrix);
    const HostReasons reasons = host_reasons_of(chip, 4);
    REQUIRE(reasons.contains("host_cycles"));
    CHECK(reasons.at("host_cycles") == work.complete - products.at(0).released);
    CHECK(host_reasons_of(chip, 3).contains("vector_work_cycles"));
}

TEST_CASE("Rule 8: at the program's end, the host's work is the reason while it lasts", "[timing]") {
    TimedChip chip(host_machine(4), host_program +
                                        "tag 1\nread_weights tile=0\nmatmul ub=100 acc=0 rows=5\n"
                                        "tag 2\nhost_work segment=0 first=0 images=8\nhalt\n");
    chip.run();
    const auto work = chip.times(isa::QueueId::Host).at(0);
    const auto product = chip.times(isa::QueueId::Matrix).at(0);
    REQUIRE(work.complete > product.released);
    HostReasons expected{{"host_cycles", work.complete - std::max(product.released, work.begun)}};
    const Cycle rest = chip->cycles() - product.released - expected.at("host_cycles");
    if (rest > 0) expected["program_end_cycles"] = rest;
    CHECK(host_reasons_of(chip, 2) == expected);
}

TEST_CASE("The host's values are in host memory before its signal takes effect", "[host]") {
    Chip chip(odd_machine(), host_program + host_round_trip + "halt\n");
    chip.run();
    functional::Executor executor(chip.program(), odd_machine(), &tests::mixing_host());
    executor.run();
    for (const isa::HostBuffer& buffer : chip.program().buffers) {
        const auto got = chip->host_bytes(buffer);
        const auto wanted = executor.host_bytes(buffer);
        CHECK(std::vector<std::uint8_t>(got.begin(), got.end()) ==
              std::vector<std::uint8_t>(wanted.begin(), wanted.end()));
    }
    // Every result byte is some mix of the operands, so almost none of them is 0.
    const auto shares = executor.host_bytes(chip.program().buffers[1]);
    CHECK(std::count(shares.begin(), shares.end(), 0) < 8);
}

TEST_CASE("A missing sync around host work is an error that names both and the bytes", "[order]") {
    CHECK_THAT(
        host_error_of(host_program +
                      "write_host scores ub=0 block=7 count=8\nhost_work segment=0 first=7 images=1\nhalt\n"),
        Contains("instruction 1 (host_work segment=0 first=7 images=1) is not ordered behind instruction "
                 "0 (line") &&
            Contains("and both touch host bytes 49 to 55"));
    CHECK_THAT(
        host_error_of(host_program +
                      "host_work segment=0 first=1 images=2\nread_host shares+14 ub=0 block=1\nhalt\n"),
        Contains("and both touch host bytes 270 to 270"));
    // Other inferences of the same buffers are other bytes.
    CHECK(host_error_of(host_program + "host_work segment=0 first=1 images=2\nread_host shares ub=0 block=7\n"
                                       "write_host scores+21 ub=10 block=7\nhalt\n") == "");
}

TEST_CASE("Host work without a host is an error", "[host]") {
    const isa::Program program =
        isa::assemble(host_program + "host_work segment=1 first=0 images=1\nhalt\n", "test");
    const tests::FreshSimulation simulation;
    CHECK_THROWS_MATCHES(hw::System("system", odd_machine(), program, {.test_delta_delay = {}}),
                         isa::ProgramError,
                         Message("instruction 0 (host_work segment=1 first=0 images=1): the host is to "
                                 "compute segment \"second\"; "
                                 "there is no host"));
    functional::Executor executor(program, odd_machine());
    CHECK_THROWS_MATCHES(executor.run(), isa::ProgramError,
                         Message("instruction 0: host_work segment=1 first=0 images=1: there is no host that "
                                 "computes the segment"));
}

TEST_CASE("Programs without host work have neither a host nor a reason for it", "[host]") {
    TimedChip chip(odd_machine(), ".array 7 5\nsync.signal matrix sem=0\nhalt\n");
    chip.run();
    for (const hw::PlacedCounters& placed : chip->counters()) {
        CHECK(placed.path != "host");
        for (const hw::Counter& counter : *placed.group) CHECK(counter.name() != "host_cycles");
    }
}
