// Programs that cannot be executed: the message names the instruction's number, its text and the rule.
#include <array>
#include <catch2/catch.hpp>

#include "hw/isa/program_error.h"
#include "hw/math/pooling.h"
#include "tests/unit/sim/functional/run.h"

using namespace systole;
using namespace systole::functional::tests;
using Catch::Matchers::Message;

namespace {

constexpr const char* declarations = R"(
    .array 4 2
    .buffer low input 0x10 16
    .buffer high output 0x40 8
    .tile 4 2 fill 1
    .tile 4 2 bytes=2 fill 1
)";

/// On 16 unified-buffer rows and 8 accumulator rows; instruction 0 is the first line.
void check_error(const std::string& instructions, const std::string& message) {
    Run run(declarations + instructions);
    CHECK_THROWS_MATCHES(run.executor.run(), isa::ProgramError, Message(message));
}

void check_runs(const std::string& instructions) {
    Run run(declarations + instructions);
    CHECK_NOTHROW(run.executor.run());
}

}  // namespace

TEST_CASE("A program without halt does not run") {
    check_error("nop\ntag 3", "instruction 1: tag 3: the program must end in a halt");
    check_error("", "the program is empty; it must end in a halt");
}

TEST_CASE("A program is for the machine's array") {
    const isa::Program program = isa::assemble(".array 4 2\nhalt", "test");
    CHECK_NOTHROW(functional::Executor(program, small_machine({.rows = 4, .columns = 2}, 1, 1)));
    CHECK_THROWS_MATCHES(functional::Executor(program, small_machine({.rows = 4, .columns = 3}, 1, 1)),
                         isa::ProgramError,
                         Message("the program is for an array of 4 x 2; the machine's is 4 x 3"));
    CHECK_THROWS_MATCHES(functional::Executor(program, small_machine({.rows = 2, .columns = 2}, 1, 1)),
                         isa::ProgramError,
                         Message("the program is for an array of 4 x 2; the machine's is 2 x 2"));
}

TEST_CASE("A program keeps the rules of programs") {
    isa::Program program = isa::assemble(declarations + std::string("halt"), "test");
    program.tiles[0].values.pop_back();
    CHECK_THROWS_AS(functional::Executor(program, small_machine({.rows = 4, .columns = 2}, 1, 1)),
                    isa::ProgramError);
}

TEST_CASE("Transfers stay inside one host buffer") {
    check_runs("read_host 0x10 ub=0 block=16; write_host 0x44 ub=0 block=4; halt");
    const auto check_range = [](const std::string& address, const std::string& shape,
                                const std::string& bytes) {
        check_error("nop; read_host " + address + " ub=0 " + shape + "; halt",
                    "instruction 1: read_host " + address + " ub=0 " + shape + ": " + bytes +
                        " bytes from host address " + address + " on must lie in one host buffer");
    };
    check_range("0x10", "block=17", "17");
    check_range("0x1c", "block=5", "5");
    check_range("0x1c", "block=1 count=5", "5");
    check_range("0xf", "block=1", "1");
    check_range("0x20", "block=1", "1");
    check_range("0x10", "block=16 count=2", "32");
}

TEST_CASE("Rows lie inside the unified buffer") {
    check_runs("read_host 0x10 ub=12 block=16; halt");
    check_error("read_host 0x10 ub=13 block=16; halt",
                "instruction 0: read_host 0x10 ub=13 block=16: unified-buffer rows 13 to 16; the machine has "
                "16 rows");
    check_runs("write_host 0x40 ub=14 block=4 count=2; halt");
    check_error("write_host 0x40 ub=15 block=4 count=2; halt",
                "instruction 0: write_host 0x40 ub=15 block=4 count=2: unified-buffer rows 15 to 16; the "
                "machine has 16 rows");
    check_runs("read_weights tile=0; matmul ub=14 acc=0 rows=2; halt");
    check_error("read_weights tile=0; matmul ub=15 acc=0 rows=2; halt",
                "instruction 1: matmul ub=15 acc=0 rows=2: unified-buffer rows 15 to 16; the machine has 16 "
                "rows");
    check_runs("read_weights tile=0; matmul ub=14 acc=0 rows=1 wide_a; halt");
    check_error("read_weights tile=0; matmul ub=15 acc=0 rows=1 wide_a; halt",
                "instruction 1: matmul ub=15 acc=0 rows=1 wide_a: unified-buffer rows 15 to 16; the machine "
                "has 16 rows");
    check_runs("vector add dst=14 src=14 other=14 rows=2; halt");
    for (const auto& [dst, src, other] : {std::array{15, 2, 4}, std::array{2, 15, 4}, std::array{2, 4, 15}}) {
        const std::string text = "vector add dst=" + std::to_string(dst) + " src=" + std::to_string(src) +
                                 " rows=2 other=" + std::to_string(other);
        check_error(text + "; halt",
                    "instruction 0: " + text + ": unified-buffer rows 15 to 16; the machine has 16 rows");
    }
    // The table has 64 rows.
    check_error("vector lookup dst=0 src=0 rows=1; halt",
                "instruction 0: vector lookup dst=0 src=0 rows=1: unified-buffer rows 0 to 63; the machine "
                "has 16 rows");
}

