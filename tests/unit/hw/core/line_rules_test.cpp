// Rule 1 of docs/timing.md for lines of windows, where the data setup is slower than the array; and what
// does not depend on how a run is made.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "tests/support/chip.h"
#include "tests/support/fresh_simulation.h"
#include "tests/unit/hw/core/odd_machine.h"

using namespace systole;
using tests::Chip;
using tests::odd_machine;

namespace {

/// Windows of 7 x 1 elements of some channels, 4 a line, 10 lines of one image.
std::string windows(unsigned channels, unsigned stride) {
    return fmt::format(
        ".array 7 5\n.tile 3 5 random 1\nset window.channels {}\nset window.kernel_height 7\n"
        "set window.kernel_width 1\nset window.stride_x {}\nset window.input_height 16\nset "
        "window.input_width {}\n"
        "set window.output_height 10\nset window.output_width 4\nset window.image_rows 1000\n"
        "read_weights tile=0\nmatmul ub=0 acc=0 rows=1\n",
        channels, stride, 3 * stride + 1);
}

struct Cost {
    std::uint64_t cycles;    ///< from the first line to the next stream
    std::uint64_t complete;  ///< from the first line to its completion
    std::uint64_t active;
    std::uint64_t setup_stall;
    std::uint64_t fetches;
    std::uint64_t idle;
};

Cost cost(const machine::MachineConfig& machine, const std::string& text, std::size_t streams) {
    Chip chip(machine, text + "matmul ub=0 acc=0 rows=1 keep\nhalt\n");
    chip.run();
    const auto products = chip.times(isa::QueueId::Matrix);
    REQUIRE(products.size() == streams + 2);
    CHECK(tests::matrix_unit_cycles(*chip) == chip->cycles());
    return {.cycles = products[streams + 1].begun - products[1].begun,
            .complete = products[streams].complete - products[1].begun,
            .active = chip->counter("matrix_unit.active_cycles").value(),
            .setup_stall = chip->counter("matrix_unit.setup_stall_cycles").value(),
            .fetches = chip->counter("unified_buffer.reads").value(),
            .idle = chip->counter("matrix_unit.non_matrix_cycles").value()};
}

}  // namespace

TEST_CASE("Rule 1: ten lines cost the same together and one by one, and their fetches fit", "[timing]") {
    constexpr unsigned seed = 4711;
    std::mt19937 random(seed);
    const auto draw = [&](unsigned least, unsigned most) {
        return least + static_cast<unsigned>(random() % (most - least + 1));
    };
    int stalled = 0;
    for (int i = 0; i < 60; ++i) {
        machine::MachineConfig machine = odd_machine();
        machine.unified_buffer.rows = 4096;
        machine.systolic_data_setup.fetches_per_cycle = draw(1, 3);
        const unsigned channels = draw(1, 7);
        const unsigned stride = draw(1, 7);
        const std::string wide = draw(0, 1) == 0 ? "" : " wide_a";
        INFO("seed " << seed << ", run " << i << ", channels " << channels << ", stride " << stride << wide);
        std::string one_by_one = windows(channels, stride);
        for (int line = 0; line < 10; ++line)
            one_by_one += fmt::format("convolve ub=0 acc={} line={} lines=1 keep{}\n", 4 * line, line, wide);
        const Cost single = cost(machine, one_by_one, 10);
        const Cost together =
            cost(machine, windows(channels, stride) + "convolve ub=0 acc=0 lines=10 keep" + wide + "\n", 1);
        CHECK(single.cycles == together.cycles);
        CHECK(single.complete == together.complete);
        CHECK(single.fetches == together.fetches);
        CHECK(single.setup_stall == together.setup_stall);
        CHECK(together.fetches <=
              (together.active + together.setup_stall) * machine.systolic_data_setup.fetches_per_cycle);
        CHECK(together.cycles == together.active - 2 + together.setup_stall);
        CHECK(together.idle >= together.setup_stall);
        if (together.setup_stall > 0) ++stalled;
    }
    CHECK(stalled > 10);
    CHECK(stalled < 50);
}

TEST_CASE("Rule 1: a stream is complete when its last line has passed, however short the pipeline",
          "[timing]") {
    machine::MachineConfig machine = odd_machine();
    machine.unified_buffer.rows = 4096;
    machine.matrix_unit.mac_latency_cycles = 1;
    machine.matrix_unit.setup_cycles = machine.accumulators.write_cycles = 0;
    const auto stride = GENERATE(1U, 3U, 7U);
    CAPTURE(stride);
    Chip chip(machine, windows(1, stride) + "convolve ub=0 acc=0 lines=2 keep\nhalt\n");
    chip.run();
    const auto convolution = chip.times(isa::QueueId::Matrix).at(1);
    const std::uint64_t line = (convolution.released - convolution.begun) / 2;
    constexpr std::uint64_t latency = 7 + 4;
    // 7 kernel rows, each of 4 bytes in 3 * stride + 1.
    CHECK(line == 7 * std::min<std::uint64_t>((3 * stride + 1 + 6) / 7, 4));
    // The last of 4 rows enters 3 cycles after the first.
    CHECK(convolution.complete == convolution.begun + std::max(line + 3 + latency, 2 * line));
    CHECK(tests::matrix_unit_cycles(*chip) == chip->cycles());
}

TEST_CASE("Rule 8: a multiply-accumulate counts once, however many passes it takes", "[timing]") {
    const std::string flags = GENERATE("", " wide_a");
    Chip chip(odd_machine(),
              ".array 7 5\n.tile 6 4 useful=20 random 1\nset multiply.row_stride 2\n"
              "read_weights tile=0\nmatmul ub=0 acc=0 rows=9" +
                  flags + "\nhalt\n");
    chip.run();
    const std::uint64_t passes = flags.empty() ? 1 : 2;
    CHECK(chip->counter("matrix_unit.multiply_accumulates").value() == 9 * 20);
    CHECK(chip->counter("matrix_unit.useful_macs").value() == 9 * 20 * passes);
    CHECK(chip->counter("matrix_unit.unused_macs").value() == 9 * (35 - 20) * passes);
}

TEST_CASE("The rows a program touched are the same without values", "[timing]") {
    const isa::Program program = isa::assemble(
        ".array 7 5\n.buffer in input 0x0 70\n.accumulators 0 30 fill 1\n" + tests::activation_setup(5) +
            "set activation.parameters_row 90\n"
            "read_host in ub=0 block=70\nactivate acc=0 ub=20 rows=30 first=0 "
            "identity load\nvector add dst=60 src=100 other=110 rows=3\nhalt\n",
        "test");
    const auto touched = [&](hw::Values values) {
        tests::FreshSimulation simulation;
        hw::System system("system", odd_machine(), program,
                          {.values = values, .trace = nullptr, .test_delta_delay = {}});
        system.run();
        return system.tpu_v1_core().unified_buffer().touched_bytes();
    };
    // 10 rows, 30 results of 5 bytes in 22 rows, 3 rows.
    CHECK(touched(hw::Values::Computed) == (10 + 22 + 3) * 7);
    CHECK(touched(hw::Values::TimingOnly) == (10 + 22 + 3) * 7);
}
