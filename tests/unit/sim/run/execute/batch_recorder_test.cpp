// When each batch of a run is in the chip.
#include "sim/run/execute/batch_recorder.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hw/isa/assembly.h"
#include "hw/isa/footprint.h"
#include "hw/isa/queue.h"

using namespace systole;
using run::BatchTimes;

namespace {

/// Five inferences of four bytes in and of two bytes out, in batches of two; the instructions are given.
isa::Program in_pairs(const std::string& instructions) {
    return isa::assemble(
        ".array 4 4\n.model \"pairs\" batch=2 inferences=5\n.buffer in input 0 20\n"
        ".buffer inside exchange 0x40 20\n.buffer out output 0x80 10\n.buffer table constant 0xc0 4 fill 1\n"
        ".host_segment first\n.reads in 4\n.writes inside 4\n.host_segment last\n.reads inside 4\n"
        ".writes out 2\n" +
            instructions + "halt\n",
        "test");
}

/// The batches of a program of which each transfer, in its order, begins at ten times its number, from 1, and
/// is complete five cycles later.
std::vector<BatchTimes> batches_of(const isa::Program& program, Cycle cycles) {
    run::BatchRecorder recorder;
    Cycle begun = 0;
    for (std::size_t number = 0; number < program.instructions.size(); ++number) {
        const auto unit = isa::queue_of(program.instructions[number]);
        if (!unit) continue;
        begun += 10;
        recorder.instruction({.unit = static_cast<std::size_t>(*unit),
                              .number = number,
                              .begun = begun,
                              .released = begun + 3,
                              .complete = begun + 5});
    }
    return recorder.batches(program, cycles);
}

const std::string pair_reads =
    "read_host in ub=0 block=8\nread_host in+8 ub=2 block=8\nread_host in+16 ub=4 block=4\n";
const std::string pair_writes =
    "write_host out ub=0 block=4\nwrite_host out+4 ub=2 block=4\nwrite_host out+8 ub=4 block=2\n";

}  // namespace

TEST_CASE("A batch is in the chip from its first byte in to its last byte out", "[run]") {
    // The first begins with the run, and the last ends with it.
    CHECK(batches_of(in_pairs(pair_reads + pair_writes), 100) ==
          std::vector<BatchTimes>{
              {.begin = 0, .end = 45}, {.begin = 20, .end = 55}, {.begin = 30, .end = 100}});
}

TEST_CASE("A batch that follows after a pause begins with the end of the one before it", "[run]") {
    const isa::Program program = in_pairs(
        "read_host in ub=0 block=8\nwrite_host out ub=0 block=4\n"
        "read_host in+8 ub=0 block=12\nwrite_host out+4 ub=0 block=6\n");
    // Read at 30, written at 25: until then, the chip got its instructions.
    CHECK(batches_of(program, 47) == std::vector<BatchTimes>{{.begin = 0, .end = 25},
                                                             {.begin = 25, .end = 45},
                                                             {.begin = 30, .end = 47}});
}

TEST_CASE("Bytes belong to the batches of their inferences, in whatever pieces they move", "[run]") {
    // Two bytes of each of the first four inferences, then the others; results of all, one byte at a time.
    const isa::Program program = in_pairs(
        "set host.block_stride 4\nread_host in ub=0 block=2 count=4\nread_host in+2 ub=8 block=2 count=5\n"
        "set host.block_stride 0\nread_host in+16 ub=12 block=2\n"
        "set host.block_stride 2\nwrite_host out ub=0 block=1 count=5\nwrite_host out+1 ub=8 block=1 "
        "count=3\n"
        "write_host out+7 ub=12 block=1 count=2\n");
    // Inference 4 is first read with the second transfer.
    CHECK(batches_of(program, 70) == std::vector<BatchTimes>{{.begin = 0, .end = 55},
                                                             {.begin = 10, .end = 65},
                                                             {.begin = 20, .end = 70}});
}

TEST_CASE("What moves inside the network, and its constants, begin and end no batch", "[run]") {
    const isa::Program program = in_pairs("read_host table ub=0 block=4\nwrite_host inside ub=0 block=20\n" +
                                          pair_reads + pair_writes + "read_host inside ub=0 block=20\n");
    CHECK(batches_of(program, 200) == std::vector<BatchTimes>{{.begin = 0, .end = 65},
                                                              {.begin = 40, .end = 75},
                                                              {.begin = 50, .end = 200}});
}

