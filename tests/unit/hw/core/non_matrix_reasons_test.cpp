// Rule 8 of docs/timing.md: each non-matrix cycle of a program has one reason.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "tests/support/chip.h"
#include "tests/unit/hw/core/odd_machine.h"

using namespace systole;
using tests::activation_setup;
using tests::Chip;
using tests::odd_machine;
using tests::TimedChip;

namespace {

using Reasons = std::map<std::string, Cycle>;

/// The reasons with cycles under a tag; they must sum to its non-matrix cycles.
Reasons reasons_of(const Chip& chip, hw::Tag tag) {
    Reasons reasons;
    Cycle sum = 0;
    for (const hw::PlacedCounters& placed : chip->counters()) {
        if (placed.path != "matrix_unit.non_matrix_reasons") continue;
        for (const hw::Counter& counter : *placed.group) {
            if (counter.value(tag) > 0) reasons[std::string(counter.name())] = counter.value(tag);
            sum += counter.value(tag);
        }
    }
    CHECK(sum == chip->counter("matrix_unit.non_matrix_cycles").value(tag));
    return reasons;
}

std::string head() {
    return ".array 7 5\n.tile 7 5 random 1\n.buffer in input 0 700\n.buffer out output 0x1000 700\n" +
           activation_setup(5) + "set activation.pixel_bytes 7\n";
}

}  // namespace

TEST_CASE("Rule 8: a product that waits for accumulators names them, not the rows", "[timing]") {
    machine::MachineConfig machine = odd_machine();
    machine.activation_unit.latency_cycles = GENERATE(0U, 3U, 50U);
    TimedChip chip(machine, head() +
                                "tag 1\nread_weights tile=0\nmatmul ub=0 acc=0 rows=20\n"
                                "sync.signal matrix sem=0\nsync.wait activation sem=0\n"
                                "activate acc=0 ub=40 rows=20 first=0 identity\n"
                                "sync.signal activation sem=1\nsync.wait matrix sem=1\n"
                                "tag 2\nmatmul ub=0 acc=0 rows=20 keep\ntag 3\nhalt\n");
    chip.run();
    const auto streams = chip.times(isa::QueueId::Matrix);
    CHECK(reasons_of(chip, 2) ==
          Reasons{{"accumulators_cycles", streams.at(1).begun - streams.at(0).released}});
    CHECK(reasons_of(chip, 3) == Reasons{{"program_end_cycles", chip->cycles() - streams.at(1).released}});
}

TEST_CASE("Rule 8: pooling before a product counts for the pooling layer", "[timing]") {
    machine::MachineConfig machine = odd_machine();
    TimedChip chip(machine, head() +
                                "tag 1\nread_weights tile=0\nmatmul ub=0 acc=0 rows=2\n"
                                "sync.signal matrix sem=0\nsync.wait activation sem=0\n"
                                "activate acc=0 ub=40 rows=2 first=0 identity\n"
                                "tag 2\nvector add dst=150 src=40 other=100 rows=30\n"
                                "sync.signal activation sem=1\nsync.wait matrix sem=1\n"
                                "tag 3\nmatmul ub=150 acc=8 rows=2 keep\ntag 4\nhalt\n");
    chip.run();
    const auto streams = chip.times(isa::QueueId::Matrix);
    const auto work = chip.times(isa::QueueId::Activation);
    REQUIRE(work.size() == 2);
    CHECK(reasons_of(chip, 2) == Reasons{{"vector_work_cycles", work[1].complete - work[1].begun}});
    CHECK(reasons_of(chip, 3) == Reasons{{"raw_cycles", work[1].begun - streams.at(0).released}});
}

TEST_CASE("Rule 8: results that the host has not fetched delay a product", "[timing]") {
    machine::MachineConfig machine = odd_machine();
    machine.host_interface.write_gb_per_s = 0.05;
    TimedChip chip(machine, head() +
                                "tag 1\nread_weights tile=0\nmatmul ub=0 acc=0 rows=10\n"
                                "sync.signal matrix sem=0\nsync.wait activation sem=0\n"
                                "activate acc=0 ub=40 rows=10 first=0 identity\n"
                                "sync.signal activation sem=1\nsync.wait host_write sem=1\n"
                                "write_host out ub=40 block=70\nsync.signal host_write sem=2\n"
                                "tag 2\nmatmul ub=0 acc=16 rows=10 keep\n"
                                "sync.signal matrix sem=3\nsync.wait activation sem=3\n"
                                "sync.wait activation sem=2\n"
                                "activate acc=16 ub=40 rows=10 first=0 identity\n"
                                "sync.signal activation sem=4\nsync.wait matrix sem=4\n"
                                "tag 3\nmatmul ub=40 acc=0 rows=10 keep\ntag 4\nhalt\n");
    chip.run();
    const auto streams = chip.times(isa::QueueId::Matrix);
    const auto activations = chip.times(isa::QueueId::Activation);
    const auto write = chip.times(isa::QueueId::HostWrite).at(0);
    REQUIRE(activations.size() == 2);
    CHECK(activations[1].begun == write.complete);
    Reasons reasons = reasons_of(chip, 3);
    CHECK(reasons.size() == 2);
    // Until the sums of the product before are there, the activation unit waits for these.
    CHECK(reasons["output_buffer_cycles"] == write.complete - streams.at(1).complete);
    CHECK(reasons["raw_cycles"] ==
          streams.at(1).complete - streams.at(1).released + activations[1].complete - activations[1].begun);
}

