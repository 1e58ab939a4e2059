// The host's processor: its time is that of a baseline, its values are those of the segment's graph.
#include "sim/run/execute/segment_host.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "hw/isa/assembly.h"
#include "hw/isa/program_error.h"

using namespace systole;
using Catch::Matchers::Message;
using run::SegmentHost;

namespace {

/// A softmax of 4 bytes to 4 bytes, and one from 4 bytes to float32; each for 3 inferences.
isa::Program two_segments(const std::string& instructions = "") {
    return isa::assemble(R"(
.buffer scores exchange 0 12
.buffer shares exchange 64 12
.buffer real output 128 48
.host_segment stored operations=1000 bytes=100 constant_bytes=5000
.computes weighting
.reads scores 4; .writes shares 4
.graph "graph \"stored\""
.graph "inputs %0"
.graph "outputs %1"
.graph "%0 uint8 1x4 \"scores\" scale 0.5 zero 10"
.graph "%1 uint8 1x4 \"shares\" scale 0.00390625 zero 0"
.graph "%1 = softmax(%0) \"weighting\""
.host_segment real operations=10 bytes=4000
.reads scores 4; .writes real 16
.graph "graph \"real\""
.graph "inputs %0"
.graph "outputs %1"
.graph "%0 uint8 1x4 \"scores\" scale 0.5 zero 10"
.graph "%1 float32 1x4 \"real\""
.graph "%1 = softmax(%0) \"weighting\""
)" + instructions + "\nhalt\n",
                         "test");
}

baselines::Baseline one_gigaflop() {
    baselines::Baseline baseline;
    baseline.name = "slow";
    baseline.peak_fp32_gflops = 1;
    baseline.memory_gb_per_s = 10;
    return baseline;
}

constexpr double segment_clock_hz = 700e6;

SegmentHost segment_host_of(const isa::Program& program) {
    return {program, one_gigaflop(), segment_clock_hz, true};
}

}  // namespace

TEST_CASE("The host's cycles are the longer of its operations and its memory traffic", "[host]") {
    const isa::Program program = two_segments();
    const SegmentHost host(program, one_gigaflop(), segment_clock_hz, false);
    // 3000 operations take 3 us, 5300 bytes less.
    CHECK(host.cycles({.segment = 0, .first_inference = 0, .images = 3}) == 2100);
    CHECK(host.cycles({.segment = 0, .first_inference = 2, .images = 1}) == 700);
    // 4000 bytes take 0.4 us, 8000 take 0.8 us.
    CHECK(host.cycles({.segment = 1, .first_inference = 0, .images = 1}) == 280);
    CHECK(host.cycles({.segment = 1, .first_inference = 0, .images = 2}) == 560);
}

TEST_CASE("With a baseline's efficiency, the host launches each layer of a segment each time", "[host]") {
    const isa::Program program = isa::assemble(R"(
.buffer scores exchange 0 12
.buffer shares exchange 64 12
.host_segment two operations=1000
.computes first second macs=20
.reads scores 4; .writes shares 4
halt)",
                                               "test");
    baselines::Baseline baseline = one_gigaflop();
    baseline.efficiency = {.peak_share = 0.5, .memory_share = 1.0, .layer_microseconds = 10.0};
    const SegmentHost host(program, baseline, segment_clock_hz, false);
    // 20 us for two layers; 1000 operations take 2 us at half the peak.
    CHECK(host.cycles({.segment = 0, .first_inference = 0, .images = 1}) == 22 * 700);
    CHECK(host.cycles({.segment = 0, .first_inference = 0, .images = 3}) == 26 * 700);
    CHECK(host.work().front().macs == std::vector<std::uint64_t>{0, 20});
}

TEST_CASE("The host computes the graph on real numbers and stores them as the graph says", "[host]") {
    const isa::Program program = two_segments();
    SegmentHost host = segment_host_of(program);
    const std::vector<std::uint8_t> scores{10, 12, 14, 10, 10, 10, 10, 30};
    std::vector<std::uint8_t> shares(8);
    host.compute({.segment = 0, .first_inference = 0, .images = 2}, {.reads = {scores}, .writes = {shares}});
    std::vector<std::uint8_t> bytes(32);
    host.compute({.segment = 1, .first_inference = 0, .images = 2}, {.reads = {scores}, .writes = {bytes}});
    std::vector<float> reals(8);
    std::memcpy(reals.data(), bytes.data(), bytes.size());
    for (std::size_t image = 0; image < 2; ++image) {
        double sum = 0;
        for (std::size_t i = 0; i < 4; ++i) sum += std::exp(0.5 * (scores[4 * image + i] - 10));
        for (std::size_t i = 4 * image; i < 4 * image + 4; ++i) {
            CAPTURE(i);
            const double expected = std::exp(0.5 * (scores[i] - 10)) / sum;
            CHECK(reals[i] == Approx(expected));
            CHECK(shares[i] == std::min(255L, std::lround(expected * 256)));
        }
    }
}

TEST_CASE("The work of a program's segments is that of its instructions up to halt", "[host]") {
    const isa::Program program = two_segments(
        "host_work segment=0 first=0 images=2\nhost_work segment=0 first=2 images=1\nhalt\n"
        "host_work segment=1 first=0 images=1");
    const auto work = segment_host_of(program).work();
    REQUIRE(work.size() == 2);
    CHECK(
        work[0] ==
        run::SegmentWork{
            .name = "stored", .layers = {"weighting"}, .macs = {}, .calls = 2, .images = 3, .cycles = 2100});
    CHECK(work[1].calls == 0);
    CHECK(work[1].cycles == 0);
}

TEST_CASE("A segment whose graph does not fit it is an error in one line", "[host]") {
    const auto check = [](auto change, const std::string& message) {
        isa::Program program = two_segments();
        change(program.host_segments[0]);
        CHECK_THROWS_MATCHES(segment_host_of(program), isa::ProgramError, Message(message));
        CHECK_NOTHROW(SegmentHost(program, one_gigaflop(), segment_clock_hz, false));
    };
    check([](isa::HostSegment& segment) { segment.graph.clear(); },
          "host segment \"stored\": it has no graph; such a program can only be timed");
    check([](isa::HostSegment& segment) { segment.reads.push_back(segment.reads[0]); },
          "host segment \"stored\": its graph has 1 inputs; the segment has 2");
    check([](isa::HostSegment& segment) { segment.writes[0].bytes = 2; },
          "host segment \"stored\": value \"shares\" of its graph takes 4 bytes; the segment's tensor 2");
    isa::Program program = two_segments();
    program.host_segments[0].graph.replace(0, 5, "grape");
    CHECK_THROWS_WITH(segment_host_of(program),
                      Catch::Contains("host segment \"stored\": graph:1:1: \"grape\": it must be graph"));
}
