// What a program may rely on, and what is found when it does not say what it relies on.
#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "hw/isa/program_error.h"
#include "tests/support/chip.h"
#include "tests/support/random_runs.h"

using namespace systole;
using Catch::Matchers::Contains;
using tests::Chip;

namespace {

machine::MachineConfig slow_machine() {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = 8;
    machine.matrix_unit.columns = 6;
    machine.unified_buffer.rows = 64;
    machine.accumulators.rows = 32;
    machine.host_interface.read_gb_per_s = machine.host_interface.write_gb_per_s = 2.1;
    machine.weight_memory.bandwidth_gb_per_s = 3.3;
    return machine;
}

const std::string order_head =
    ".array 8 6\n.buffer in input 0x0 64\n.buffer out output 0x1000 64\n.buffer parameters constant 0x2000 "
    "54 fill 1\n"
    ".tile 8 6 random 3\n";

/// A program that reads, multiplies, activates and writes, with a sync at each step, without the line that
/// contains `without`.
std::string chain(const std::string& without = "") {
    std::string text = order_head +
                       "set activation.columns 6\nset activation.pixel_bytes 6\nset activation.image_rows 1\n"
                       "set activation.outputs_per_image 1\nset activation.parameters_row 40\n"
                       "read_host parameters ub=40 block=54 count=1\n"
                       "read_host in ub=0 block=8 count=8\n"
                       "sync.signal host_read sem=1\nread_weights tile=0\nsync.wait matrix sem=1\n"
                       "matmul ub=0 acc=0 rows=8\n"
                       "sync.signal matrix sem=2\nsync.wait activation sem=2\n"
                       "activate acc=0 ub=16 rows=8 first=0 identity load\n"
                       "sync.signal activation sem=3\nsync.wait host_write sem=3\n"
                       "write_host out ub=16 block=6 count=8\ninterrupt\nhalt\n";
    if (!without.empty()) {
        const auto at = text.find(without);
        REQUIRE(at != std::string::npos);
        text.erase(at, text.find('\n', at) + 1 - at);
    }
    return text;
}

std::string error_of(const std::string& text) {
    Chip chip(slow_machine(), text);
    try {
        chip.run();
    } catch (const isa::ProgramError& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace

TEST_CASE("A program with every sync runs to its end", "[order]") {
    Chip chip(slow_machine(), chain());
    chip.run();
    CHECK(chip->cycles() > 0);
    CHECK(chip->counter("host_interface.write_bytes").value() == 48);
}

TEST_CASE("A missing sync is found and both instructions are named", "[order]") {
    CHECK_THAT(error_of(chain("sync.wait matrix")),
               Contains("matmul") && Contains("read_host") && Contains("unified-buffer rows 0 to 7"));
    // With parameters from rows that nothing writes, the sums are all that it could be too early for.
    std::string sums_only = chain("sync.wait activation");
    sums_only.erase(sums_only.find(" load"), 5);
    sums_only.insert(sums_only.find("sync.signal matrix"),
                     "set activation.parameters_row 50\nactivate acc=0 ub=0 rows=0 load\n");
    CHECK_THAT(error_of(sums_only),
               Contains("activate") && Contains("matmul") && Contains("accumulator rows 0 to 7"));
    CHECK_THAT(error_of(chain("sync.wait host_write")), Contains("write_host") && Contains("activate"));
}

TEST_CASE("A missing sync before overwriting rows that are still to be read is found, too", "[order]") {
    const std::string text =
        order_head +
        "read_weights tile=0\nmatmul ub=0 acc=0 rows=8\nread_host in ub=0 block=8 count=8\nhalt\n";
    CHECK_THAT(error_of(text), Contains("read_host") && Contains("matmul"));
}

TEST_CASE("A missing sync is found where the timing happens to be lucky", "[order]") {
    // The products before it take far longer than the read that the last one does not wait for.
    std::string text =
        order_head + "read_weights tile=0\nread_host in ub=32 block=8 count=1\nmatmul ub=0 acc=0 rows=8\n";
    for (int i = 0; i < 20; ++i) text += "matmul ub=0 acc=0 rows=8 keep\n";
    CHECK(error_of(text + "halt\n") == "no error");
    CHECK_THAT(error_of(text + "matmul ub=32 acc=0 rows=1 keep\nhalt\n"),
               Contains("matmul ub=32") && Contains("read_host") && Contains("unified-buffer rows 32 to 32"));
}

TEST_CASE("Host memory is written and read in program order, or an error says so", "[order]") {
    const std::string text = order_head + "write_host out ub=8 block=8 count=2\n";
    CHECK_THAT(error_of(text + "read_host out+8 ub=0 block=8 count=1\nhalt\n"),
               Contains("read_host") && Contains("write_host") && Contains("host bytes 4104 to 4111"));
    CHECK(error_of(text + "read_host out+16 ub=0 block=8 count=1\nhalt\n") == "no error");
    CHECK(error_of(text + "sync.signal host_write sem=0\nsync.wait host_read sem=0\n"
                          "read_host out+8 ub=0 block=8 count=1\nhalt\n") == "no error");
}

TEST_CASE("If two units fail in one cycle, the same one is reported in every process order", "[order]") {
    const std::string text = order_head + "read_host in ub=0 block=8 count=8\nread_weights tile=0\n" +
                             "sync.wait matrix sem=1\nsync.wait activation sem=2\nmatmul ub=0 acc=0 rows=8\n"
                             "set activation.columns 6\nset activation.pixel_bytes 6\n"
                             "set activation.outputs_per_image 1\nset activation.parameters_row 40\n"
                             "activate acc=0 ub=0 rows=1 first=0 identity load\n"
                             "sync.signal weights sem=1\nsync.signal weights sem=2\nhalt\n";
    const std::string expected = error_of(text);
    CHECK_THAT(expected, Contains("a sync between their units is missing"));
    for (unsigned seed = 1; seed <= tests::random_runs(20); ++seed) {
        std::mt19937 random(seed);
        Chip chip(slow_machine(), text, [&] { return static_cast<unsigned>(random() % 5); });
        CHECK_THROWS_WITH(chip.run(), expected);
    }
}

TEST_CASE("A program that can never finish ends with the state of each waiting unit", "[order]") {
    CHECK_THAT(error_of(chain("sync.signal matrix")), Contains("cannot finish") &&
                                                          Contains("activation waits in instruction") &&
                                                          Contains("for semaphore 2"));
    CHECK_THAT(error_of(chain("read_weights")), Contains("for a weight tile"));
}

TEST_CASE("Two units may not wait for one semaphore", "[order]") {
    CHECK_THAT(error_of(order_head +
                        "sync.wait matrix sem=1\nsync.wait activation sem=1\nsync.signal host_read sem=1\n"
                        "sync.signal host_read sem=1\nhalt\n"),
               Contains("semaphore 1"));
}

TEST_CASE("Two units may not signal one semaphore", "[order]") {
    // By luck the product would begin behind the signal of the unit that brings its row.
    const auto program = [](const std::string& bytes, const std::string& semaphore) {
        return order_head +
               "read_weights tile=0\nsync.wait matrix sem=1\nwrite_host out ub=20 block=" + bytes +
               "\nsync.signal host_write sem=" + semaphore +
               "\nread_host in ub=0 block=8\nsync.signal host_read sem=1\nmatmul ub=0 acc=0 rows=1\nhalt\n";
    };
    CHECK(error_of(program("64", "1")) ==
          "instruction 3 (sync.signal host_write sem=1): semaphore 1 has two signalling units; it may have "
          "one");
    CHECK(error_of(program("64", "2")) == "no error");
    // Without that luck, what the product lacks is found first.
    CHECK_THAT(error_of(program("1", "1")), Contains("not ordered behind instruction 4"));
}

TEST_CASE("Rows that the machine does not have are refused, the last ones are not", "[order]") {
    CHECK(error_of(order_head + "read_weights tile=0\nmatmul ub=56 acc=24 rows=8\nhalt\n") == "no error");
    CHECK_THAT(error_of(order_head + "read_weights tile=0\nmatmul ub=57 acc=24 rows=8\nhalt\n"),
               Contains("unified-buffer row 64") && Contains("instruction 1"));
    CHECK_THAT(error_of(order_head + "read_weights tile=0\nmatmul ub=56 acc=25 rows=8\nhalt\n"),
               Contains("accumulator row 32"));
}

TEST_CASE("Keeping weights in an empty array is refused", "[order]") {
    CHECK_THAT(error_of(order_head + "matmul ub=0 acc=0 rows=1 keep\nhalt\n"),
               Contains("instruction 0") && Contains("weights"));
}

TEST_CASE("A program without halt is refused", "[order]") {
    CHECK_THAT(error_of(order_head + "nop\n"), Contains("halt"));
}

TEST_CASE("Nothing depends on the order in which SystemC runs processes", "[order]") {
    const auto ports = GENERATE(1U, 2U, 3U);
    machine::MachineConfig machine = slow_machine();
    machine.unified_buffer.read_ports = ports;
    machine.unified_buffer.write_ports = std::min(ports, 2U);
    machine.accumulators.ports = std::min(ports, 2U);
    std::string body;
    for (int i = 0; i < 6; ++i) {
        body += chain().substr(order_head.size(),
                               chain().size() - order_head.size() - std::string("halt\n").size());
        // The next round overwrites what this one still uses.
        body += "sync.signal host_write sem=9\nsync.wait host_read sem=9\n";
    }
    const std::string text = order_head + body + "halt\n";

    Chip calm(machine, text);
    calm.run();
    const auto seed = GENERATE(1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U);
    CAPTURE(ports, seed);
    std::mt19937 random(seed);
    Chip shaken(machine, text, [&] { return static_cast<unsigned>(random() % 5); });
    shaken.run();
    CHECK(shaken->cycles() == calm->cycles());
    for (const auto unit : {isa::QueueId::HostRead, isa::QueueId::HostWrite, isa::QueueId::Weights,
                            isa::QueueId::Matrix, isa::QueueId::Activation}) {
        CHECK(shaken.times(unit) == calm.times(unit));
    }
    const auto calm_counters = calm->counters();
    const auto shaken_counters = shaken->counters();
    for (std::size_t group = 0; group < calm_counters.size(); ++group) {
        auto other = shaken_counters[group].group->begin();
        for (const hw::Counter& counter : *calm_counters[group].group) {
            CAPTURE(calm_counters[group].path, counter.name());
            CHECK(counter.value() == (other++)->value());
        }
    }
}

#ifndef __SANITIZE_ADDRESS__  // which ends the process where memory cannot be had
TEST_CASE("A host buffer larger than this computer's memory is an error that names it", "[order]") {
    const std::string text = ".array 8 6\n.buffer huge input 0x0 0xffffffff00\nhalt\n";
    CHECK_THROWS_WITH(Chip(slow_machine(), text), Contains("buffer huge has 1099511627520 bytes"));
}
#endif
