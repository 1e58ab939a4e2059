// The rules of docs/timing.md on the whole chip, at odd parameter values.
#include <catch2/catch.hpp>
#include <string>

#include "hw/isa/program_error.h"
#include "tests/support/chip.h"
#include "tests/unit/hw/core/odd_machine.h"

using namespace systole;
using tests::activation_setup;
using tests::odd_machine;
using tests::TimedChip;

namespace {

constexpr std::uint64_t latency = tests::odd_latency;
const std::string rules_head = ".array 7 5\n.tile 7 5 random 1\n";
const std::string wide_head = ".array 7 5\n.tile 7 5 bytes=2 random 1\n";

}  // namespace

TEST_CASE("Rule 1: the last sums are complete latency cycles after the last pass of the last row",
          "[timing]") {
    struct Flags {
        const char* flags;
        std::uint64_t passes;
        bool wide_weights;
    };
    const auto rows = GENERATE(1U, 3U, 7U, 19U);
    const auto precision = GENERATE(Flags{"", 1, false}, Flags{"wide_a", 2, false}, Flags{"wide_w", 2, true},
                                    Flags{"wide_a wide_w", 4, true});
    CAPTURE(rows, precision.flags);
    TimedChip chip(odd_machine(), (precision.wide_weights ? wide_head : rules_head) +
                                      "set multiply.row_stride 2\n" +
                                      "read_weights tile=0\nmatmul ub=0 acc=0 rows=" + std::to_string(rows) +
                                      " " + precision.flags + "\nhalt\n");
    chip.run();
    const auto multiply = chip.times(isa::QueueId::Matrix).at(0);
    CHECK(multiply.released == multiply.begun + rows * precision.passes);
    CHECK(multiply.complete == multiply.begun + rows * precision.passes - 1 + latency);
    CHECK(chip->cycles() == multiply.complete);
    CHECK(chip->counter("matrix_unit.active_cycles").value() == rows * precision.passes);
    CHECK(chip->counter("matrix_unit.useful_macs").value() == rows * precision.passes * 35);
}

TEST_CASE("Rule 1: rows take the passes that the machine lists for their formats", "[timing]") {
    const auto engine = GENERATE(machine::Engine::Wavefront, machine::Engine::Pe);
    machine::MachineConfig machine = odd_machine();
    machine.matrix_unit.engine = engine;
    machine.matrix_unit.formats = {{.activations = DataType::Uint8, .weights = DataType::Int8, .passes = 3},
                                   {.activations = DataType::Int16, .weights = DataType::Int8, .passes = 5}};
    TimedChip chip(machine, rules_head +
                                "read_weights tile=0\nmatmul ub=0 acc=0 rows=4\n"
                                "matmul ub=0 acc=4 rows=2 keep signed wide_a\nhalt\n");
    chip.run();
    const auto multiplies = chip.times(isa::QueueId::Matrix);
    CHECK(multiplies.at(0).released == multiplies[0].begun + 4 * 3);
    CHECK(multiplies.at(1).released == multiplies[1].begun + 2 * 5);
    CHECK(multiplies[1].complete == multiplies[1].begun + 2 * 5 - 1 + latency);
    CHECK(chip->counter("matrix_unit.active_cycles").value() == 4 * 3 + 2 * 5);
}