TEST_CASE("Rule 8: input that waits for a place in the buffer says so", "[timing]") {
    machine::MachineConfig machine = odd_machine();
    machine.host_interface.read_gb_per_s = 7.0;
    TimedChip chip(machine,
                   head() +
                       "tag 1\nread_weights tile=0\nread_host in ub=0 block=70\n"
                       "sync.signal host_read sem=0\nsync.wait matrix sem=0\n"
                       "matmul ub=0 acc=0 rows=10\n"
                       "sync.signal matrix sem=1\nsync.wait host_read sem=1\n"
                       "read_host in ub=0 block=70\nsync.signal host_read sem=2\nsync.wait matrix sem=2\n"
                       "tag 2\nmatmul ub=0 acc=16 rows=10 keep\ntag 3\nhalt\n");
    chip.run();
    const auto streams = chip.times(isa::QueueId::Matrix);
    const auto reads = chip.times(isa::QueueId::HostRead);
    REQUIRE(reads.size() == 2);
    CHECK(reasons_of(chip, 2) == Reasons{{"input_buffer_cycles", reads[1].begun - streams.at(0).released},
                                         {"input_cycles", reads[1].complete - reads[1].begun}});
    const Reasons first = reasons_of(chip, 1);
    CHECK(first.contains("input_cycles"));
    CHECK(first.contains("program_begin_cycles"));
}

TEST_CASE("Rule 8: a wait for a semaphore without need of rows is a reason of its own", "[timing]") {
    machine::MachineConfig machine = odd_machine();
    machine.host_interface.read_gb_per_s = 1.4;  // 2 bytes a cycle
    TimedChip chip(machine, head() +
                                "tag 1\nread_weights tile=0\nmatmul ub=0 acc=0 rows=10\n"
                                "read_host in ub=100 block=700\nsync.signal host_read sem=0\n"
                                "sync.wait matrix sem=0\n"
                                "tag 2\nmatmul ub=0 acc=16 rows=10 keep\ntag 3\nhalt\n");
    chip.run();
    const auto streams = chip.times(isa::QueueId::Matrix);
    const Cycle ready = std::max(streams.at(0).released, streams.at(1).issued);
    REQUIRE(ready < streams.at(1).begun);
    CHECK(reasons_of(chip, 2)["sync_cycles"] == streams.at(1).begun - ready);
}

TEST_CASE("Rule 8: an instruction that the sequencer holds names the full queue or the wire", "[timing]") {
    machine::MachineConfig machine = odd_machine();
    SECTION("a queue is full") {
        machine.sequencer.queue_depth = 1;
        machine.host_interface.read_gb_per_s = 1.4;
        TimedChip chip(machine, head() +
                                    "tag 1\nread_weights tile=0\nmatmul ub=0 acc=0 rows=10\n"
                                    "read_host in ub=100 block=700\nread_host in ub=100 block=700\n"
                                    "read_host in ub=100 block=700\nread_host in ub=100 block=700\n"
                                    "tag 2\nmatmul ub=0 acc=16 rows=10 keep\ntag 3\nhalt\n");
        chip.run();
        CHECK(reasons_of(chip, 2)["queue_full_cycles"] > 0);
    }
    SECTION("it has not arrived") {
        machine.host_interface.read_gb_per_s = 0.02;
        TimedChip chip(machine,
                       head() +
                           "tag 1\nread_weights tile=0\nmatmul ub=0 acc=0 rows=2\n"
                           "nop\nnop\nnop\nnop\ntag 2\nmatmul ub=0 acc=16 rows=10 keep\ntag 3\nhalt\n");
        chip.run();
        CHECK(reasons_of(chip, 2)["not_arrived_cycles"] > 0);
    }
}
