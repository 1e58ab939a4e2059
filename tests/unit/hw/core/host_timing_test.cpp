// Rule 5 of docs/timing.md: transfers, the latency of the link, instructions on it, their buffer and the
// queues. Times of the link are counted here in parts of a cycle, which a rate of whole numbers divides.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "hw/isa/encoding.h"
#include "tests/support/chip.h"
#include "tests/unit/hw/core/odd_machine.h"

using namespace systole;
using tests::activation_setup;
using tests::Bandwidth;
using tests::odd_machine;
using tests::TimedChip;

namespace {

constexpr Bandwidth bandwidths[] = {{0.7, 1, 1}, {2.45, 7, 2}, {0.3, 3, 7}, {10.9, 109, 7}};

const std::string buffers = ".array 7 5\n.buffer in input 0 1000\n.buffer out output 0x1000 1000\n";
const std::string host_head = buffers + activation_setup(5);

struct Sequencer {
    std::uint64_t buffer_bytes;
    Cycle issue_cycles;
    Cycle latency;
    Bandwidth link;
};

/// The cycle in which each instruction is issued, if only instructions are on the link and no queue is full.
std::vector<Cycle> issues(const isa::Program& program, const Sequencer& sequencer) {
    std::vector<Cycle> issued;
    std::uint64_t link_free = 0;  // in 1 / link.bytes of a cycle
    std::vector<Cycle> arrived;
    std::uint64_t buffered = 0;
    const auto send = [&](Cycle now) {
        while (arrived.size() < program.instructions.size()) {
            const std::uint64_t bytes = isa::encoded_size(program.instructions[arrived.size()]);
            if (buffered + bytes > sequencer.buffer_bytes) return;
            buffered += bytes;
            link_free = std::max(link_free, now * sequencer.link.bytes) + bytes * sequencer.link.cycles;
            arrived.push_back(link_free / sequencer.link.bytes + sequencer.latency);
        }
    };
    send(0);
    for (std::size_t k = 0; k < program.instructions.size(); ++k) {
        const Cycle earliest = k == 0 ? 0 : issued.back() + sequencer.issue_cycles;
        issued.push_back(std::max(earliest, arrived.at(k)));
        buffered -= isa::encoded_size(program.instructions[k]);
        send(issued.back());
    }
    return issued;
}

}  // namespace

TEST_CASE("Rule 5: written data arrive the latency after their last byte left, at the exact rate",
          "[timing]") {
    const auto link = GENERATE(from_range(std::begin(bandwidths), std::end(bandwidths)));
    const std::uint32_t latency = GENERATE(0U, 1U, 13U);
    CAPTURE(link.gb_per_s, latency);
    machine::MachineConfig machine = odd_machine();
    machine.host_interface.write_gb_per_s = link.gb_per_s;
    machine.host_interface.latency_cycles = latency;
    std::string text = host_head;
    constexpr std::uint64_t transfers = 20;
    for (std::uint64_t k = 0; k < transfers; ++k)
        text += fmt::format("write_host out ub={} block=37\n", 6 * k);
    TimedChip chip(machine, text +
                                "sync.signal host_write sem=1\nsync.wait activation sem=1\n"
                                "activate acc=0 ub=200 rows=1 first=0 identity\nhalt\n");
    chip.run();
    const auto writes = chip.times(isa::QueueId::HostWrite);
    REQUIRE(writes.size() == transfers);
    for (std::uint64_t k = 0; k < transfers; ++k) {
        CAPTURE(k);
        CHECK(writes[k].released == writes[0].begun + (k + 1) * 37 * link.cycles / link.bytes);
        CHECK(writes[k].complete == writes[k].released + latency);
        if (k > 0) CHECK(writes[k].begun == writes[k - 1].released);
    }
    CHECK(chip.times(isa::QueueId::Activation).at(0).begun == writes.back().complete);
}

TEST_CASE("Rule 5: instructions go before data, both at the exact rate", "[timing]") {
    const auto link = GENERATE(from_range(std::begin(bandwidths), std::end(bandwidths)));
    const std::uint32_t latency = GENERATE(0U, 9U);
    CAPTURE(link.gb_per_s, latency);
    machine::MachineConfig machine = odd_machine();
    machine.host_interface.read_gb_per_s = link.gb_per_s;
    machine.host_interface.latency_cycles = latency;
    constexpr std::uint64_t transfers = 12;
    std::string text = host_head;
    for (std::uint64_t k = 0; k < transfers; ++k) text += fmt::format("read_host in ub={} block=41\n", 6 * k);
    TimedChip chip(machine, text + "halt\n");
    chip.run();
    // They fit the buffer: all are on the link from the first cycle on, and data follow the last.
    std::uint64_t bytes = 0;
    for (const isa::Instruction& each : chip.program().instructions) bytes += isa::encoded_size(each);
    const auto reads = chip.times(isa::QueueId::HostRead);
    REQUIRE(reads.size() == transfers);
    const std::uint64_t begin = std::max(reads[0].begun * link.bytes, bytes * link.cycles);
    for (std::uint64_t k = 0; k < transfers; ++k) {
        CAPTURE(k);
        CHECK(reads[k].released == (begin + (k + 1) * 41 * link.cycles) / link.bytes);
        CHECK(reads[k].complete == reads[k].released + latency);
    }
}