TEST_CASE("Rows lie inside the accumulators") {
    check_runs("read_weights tile=0; matmul ub=0 acc=6 rows=2; halt");
    check_error("read_weights tile=0; matmul ub=0 acc=7 rows=2; halt",
                "instruction 1: matmul ub=0 acc=7 rows=2: accumulator rows 7 to 8; the machine has 8 rows");
    const std::string settings =
        "set activation.columns 1; set activation.pixel_bytes 1; set activation.outputs_per_image 4\n";
    check_runs(".accumulators 6 2 fill 0\n" + settings + "activate acc=6 ub=0 rows=2 load; halt");
    check_error(settings + "activate acc=7 ub=0 rows=2; halt",
                "instruction 3: activate ub=0 acc=7 rows=2 identity: accumulator rows 7 to 8; the machine "
                "has 8 rows");
}

TEST_CASE("Every repetition needs a tile") {
    check_runs("read_weights tile=0; read_weights tile=0; matmul ub=0 acc=0 rows=1 repeat=1; halt");
    check_error("read_weights tile=0; matmul ub=0 acc=0 rows=1 repeat=1; halt",
                "instruction 1: matmul ub=0 acc=0 rows=1 repeat=1: no weight tile is left; read_weights must "
                "fetch one for each repetition");
    check_error("matmul ub=0 acc=0 rows=1; read_weights tile=0; halt",
                "instruction 0: matmul ub=0 acc=0 rows=1: no weight tile is left; read_weights must fetch "
                "one for each repetition");
}

TEST_CASE("Keeping weights needs a tile in the array") {
    check_runs("read_weights tile=0; matmul ub=0 acc=0 rows=1; matmul ub=0 acc=0 rows=1 keep; halt");
    check_error("read_weights tile=0; matmul ub=0 acc=0 rows=1 keep; halt",
                "instruction 1: matmul ub=0 acc=0 rows=1 keep: there are no weights in the array; keep must "
                "follow a use of a tile");
}

TEST_CASE("activate needs sums, parameters and a table that the program has written") {
    const std::string sums = ".accumulators 1 2 fill 5\n";
    const std::string settings =
        "set activation.columns 2; set activation.pixel_bytes 4; set activation.outputs_per_image 4\n";
    const auto refused = [](const std::string& instruction, const std::string& rule) {
        return "instruction 3: " + instruction + ": " + rule;
    };
    check_runs(sums + settings + "activate acc=1 ub=0 rows=2 load; activate acc=1 ub=0 rows=1; halt");
    check_error(
        sums + settings + "activate acc=2 ub=0 rows=2 load; halt",
        refused("activate ub=0 acc=2 rows=2 identity load",
                "nothing has written accumulator row 3; a product or .accumulators must come before"));
    check_error(
        sums + settings + "activate acc=0 ub=0 rows=1 load; halt",
        refused("activate ub=0 acc=0 rows=1 identity load",
                "nothing has written accumulator row 0; a product or .accumulators must come before"));
    check_error(sums + settings + "activate acc=1 ub=0 rows=2; halt",
                refused("activate ub=0 acc=1 rows=2 identity",
                        "there are no parameters in the activation unit; load must be given first"));
    const std::string one =
        "set activation.columns 1\nactivate acc=0 ub=0 rows=0 load\nset activation.columns 2\n";
    check_error(
        sums + settings + one + "activate acc=1 ub=0 rows=1; halt",
        "instruction 6: activate ub=0 acc=1 rows=1 identity: activation.columns is 2; the last load was of "
        "1 columns");
    check_error(
        sums + settings + "activate acc=1 ub=0 rows=1 load; activate acc=1 ub=0 rows=1 lookup; halt",
        "instruction 4: activate ub=0 acc=1 rows=1 lookup: there is no table for 8 bits in the activation "
        "unit; lookup must be given with load first");
    check_error(
        sums + settings + "activate acc=1 ub=0 rows=1 load; activate acc=1 ub=0 rows=1 lookup wide; halt",
        "instruction 4: activate ub=0 acc=1 rows=1 lookup wide: there is no table for 16 bits in the "
        "activation unit; lookup must be given with load first");
    check_runs("read_weights tile=0; matmul ub=0 acc=4 rows=2 accumulate\n" + settings +
               "activate acc=4 ub=0 rows=2 load; halt");
}

