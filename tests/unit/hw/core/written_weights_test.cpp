// Rule 10 of docs/timing.md: tiles that the program writes into weight memory.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "hw/isa/assembly.h"
#include "hw/isa/program_error.h"
#include "hw/isa/queue.h"
#include "hw/machine/machine_config.h"
#include "hw/timing/transfers.h"
#include "sim/functional/executor.h"
#include "tests/support/chip.h"
#include "tests/unit/hw/core/odd_machine.h"

using namespace systole;
using Catch::Matchers::Contains;
using tests::Chip;
using tests::odd_machine;

namespace {

/// One byte a cycle is read, seven in two cycles are written.
machine::MachineConfig writable_machine() {
    machine::MachineConfig machine = odd_machine();
    machine.weight_memory.writable = {.gb_per_s = 2.45, .latency_cycles = 3};
    return machine;
}

const std::string two_tiles = ".array 7 5\n.tile 7 5 random 1\n.tile 7 5 random 2\n";

std::string failure_of(const std::string& text, const machine::MachineConfig& machine = writable_machine()) {
    try {
        Chip chip(machine, text);
        chip.run();
    } catch (const isa::ProgramError& error) {
        return error.what();
    }
    return "";
}

/// The sums of 3 x 5 int32 in the first rows of accumulators after a run of units and of the executor, which
/// must be the same.
std::vector<std::int32_t> sums_of(const std::string& text, const machine::MachineConfig& machine,
                                  std::uint64_t rows) {
    Chip chip(machine, text);
    chip.run();
    const std::size_t count = rows * machine.matrix_unit.columns;
    const std::int32_t* const sums = chip->tpu_v1_core().accumulators().read(0, rows);
    std::vector<std::int32_t> found(sums, sums + count);
    functional::Executor executor(chip.program(), machine);
    executor.run();
    const auto expected = executor.accumulators().first(count);
    CHECK(std::equal(found.begin(), found.end(), expected.begin()));
    return found;
}

}  // namespace

TEST_CASE("Rule 10: a write reads its rows, then takes the memory in turn with fetches", "[timing]") {
    // The worked example of docs/timing.md.
    Chip chip(writable_machine(), two_tiles +
                                      "write_weights tile=1 ub=0 stride=7 rows=6 columns=5\n"
                                      "sync.signal weight_write sem=1\nread_weights tile=0\n"
                                      "sync.wait weights sem=1\nread_weights tile=1\n"
                                      "matmul ub=0 acc=0 rows=1 repeat=1\nhalt\n");
    chip.run();
    const auto write = chip.times(isa::QueueId::WeightWrite).at(0);
    REQUIRE(chip.tiles().size() == 2);
    const auto& first = chip.tiles()[0];
    const auto& second = chip.tiles()[1];
    CHECK(write.begun == 0);
    CHECK(first.fetched == 2);          // issued behind the write and the signal
    CHECK(first.whole == 2 + 11 + 35);  // the write has not asked yet: latency, then 35 bytes
    CHECK(write.complete == 48 + 10);   // asked in cycle 6; behind the fetch 35 bytes at 7 in 2 cycles
    CHECK(write.released == write.complete);
    CHECK(second.fetched == 58);  // its semaphore
    CHECK(second.whole == 58 + 11 + 35);
    CHECK(chip->counter("weight_writer.busy_cycles").value() == 58);
    CHECK(chip->counter("weight_writer.bytes").value() == 35);
    CHECK(chip->counter("weight_writer.buffer_reads").value() == 6);
}

TEST_CASE("Rule 10: of two requests in one cycle, the fetch is served first", "[timing]") {
    // The write asks in cycle 6; the fetch is issued in a cycle around it.
    const unsigned before = GENERATE(4U, 5U, 6U);
    std::string text = two_tiles + "write_weights tile=1 ub=0 stride=7 rows=6 columns=5\n";
    for (unsigned i = 0; i < before; ++i) text += "nop\n";
    machine::MachineConfig machine = writable_machine();
    machine.weight_memory.latency_cycles = 0;
    machine.weight_memory.writable->latency_cycles = 0;
    const auto perturbed = GENERATE(false, true);
    std::mt19937 random(7);
    Chip chip(
        machine, text + "read_weights tile=0\nmatmul ub=0 acc=0 rows=1\nhalt\n",
        perturbed ? [&random] { return static_cast<unsigned>(random()) % 5; } : std::function<unsigned()>());
    chip.run();
    const auto write = chip.times(isa::QueueId::WeightWrite).at(0);
    const auto& fetch = chip.tiles().at(0);
    REQUIRE(fetch.fetched == 1 + before);
    if (fetch.fetched <= 6) {
        CHECK(fetch.whole == fetch.fetched + 35);
        CHECK(write.complete == fetch.whole + 10);
    } else {
        CHECK(write.complete == 6 + 10);
        CHECK(fetch.whole == write.complete + 35);
    }
}

