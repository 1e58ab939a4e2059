// Sums are 32 bits, modulo 2^32 (docs/isa.md): in the array, in the accumulators, in the passes of 16 bits.
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "hw/isa/assembly.h"
#include "hw/isa/program_error.h"
#include "tests/support/random_program/observe.h"

using namespace systole;

namespace {

constexpr std::int32_t highest = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();

machine::MachineConfig tiny_machine() {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = 4;
    machine.matrix_unit.columns = 1;
    machine.unified_buffer.rows = 64;
    machine.accumulators.rows = 8;
    return machine;
}

/// The first accumulator after a program, the same in all engines and in sim/functional.
std::int32_t sum_of(const std::string& text, std::uint32_t sum_bits = 32) {
    machine::MachineConfig machine = tiny_machine();
    machine.accumulators.sum_bits = sum_bits;
    const isa::Program program = isa::assemble(".array 4 1\n" + text + "halt\n", "test");
    const tests::Memories expected = tests::execute(program, machine);
    for (std::size_t i = 0; i < machine::engine_names.size(); ++i) {
        const auto run = tests::observe(program, machine, static_cast<machine::Engine>(i));
        CAPTURE(machine::engine_names.at(i));
        CHECK(run.error.empty());
        CHECK(run.memories.accumulators == expected.accumulators);
    }
    return expected.accumulators.front();
}

/// Constants for one row of 16-bit activations, and the instructions that bring them to row 0.
std::string wide_row(const std::string& values) {
    return ".buffer row constant 0 8\n.int16 " + values + "\n.buffer ones constant 8 4\n.int8 1 0 0 0\n";
}
const std::string load =
    "read_host row ub=0 block=8\nread_host ones ub=8 block=4\nsync.signal host_read sem=0\n"
    "sync.wait matrix sem=0\n";

}  // namespace

TEST_CASE("A sum reaches the highest 32-bit number, and one more is the lowest", "[isa][wrap]") {
    // 65535 * 32767 + 65535 * 1 + 32767 * 1 is 2^31 - 1.
    const std::string head =
        wide_row("-1 -1 32767 0") +
        ".tile 3 1 bytes=2\n.int16 32767 1 1\n.tile 1 1\n.int8 1\n.tile 1 1\n.int8 -1\n" + load +
        "read_weights tile=0 count=3\nmatmul ub=0 acc=0 rows=1 wide_a wide_w\n";
    CHECK(sum_of(head) == highest);
    const std::string plus_one = head + "matmul ub=8 acc=0 rows=1 accumulate\n";
    CHECK(sum_of(plus_one) == lowest);
    CHECK(sum_of(plus_one + "matmul ub=8 acc=0 rows=1 accumulate\n") == highest);
}

TEST_CASE("A sum wraps around on its way down the array", "[isa][wrap]") {
    // Each product is 2^30.
    const std::string wide = " bytes=2 fill -32768\nread_weights tile=0\n";
    const auto sum = [&](int rows) {
        return sum_of(wide_row("4*-32768") + ".tile " + std::to_string(rows) + " 1" + wide + load +
                      "matmul ub=0 acc=0 rows=1 signed wide_a wide_w\n");
    };
    CHECK(sum(1) == 1 << 30);
    CHECK(sum(2) == lowest);
    CHECK(sum(3) == -(1 << 30));
    CHECK(sum(4) == 0);
}

TEST_CASE("Passes that wrap around add up to the whole product", "[isa][wrap]") {
    // High times high is 65025 shifted by 16 places: beyond 32 bits, before the other passes.
    const std::int64_t product = 65535LL * 32767 * 4;
    const auto wrapped = static_cast<std::int32_t>(static_cast<std::uint32_t>(product));
    CHECK(sum_of(wide_row("4*-1") + ".tile 4 1 bytes=2 fill 32767\nread_weights tile=0\n" + load +
                 "matmul ub=0 acc=0 rows=1 wide_a wide_w\n") == wrapped);
    const auto half = static_cast<std::int32_t>(static_cast<std::uint32_t>(-65535LL * 128 * 4 * 64));
    std::string repeated = wide_row("4*-1") + ".tile 4 1 fill -128\nread_weights tile=0\n" + load +
                           "matmul ub=0 acc=0 rows=1 wide_a\n";
    for (int i = 1; i < 64; ++i) repeated += "matmul ub=0 acc=0 rows=1 wide_a keep accumulate\n";
    CHECK(sum_of(repeated) == half);
}

TEST_CASE("Accumulation of 8-bit products wraps around", "[isa][wrap]") {
    // 255 * -128 * 4 is -130560: the sum passes -2^31 between product 16448 and 16449.
    constexpr std::int64_t product = -255LL * 128 * 4;
    const auto after = [&](std::int64_t products) {
        return sum_of(
            ".buffer row constant 0 4 fill 255\n.tile 4 1 fill -128\n"
            "read_weights tile=0\nread_host row ub=0 block=4\nsync.signal host_read sem=0\n"
            "sync.wait matrix sem=0\nmatmul ub=0 acc=0 rows=1\n" +
            [&] {
                std::string text;
                for (std::int64_t i = 1; i < products; ++i)
                    text += "matmul ub=0 acc=0 rows=1 keep accumulate\n";
                return text;
            }());
    };
    CHECK(after(16448) == 16448 * product);
    CHECK(after(16449) == 16449 * product + (std::int64_t{1} << 32));
}

TEST_CASE("docs/timing.md, \"Width of a sum\": 647,700 in 20 bits is -400,876",
          "[isa][wrap][documentation]") {
    // Four rows of the array, five times.
    std::string text =
        ".buffer row constant 0 4 fill 255\n.tile 4 1 fill 127\nread_weights tile=0\n"
        "read_host row ub=0 block=4\nsync.signal host_read sem=0\nsync.wait matrix sem=0\n"
        "matmul ub=0 acc=0 rows=1\n";
    for (int i = 1; i < 5; ++i) text += "matmul ub=0 acc=0 rows=1 keep accumulate\n";
    CHECK(sum_of(text) == 647'700);
    CHECK(sum_of(text, 21) == 647'700);
    CHECK(sum_of(text, 20) == -400'876);
    // In every addition: the low bits of a sum depend on low bits alone.
    CHECK(sum_of(text, 8) == static_cast<std::int8_t>(647'700 % 256));
}

TEST_CASE("An initial sum that the accumulators have no room for is refused", "[isa][wrap]") {
    machine::MachineConfig machine = tiny_machine();
    machine.accumulators.sum_bits = 20;
    const auto error = [&](const std::string& sum) {
        const isa::Program program =
            isa::assemble(".array 4 1\n.accumulators 2 2\n.int32 0 " + sum + "\nhalt\n", "test");
        try {
            static_cast<void>(tests::execute(program, machine));
        } catch (const isa::ProgramError& refused) {
            CHECK(tests::observe(program, machine, machine::Engine::Wavefront).error == refused.what());
            return std::string(refused.what());
        }
        CHECK(tests::observe(program, machine, machine::Engine::Wavefront).error.empty());
        return std::string();
    };
    CHECK(error("524287").empty());
    CHECK(error("-524288").empty());
    CHECK(
        error("524288") ==
        "the initial sum of accumulator row 3, column 0, is 524288; the machine's accumulators have 20 bits");
    CHECK(error("-524289") ==
          "the initial sum of accumulator row 3, column 0, is -524289; the machine's accumulators have 20 "
          "bits");
}
