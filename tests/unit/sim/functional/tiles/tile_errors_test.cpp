// Programs for tiles that cannot be executed: the message names the instruction's number, text and the rule.
#include <catch2/catch.hpp>

#include "hw/isa/program_error.h"
#include "hw/machine/machine_config.h"
#include "sim/functional/executor.h"
#include "tests/unit/sim/functional/tiles/tile_run.h"

using namespace systole;
using namespace systole::functional::tests;
using Catch::Matchers::Message;

namespace {

/// Tiles with 64 bytes of narrow memory. An image of 4 x 4 pixels on 2 x 2 tiles takes 4 bytes of each.
const std::string wrong_declarations = R"(
    .tiles 2 2 lanes=16 units=2
    .buffer low input 0x10 128
    .buffer high output 0x200 16
    set source.lines 4; set source.columns 4; set source.channels 1
    set result.lines 4; set result.columns 4; set result.channels 1
)";

void execute_wrong(const std::string& instructions) {
    TileRun run(wrong_declarations + instructions, {.narrow_bytes = 64, .positions = 64});
    run.executor.run();
}

void check_tile_program(const std::string& instructions, const std::string& message) {
    CHECK_THROWS_MATCHES(execute_wrong(instructions), isa::ProgramError, Message(message));
}

}  // namespace

TEST_CASE("A program for tiles without halt does not run") {
    check_tile_program("nop", "instruction 6: nop: the program must end in a halt");
    TileRun run(".tiles 1 1");
    CHECK_THROWS_MATCHES(run.executor.run(), isa::ProgramError,
                         Message("the program is empty; it must end in a halt"));
}

TEST_CASE("A program is for the machine's kind") {
    CHECK_THROWS_MATCHES(TileRun(".array 4 2\nhalt"), isa::ProgramError,
                         Message("the program is not for tiles, which the machine has"));
    const isa::Program program = isa::assemble(".tiles 1 1\nexchange at=0\nhalt", "test");
    CHECK_THROWS_MATCHES(functional::Executor(program, machine::MachineConfig{}), isa::ProgramError,
                         Message("the program is for tiles; the machine has a unified buffer"));
}

TEST_CASE("A program for tiles keeps the rules of programs") {
    isa::Program program = isa::assemble(wrong_declarations + "halt", "test");
    program.instructions.insert(program.instructions.begin(), isa::ReadHostMemory{.block_bytes = 1});
    CHECK_THROWS_AS(TileRun(program), isa::ProgramError);
}

TEST_CASE("Bytes lie inside a tile's narrow memory") {
    CHECK_NOTHROW(execute_wrong("read_tensor low at=60; exchange at=60; write_tensor high at=60; halt"));
    const std::string rule = ": narrow-memory bytes 61 to 64; a tile has 64";
    check_tile_program("read_tensor low at=61; halt", "instruction 6: read_tensor 0x10 at=61" + rule);
    check_tile_program("write_tensor high at=61; halt", "instruction 6: write_tensor 0x200 at=61" + rule);
    check_tile_program("exchange at=61; halt", "instruction 6: exchange at=61" + rule);
    check_tile_program("collect dst=0 src=61; halt", "instruction 6: collect dst=0 src=61" + rule);
    check_tile_program("collect dst=61 src=0; halt",
                       "instruction 6: collect dst=61 src=0: narrow-memory bytes 61 to 76; a tile has 64");
    check_tile_program("tile_vector maximum fixed_point dst=8 src=0 other=61; halt",
                       "instruction 6: tile_vector maximum fixed_point dst=8 src=0 other=61" + rule);
}

TEST_CASE("Units lie inside wide memory") {
    CHECK_NOTHROW(execute_wrong("read_parameters low unit=6 units=2; multicast unit=6 rows=2 units=1; halt"));
    const std::string rule = ": wide-memory units 7 to 8; the machine has 8";
    check_tile_program("read_parameters low unit=7 units=2; halt",
                       "instruction 6: read_parameters 0x10 unit=7 units=2" + rule);
    check_tile_program("multicast unit=7 rows=2 units=1; halt",
                       "instruction 6: multicast unit=7 rows=2 units=1" + rule);
}

TEST_CASE("Transfers of tiles stay inside one host buffer") {
    CHECK_NOTHROW(execute_wrong("stream_parameters low rows=2 units=1; read_tensor 0x80 at=0; halt"));
    const auto rule = [](const std::string& bytes, const std::string& address) {
        return ": " + bytes + " bytes from host address " + address + " on must lie in one host buffer";
    };
    check_tile_program("read_parameters low+1 unit=0 units=2; halt",
                       "instruction 6: read_parameters 0x11 unit=0 units=2" + rule("128", "0x11"));
    check_tile_program("stream_parameters low+1 rows=2 units=1; halt",
                       "instruction 6: stream_parameters 0x11 rows=2 units=1" + rule("128", "0x11"));
    check_tile_program("read_tensor 0x81 at=0; halt",
                       "instruction 6: read_tensor 0x81 at=0" + rule("16", "0x81"));
    check_tile_program("write_tensor high+1 at=0; halt",
                       "instruction 6: write_tensor 0x201 at=0" + rule("16", "0x201"));
}

TEST_CASE("Registers of tiles must make sense for the instruction") {
    check_tile_program("set result.lines 0; read_tensor low at=0; halt",
                       "instruction 7: read_tensor 0x10 at=0: result.lines is 0; it must be from 1 to 65535");
    check_tile_program(
        "tile_multiply dense fixed_point dst=0 src=0 unit=0; halt",
        "instruction 6: tile_multiply dense fixed_point dst=0 src=0 unit=0: it may not write bytes "
        "that it reads");
}

namespace {

/// Adds 1 to each byte.
class AddingHost final : public isa::HostProcessor {
public:
    Cycle cycles(const isa::HostWork& /*work*/) const override { return 0; }
    void compute(const isa::HostWork& /*work*/, const isa::HostTensors& tensors) override {
        for (std::size_t i = 0; i < tensors.writes[0].size(); ++i) {
            tensors.writes[0][i] = static_cast<std::uint8_t>(tensors.reads[0][i] + 1);
        }
    }
};

}  // namespace

TEST_CASE("The host computes segments of a program for tiles") {
    const isa::Program program = isa::assemble(R"(
        .tiles 1 1
        .buffer in input 0 4
        .buffer out output 8 4
        .host_segment s
        .reads in 2; .writes out 2
        host_work segment=0 first=1 images=1
        halt)",
                                               "test");
    AddingHost host;
    const functional::TileSizes sizes{.narrow_bytes = 1, .positions = 1};
    functional::TileExecutor executor(program, sizes, &host);
    const auto in = executor.host_bytes(program.buffers[0]);
    for (std::size_t i = 0; i < 4; ++i) in[i] = static_cast<std::uint8_t>(10 + i);
    executor.run();
    const auto out = executor.host_bytes(program.buffers[1]);
    CHECK(Bytes(out.begin(), out.end()) == Bytes{0, 0, 13, 14});
    functional::TileExecutor without(program, sizes);
    CHECK_THROWS_MATCHES(without.run(), isa::ProgramError,
                         Message("instruction 0: host_work segment=0 first=1 images=1: there is no host that "
                                 "computes the segment"));
}