TEST_CASE("The host's work on inputs and results begins and ends batches", "[run]") {
    const isa::Program program = in_pairs(
        "host_work segment=0 first=0 images=5\nhost_work segment=1 first=0 images=3\n"
        "host_work segment=1 first=3 images=2\n");
    CHECK(batches_of(program, 50) == std::vector<BatchTimes>{{.begin = 0, .end = 25},
                                                             {.begin = 10, .end = 35},
                                                             {.begin = 10, .end = 50}});
}

TEST_CASE("State comes in with the first batch and goes out with the last", "[run]") {
    const isa::Program program = isa::assemble(
        ".tensor_core 4 4 lanes=4\n.model m batch=1 inferences=3\n.input x shape=1\n.input s shape=1\n"
        ".output y shape=1\n.output t shape=1\n.state 1 1\n.buffer x input 0 12\n.buffer s input 0x40 4\n"
        ".buffer y output 0x80 12\n.buffer t output 0xc0 4\n"
        "infeed x hbm=0 rows=1 columns=1\ninfeed s hbm=8 rows=1 columns=1\ninfeed x+4 hbm=16 rows=1 "
        "columns=1\n"
        "outfeed y hbm=0 rows=1 columns=1\ninfeed x+8 hbm=0 rows=1 columns=1\n"
        "outfeed y+4 hbm=16 rows=1 columns=1\noutfeed y+8 hbm=0 rows=1 columns=1\n"
        "outfeed t hbm=8 rows=1 columns=1\nhalt\n",
        "test");
    CHECK(batches_of(program, 90) == std::vector<BatchTimes>{{.begin = 0, .end = 45},
                                                             {.begin = 30, .end = 65},
                                                             {.begin = 50, .end = 90}});
}

TEST_CASE("Without batches, or without results of each, there is no latency", "[run]") {
    isa::Program program = in_pairs(pair_reads + "write_host out ub=0 block=8\n");
    CHECK(batches_of(program, 100).empty());  // nothing of the last inference
    program = in_pairs(pair_reads + pair_writes);
    REQUIRE(batches_of(program, 100).size() == 3);
    program.batch = 0;
    CHECK(batches_of(program, 100).empty());
    program.batch = 1;
    program.inferences = 0;
    CHECK(batches_of(program, 100).empty());
    program.inferences = 1'000'000'000'000'000;  // more than there are bytes
    CHECK(batches_of(program, 100).empty());
    CHECK_FALSE(run::latency_of({}, 0));
}

TEST_CASE("The latency of a run is that of all its batches, and the largest", "[run]") {
    CHECK(run::latency_of({{.begin = 0, .end = 45}, {.begin = 20, .end = 55}, {.begin = 30, .end = 100}},
                          2) == run::BatchLatency{.sum = 45 + 35 + 70, .largest = 70, .first = 45});
}

TEST_CASE("Batches in the middle of a run say by which interval full ones follow each other", "[run]") {
    const auto intervals = [](const std::vector<BatchTimes>& batches, std::uint64_t full) {
        const run::BatchLatency latency = *run::latency_of(batches, full);
        return std::pair(latency.intervals, latency.between);
    };
    using Intervals = std::pair<std::uint64_t, Cycle>;
    // Two that fill the pipeline, and three that leave it sooner.
    std::vector<BatchTimes> batches;
    Cycle end = 500;
    for (const Cycle gap : std::array<Cycle, 8>{0, 10, 180, 100, 100, 50, 20, 10}) {
        end += gap;
        batches.push_back({.begin = 0, .end = end});
    }
    CHECK(intervals(batches, 8) == Intervals{2, 200});
    CHECK(intervals(batches, 7) == Intervals{0, 0});
    CHECK(intervals({{0, 100}}, 1) == Intervals{0, 0});
    CHECK(intervals({{0, 100}}, 0) == Intervals{0, 0});
    batches.clear();
    for (Cycle i = 0; i < 21; ++i) batches.push_back({.begin = 0, .end = 1000 + 100 * i});
    CHECK(intervals(batches, 21) == Intervals{8, 800});
    CHECK(intervals(batches, 20) == Intervals{7, 700});
    // An assembly program may write its results in any order.
    std::ranges::reverse(batches);
    CHECK(intervals(batches, 21) == Intervals{0, 0});
}