TEST_CASE("Rule 10: the rows of a source are read one access a cycle, each that its bytes touch",
          "[timing]") {
    const machine::MachineConfig machine = writable_machine();
    const isa::WeightTile tile{.rows = 7, .columns = 5};
    const auto accesses = [&](const isa::WriteWeights& write) {
        return timing::tile_write_cost(write, tile, machine).buffer_accesses;
    };
    CHECK(accesses({.stride = 7, .rows = 6, .columns = 5}) == 6);
    CHECK(accesses({.first_byte = 2, .stride = 7, .rows = 6, .columns = 5}) == 6);
    CHECK(accesses({.first_byte = 3, .stride = 7, .rows = 6, .columns = 5}) == 12);
    CHECK(accesses({.stride = 5, .rows = 7, .columns = 5}) == 7 + 4);  // packed: four lie in two rows
}

TEST_CASE("Activations become weights, transposed or not, signed or not, in blocks on the diagonal", "[hw]") {
    const bool transposed = GENERATE(false, true);
    const bool is_signed = GENERATE(false, true);
    const int zero_point = GENERATE(0, 3, -128);
    CAPTURE(transposed, is_signed, zero_point);
    // Two blocks of 2 x 2 (three rows of three bytes would not fit), packed from byte 3 on; a row of 6 bytes.
    std::string text = ".array 7 5\n.tile 7 5 random 1\n.buffer data constant 0x0 30 random 5\n";
    text +=
        "read_host data ub=0 block=30 count=1\nsync.signal host_read sem=1\nsync.signal host_read sem=2\n";
    text += fmt::format("set multiply.weight_zero_point {}\n", zero_point);
    text += fmt::format(
        "sync.wait weight_write sem=1\nwrite_weights tile=0 ub=0 first=3 stride=6 rows=2 columns=2 "
        "blocks=2{}{}\n",
        is_signed ? " signed" : "", transposed ? " transposed" : "");
    text += "sync.signal weight_write sem=3\nsync.wait weights sem=3\nread_weights tile=0\n";
    text += "sync.wait matrix sem=2\nmatmul ub=0 acc=0 rows=4 signed\nhalt\n";
    const isa::Program program = isa::assemble(text, "test");
    const auto& data = program.buffers.at(0).contents;
    std::vector<int> weights(7 * 5, 0);  // less their zero point
    for (std::size_t n = 0; n < 2; ++n) {
        for (std::size_t block = 0; block < 2; ++block) {
            for (std::size_t m = 0; m < 2; ++m) {
                const std::uint8_t byte = data.at(3 + 6 * n + 2 * block + m);
                const int value = is_signed ? static_cast<std::int8_t>(byte) : int{byte} - 128;
                const std::size_t row = 2 * block + (transposed ? m : n);
                const std::size_t column = 2 * block + (transposed ? n : m);
                weights[row * 5 + column] = value - zero_point;
            }
        }
    }
    const auto sums = sums_of(text, writable_machine(), 4);
    for (std::size_t row = 0; row < 4; ++row) {
        for (std::size_t column = 0; column < 5; ++column) {
            int expected = 0;
            for (std::size_t i = 0; i < 7; ++i) {
                const std::size_t at = 7 * row + i;
                const int activation = static_cast<std::int8_t>(at < data.size() ? data[at] : 0);
                expected += activation * weights[i * 5 + column];
            }
            CHECK(sums[row * 5 + column] == expected);
        }
    }
}

TEST_CASE("A fetch takes the tile as it was, whatever is written behind it", "[hw]") {
    // The tile is fetched, written, fetched again; the array takes both fetches afterwards.
    const std::string text =
        ".array 7 5\n.tile 7 5 fill 1\n.unified_buffer 0 40 fill 2\n"
        "read_weights tile=0\nsync.signal weights sem=1\nsync.wait weight_write sem=1\n"
        "write_weights tile=0 ub=0 stride=0 rows=7 columns=5 signed\n"
        "sync.signal weight_write sem=2\nsync.wait weights sem=2\nread_weights tile=0\n"
        "matmul ub=0 acc=0 rows=1\nmatmul ub=0 acc=1 rows=1\nhalt\n";
    const auto sums = sums_of(text, writable_machine(), 2);
    CHECK(sums == std::vector<std::int32_t>{14, 14, 14, 14, 14, 28, 28, 28, 28, 28});
}