TEST_CASE("Initial rows lie inside the machine's memories") {
    const auto error = [](const std::string& text) -> std::string {
        try {
            Run run(declarations + text + "halt");
        } catch (const isa::ProgramError& thrown) {
            return thrown.what();
        }
        return "none";
    };
    CHECK(error(".unified_buffer 15 4 fill 1\n.accumulators 7 1 fill 1\n") == "none");
    CHECK(error(".unified_buffer 15 5 fill 1\n") ==
          "initial unified-buffer rows 15 to 16; the machine has 16 rows");
    CHECK(error(".accumulators 7 2 fill 1\n") == "initial accumulator rows 7 to 8; the machine has 8 rows");
}

TEST_CASE("The width of weights is that of the tile") {
    check_runs("read_weights tile=1; matmul ub=0 acc=0 rows=1 wide_w; halt");
    check_error("read_weights tile=1; matmul ub=0 acc=0 rows=1; halt",
                "instruction 1: matmul ub=0 acc=0 rows=1: the tile has weights of 16 bits; wide_w must be "
                "given");
    check_error("read_weights tile=0; matmul ub=0 acc=0 rows=1 wide_w; halt",
                "instruction 1: matmul ub=0 acc=0 rows=1 wide_w: the tile has weights of 8 bits; wide_w must "
                "not be given");
    check_error("read_weights tile=0; matmul ub=0 acc=0 rows=1; matmul ub=0 acc=0 rows=1 keep wide_w; halt",
                "instruction 2: matmul ub=0 acc=0 rows=1 keep wide_w: the tile has weights of 8 bits; wide_w "
                "must not be given");
}

TEST_CASE("Registers must make sense for the instruction") {
    check_error("read_weights tile=0; convolve ub=0 acc=0 lines=1; halt",
                "instruction 1: convolve ub=0 acc=0 lines=1: window.channels is 0; it must be at least 1");
    check_error("activate acc=0 ub=0 rows=1; halt",
                "instruction 0: activate ub=0 acc=0 rows=1 identity: activation.columns is 0; it must be at "
                "least 1");
}

TEST_CASE("A pooling window has at most as many pixels as pooling can count") {
    const auto program = [](std::uint64_t kernel_height) {
        return "set window.input_height 1; set window.input_width 1; set window.channels 1\n"
               "set window.output_height 1; set window.output_width 1; set window.kernel_width 65535\n"
               "set window.kernel_height " +
               std::to_string(kernel_height) + "\nvector max_pool dst=1 src=0 lines=1; halt";
    };
    check_runs(program(128));
    check_error(program(129),
                "instruction 7: vector max_pool dst=1 src=0 lines=1: window.kernel_height times "
                "window.kernel_width is 8454015; pooling takes at most 8388608");
}

#ifndef __SANITIZE_ADDRESS__  // which ends the process where memory cannot be had
TEST_CASE("A host buffer larger than this computer's memory is an error, or takes none until it is used") {
    const isa::Program program = isa::assemble(".array 1 1\n.buffer in input 0 0x10000000000\nhalt", "test");
    try {
        functional::Executor executor(program, small_machine(program.geometry, 1, 1));
        CHECK(executor.host_bytes(program.buffers[0]).size() == std::size_t{1} << 40);
    } catch (const isa::ProgramError& error) {
        CHECK(std::string(error.what()) ==
              "host buffer \"in\": bytes is 1099511627776; it must be at most what this computer has left");
    }
}
#endif