TEST_CASE("Rule 5: a transfer under way stops while an instruction passes, one that is done does not",
          "[timing]") {
    machine::MachineConfig machine = odd_machine();
    machine.host_interface.read_gb_per_s = 1.05;  // 3 bytes in every 2 cycles
    machine.sequencer.instruction_buffer_bytes = 32;
    machine.sequencer.issue_cycles = 40;
    const unsigned block = GENERATE(1U, 32U, 33U, 34U, 35U, 36U, 60U);
    CAPTURE(block);
    // 15 bytes each, 30 in the buffer; then 6 each, of which two fit when the first is issued, the others
    // when the second is: the transfer begins behind 42 bytes, and 19 are sent in its way.
    std::string text =
        fmt::format("{}read_host in ub=0 block={}\nwrite_host out ub=100 block=1\n", buffers, block);
    for (int i = 0; i < 5; ++i) text += "set activation.columns 5\n";
    TimedChip chip(machine, text + "halt\n");
    chip.run();
    const auto read = chip.times(isa::QueueId::HostRead).at(0);
    const auto write = chip.times(isa::QueueId::HostWrite).at(0);
    REQUIRE(read.issued == 10);
    REQUIRE(write.issued == 50);
    const Cycle undisturbed = (42 + block) * 2 / 3;
    CHECK(read.released == (undisturbed <= write.issued ? undisturbed : (42 + block + 19) * 2 / 3));
}

TEST_CASE("Rule 5: an instruction is issued when it has arrived and the one before is issue_cycles ago",
          "[timing]") {
    const auto link = GENERATE(from_range(std::begin(bandwidths), std::end(bandwidths)));
    const std::uint32_t latency = GENERATE(0U, 5U);
    const std::uint32_t issue = GENERATE(0U, 1U, 4U);
    // The smallest buffer, one into which the first eight instructions go and one a byte too small for
    // the eighth, one that holds all.
    const std::uint32_t buffer = GENERATE(32U, 52U, 51U, 4096U);
    CAPTURE(link.gb_per_s, latency, issue, buffer);
    machine::MachineConfig machine = odd_machine();
    machine.host_interface.read_gb_per_s = link.gb_per_s;
    machine.host_interface.latency_cycles = latency;
    machine.sequencer.issue_cycles = issue;
    machine.sequencer.instruction_buffer_bytes = buffer;
    machine.sequencer.queue_depth = 100;
    std::string text = host_head;
    for (int i = 0; i < 12; ++i) {
        text +=
            "interrupt\nset activation.columns 5\ninterrupt\nvector add dst=9 src=1 rows=1\nnop\ntag 3\n"
            "activate acc=0 ub=0 rows=1 first=0 identity\nwrite_host out ub=99 block=1\n";
    }
    TimedChip chip(machine, text + "halt\n");
    chip.run();
    const std::vector<Cycle> expected = issues(chip.program(), {buffer, issue, latency, link});
    for (const isa::QueueId unit : {isa::QueueId::HostWrite, isa::QueueId::Activation}) {
        const auto times = chip.times(unit);
        REQUIRE(times.size() >= 24);
        for (const auto& each : times) {
            CAPTURE(each.number);
            CHECK(each.issued == expected.at(each.number));
        }
    }
}

TEST_CASE("Rule 5: a full queue delays all later instructions until its unit takes one", "[timing]") {
    const std::uint32_t depth = GENERATE(1U, 2U, 5U);
    const std::uint32_t issue = GENERATE(0U, 1U, 3U);
    const auto unit = GENERATE(isa::QueueId::Matrix, isa::QueueId::Activation, isa::QueueId::HostWrite);
    CAPTURE(depth, issue, isa::name(unit));
    machine::MachineConfig machine = odd_machine();
    machine.sequencer.queue_depth = depth;
    machine.sequencer.issue_cycles = issue;
    machine.host_interface.write_gb_per_s = 0.7;
    constexpr std::size_t count = 12;
    std::string text = host_head + ".tile 7 5 random 1\nread_weights tile=0\n";
    if (unit == isa::QueueId::Matrix) text += "matmul ub=0 acc=0 rows=1\n";
    const std::string each = unit == isa::QueueId::Matrix ? "matmul ub=0 acc=0 rows=17 keep\n"
                             : unit == isa::QueueId::Activation
                                 ? "activate acc=0 ub=0 rows=17 first=0 identity\n"
                                 : "write_host out ub=0 block=17\n";
    for (std::size_t i = unit == isa::QueueId::Matrix ? 1 : 0; i < count; ++i) text += each;
    // What follows is of another unit, whose queue is empty.
    TimedChip chip(machine, text + "read_host in ub=200 block=1\nhalt\n");
    chip.run();
    const auto times = chip.times(unit);
    REQUIRE(times.size() == count);
    std::size_t waited = 0;
    for (std::size_t k = 1; k < count; ++k) {
        CAPTURE(k);
        // The array and the activation unit take an instruction when the one before has begun, and hold it
        // until their input is free; the host's transfers take it when the one before has left.
        const auto taken = [&](std::size_t n) {
            if (n == 0) return times[n].issued;
            return unit == isa::QueueId::HostWrite ? times[n - 1].released : times[n - 1].begun;
        };
        const Cycle place = k < depth ? 0 : taken(k - depth);
        CHECK(times[k].issued == std::max(times[k - 1].issued + issue, place));
        if (place > times[k - 1].issued + issue) ++waited;
    }
    CHECK(waited > 0);
    CHECK(chip.times(isa::QueueId::HostRead).at(0).issued == times.back().issued + issue);
}