TEST_CASE("A fetch of a tile that is being written is a race, and so is the reverse", "[hw][order]") {
    const std::string write = "write_weights tile=1 ub=0 stride=7 rows=6 columns=5\n";
    const std::string end = "matmul ub=0 acc=0 rows=1\nhalt\n";
    CHECK_THAT(failure_of(two_tiles + write + "read_weights tile=1\n" + end),
               Contains("(read_weights tile=1) is not ordered behind instruction 0 (line 4: write_weights "
                        "tile=1 ") &&
                   Contains("both touch weight tiles 1 to 1"));
    CHECK_THAT(failure_of(two_tiles + "read_weights tile=0 count=2\n" + write + end),
               Contains("is not ordered behind instruction 0 (line 4: read_weights tile=0 count=2)"));
    CHECK(failure_of(two_tiles + "read_weights tile=0\n" + write + end).empty());
    // Its source's rows, too.
    CHECK_THAT(failure_of(".array 7 5\n.tile 7 5 random 1\n.buffer data constant 0x0 30 random 5\n"
                          "read_host data ub=2 block=30 count=1\n"
                          "write_weights tile=0 ub=0 stride=7 rows=6 columns=5\nhalt\n"),
               Contains("both touch unified-buffer rows 2 to 5"));
}

TEST_CASE("A program that writes weights is refused where it cannot", "[hw]") {
    const std::string write = "write_weights tile=1 ub=0 stride=7 rows=6 columns=5\nhalt\n";
    const auto refused = [](const std::string& text, const machine::MachineConfig& machine) {
        const std::string said = failure_of(text, machine);
        try {
            const isa::Program program = isa::assemble(text, "test");
            functional::Executor executor(program, machine);
            executor.run();
            FAIL("the executor runs it");
        } catch (const isa::ProgramError& error) {
            CHECK_THAT(error.what(), Contains(said.substr(said.find("): ") + 3)));
        }
        return said;
    };
    CHECK_THAT(refused(two_tiles + write, odd_machine()),
               Contains("instruction 0 (write_weights tile=1") &&
                   Contains("the machine has no weight_memory.writable: its weight memory is read-only"));
    machine::MachineConfig spills = writable_machine();
    spills.weight_memory.spill = true;
    spills.weight_memory.bytes = 69;
    CHECK_THAT(
        refused(two_tiles + write, spills),
        Contains("the tile ends at byte 70; weight_memory.bytes is 69, and tiles beyond it cannot be"));
    const auto wrong = [](const std::string& text) {
        try {
            isa::assemble(two_tiles + ".tile 3 2 random 1\n.tile 7 5 bytes=2 random 1\n" + text + "\nhalt\n",
                          "test");
        } catch (const isa::ProgramError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK_THAT(wrong("write_weights tile=4 ub=0 stride=7 rows=1 columns=1"),
               Contains("the program has 4 tiles"));
    CHECK_THAT(wrong("write_weights tile=3 ub=0 stride=7 rows=1 columns=1"),
               Contains("tile 3 has weights of int16; it must be of int8"));
    CHECK_THAT(wrong("write_weights tile=2 ub=0 stride=7 rows=2 columns=3"),
               Contains("its blocks take 2 x 3 of tile 2, which has 3 x 2"));
    CHECK(wrong("write_weights tile=2 ub=0 stride=7 rows=2 columns=3 transposed").empty());
    CHECK_THAT(wrong("write_weights tile=0 ub=0 stride=7 rows=0 columns=3"),
               Contains("rows=0: must be a whole number from 1"));
    CHECK_THAT(failure_of(two_tiles + "set multiply.weight_zero_point 128\n" + write),
               Contains("multiply.weight_zero_point is 128; it must be from -128 to 127"));
    CHECK_THAT(failure_of(two_tiles + "sync.signal weight_write sem=1\nhalt\n", odd_machine()),
               Contains("it is for weight_write; the machine has no such unit"));
}

TEST_CASE("weight_memory.writable is read, written and held against the model of the memory", "[machine]") {
    const auto read = [](const std::string& memory) {
        return machine::read_machine(
            nlohmann::json::parse(R"({"schema": "sim.machine/1", "weight_memory": )" + memory + "}"),
            "m.json");
    };
    const auto machine = read(R"({"writable": {"gb_per_s": 7}})");
    REQUIRE(machine.weight_memory.writable.has_value());
    CHECK(machine.weight_write_rate() == Rate{.bytes = 10, .cycles = 1});
    CHECK(machine.weight_memory.writable->latency_cycles == 0);
    CHECK(machine::to_json(machine)["weight_memory"]["writable"]["gb_per_s"] == 7);
    CHECK_FALSE(machine::to_json(read("{}"))["weight_memory"].contains("writable"));
    CHECK_THROWS_WITH(read(R"({"writable": {}})"), Contains("weight_memory.writable.gb_per_s"));
    CHECK_THROWS_WITH(read(R"({"writable": {"gb_per_s": 0}})"),
                      Contains("weight_memory.writable.gb_per_s is 0"));
    CHECK_THROWS_WITH(read(R"({"writable": {"gb_per_s": 1, "depth": 2}})"),
                      Contains("weight_memory.writable.depth"));
    CHECK_THROWS_WITH(read(R"({"model": "dram", "writable": {"gb_per_s": 1}})"),
                      Contains("weight_memory.writable") && Contains("must be left out"));
}