TEST_CASE("A program that multiplies formats the machine does not list is refused", "[timing]") {
    const auto refused = [](const std::string& matmul) {
        try {
            const TimedChip chip(odd_machine(), rules_head + "read_weights tile=0\n" + matmul + "\nhalt\n");
        } catch (const isa::ProgramError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(refused("matmul ub=0 acc=0 rows=1 activations=bfloat16 weights=bfloat16") ==
          "instruction 1 (matmul ub=0 acc=0 rows=1 activations=bfloat16 weights=bfloat16): activations is "
          "bfloat16 and weights is bfloat16; the machine's array multiplies uint8 x int8, int8 x int8, "
          "uint16 x "
          "int8, int16 x int8, uint8 x int16, int8 x int16, uint16 x int16, int16 x int16");
    CHECK(refused("matmul ub=0 acc=0 rows=1 activations=int16").empty());
}

TEST_CASE("Rule 1: back to back, products leave no bubble", "[timing]") {
    TimedChip chip(odd_machine(),
                   rules_head +
                       "read_weights tile=0\nmatmul ub=0 acc=0 rows=5\nmatmul ub=0 acc=0 rows=1 keep\n"
                       "matmul ub=0 acc=8 rows=9 keep accumulate\nmatmul ub=0 acc=8 rows=2 keep\nhalt\n");
    chip.run();
    const auto multiplies = chip.times(isa::QueueId::Matrix);
    for (std::size_t i = 1; i < multiplies.size(); ++i)
        CHECK(multiplies[i].begun == multiplies[i - 1].released);
}

TEST_CASE("Rule 2: a shift takes as many cycles as the array has rows and needs the tile whole", "[timing]") {
    TimedChip chip(odd_machine(), rules_head + "read_weights tile=0\nmatmul ub=0 acc=0 rows=1\nhalt\n");
    chip.run();
    const auto fetch = chip.times(isa::QueueId::Weights).at(0);
    const auto multiply = chip.times(isa::QueueId::Matrix).at(0);
    constexpr std::uint64_t tile_bytes = 35;  // one byte a cycle
    CHECK(multiply.begun == fetch.begun + 11 + tile_bytes + 7);
}

TEST_CASE("Rule 2: the shadow plane is free one cycle after the switch", "[timing]") {
    machine::MachineConfig machine = odd_machine();
    machine.weight_memory.bandwidth_gb_per_s = 7000;  // tiles are always there
    const auto rows = GENERATE(1U, 7U, 8U, 9U, 20U);
    CAPTURE(rows);
    std::string text = rules_head;
    for (int i = 0; i < 6; ++i)
        text += "read_weights tile=0\nmatmul ub=0 acc=0 rows=" + std::to_string(rows) + "\n";
    TimedChip chip(machine, text + "halt\n");
    chip.run();
    const auto multiplies = chip.times(isa::QueueId::Matrix);
    // The next tile shifts in from the cycle after the switch on: 1 + 7 cycles, or the rows, if more.
    const std::uint64_t period = std::max<std::uint64_t>(rows, 1 + 7);
    for (std::size_t i = 1; i < multiplies.size(); ++i)
        CHECK(multiplies[i].begun == multiplies[i - 1].begun + period);
    CHECK(chip->counter("matrix_unit.weight_shift_cycles").value() >= 5 * (period - rows));
}

TEST_CASE("Rule 3: a fetch waits for a free slot, and a slot is free when its tile has been shifted out",
          "[timing]") {
    machine::MachineConfig machine = odd_machine();
    machine.weight_fifo.depth_tiles = GENERATE(1U, 2U, 3U);
    const std::uint64_t depth = machine.weight_fifo.depth_tiles;
    CAPTURE(depth);
    std::string text = rules_head;
    for (std::uint64_t i = 0; i <= depth; ++i) text += "read_weights tile=0\n";
    TimedChip chip(machine, text + "halt\n");
    chip.run();
    const auto fetches = chip.times(isa::QueueId::Weights);
    REQUIRE(fetches.size() == depth + 1);
    // The first tile shifts into the shadow plane by itself; nothing else leaves.
    const std::uint64_t first_shifted = fetches.front().begun + 11 + 35 + 7;
    CHECK(fetches[depth].complete == first_shifted);
    CHECK(fetches[depth - 1].complete < first_shifted);
    CHECK(chip->counter("weight_fifo.full_cycles").value() == first_shifted - fetches[depth].begun);
}

TEST_CASE("Rule 7: an accumulator row a cycle, in the buffer after the pipeline's latency", "[timing]") {
    const auto rows = GENERATE(1U, 2U, 33U);
    TimedChip chip(odd_machine(),
                   rules_head + activation_setup(5) + "activate acc=0 ub=0 rows=" + std::to_string(rows) +
                       " first=0 identity\nactivate acc=40 ub=100 rows=3 first=0 identity\nhalt\n");
    chip.run();
    const auto activates = chip.times(isa::QueueId::Activation);
    CHECK(activates[0].complete == activates[0].begun + rows + 6);
    CHECK(activates[1].begun == activates[0].begun + rows);
}

TEST_CASE("Rule 7: rows of more bytes than a buffer access take as many cycles as accesses", "[timing]") {
    TimedChip chip(odd_machine(), rules_head + activation_setup(5) +
                                      "set activation.pixel_bytes 10\nset output.maximum 32767\n"
                                      "activate acc=0 ub=0 rows=4 first=0 identity wide\nhalt\n");
    chip.run();
    const auto activate = chip.times(isa::QueueId::Activation).at(0);
    CHECK(activate.released == activate.begun + 4 * 2);  // 10 bytes in accesses of 7
}

TEST_CASE("Rule 8: the four classes are all cycles, whatever the program waits for", "[timing]") {
    machine::MachineConfig machine = odd_machine();
    machine.host_interface.read_gb_per_s = 0.31;
    TimedChip chip(machine, rules_head + ".buffer in input 0x0 140\n" + activation_setup(5) +
                                "set activation.pixel_bytes 7\n"
                                "read_host in ub=0 block=7 count=20\nsync.signal host_read sem=0\n"
                                "read_weights tile=0\nread_weights tile=0\n"
                                "sync.wait matrix sem=0\nmatmul ub=0 acc=0 rows=20\n"
                                "sync.signal matrix sem=1\nsync.wait activation sem=1\n"
                                "activate acc=0 ub=20 rows=20 first=0 identity\n"
                                "sync.signal activation sem=2\nsync.wait matrix sem=2\n"
                                "matmul ub=20 acc=32 rows=20\nhalt\n");
    chip.run();
    CHECK(tests::matrix_unit_cycles(*chip) == chip->cycles());
    const auto multiplies = chip.times(isa::QueueId::Matrix);
    const auto read = chip.times(isa::QueueId::HostRead).at(0);
    const auto activate = chip.times(isa::QueueId::Activation).at(0);
    // The input arrives long after the weights: all the wait for the first product is the input's.
    CHECK(multiplies[0].begun == read.complete);
    CHECK(chip->counter("matrix_unit.input_stall_cycles").value() == read.complete);
    // The second product follows the activations it reads in the cycle in which they are complete.
    CHECK(multiplies[1].begun == activate.complete);
    CHECK(chip->counter("matrix_unit.raw_stall_cycles").value() ==
          activate.complete - multiplies[0].released);
    CHECK(chip->counter("matrix_unit.weight_stall_cycles").value() == 0);
    CHECK(chip->counter("matrix_unit.weight_shift_cycles").value() == 0);
}
