// A program for tiles in which nothing moves any more names what its units wait for.
#include <catch2/catch.hpp>
#include <string>

#include "hw/isa/assembly.h"
#include "hw/isa/program_error.h"
#include "hw/machine/machine_config.h"
#include "hw/system/system.h"
#include "tests/support/fresh_simulation.h"

using namespace systole;
using Catch::Contains;

namespace {

const std::string stuck = "the program cannot finish: ";
/// An image of 4 x 4 pixels, over 4 x 4 tiles, for products of one row of weights.
const std::string layout =
    "set source.lines 4; set source.columns 4; set source.channels 4\n"
    "set result.lines 4; set result.columns 4; set result.channels 16\n";
const std::string product = "tile_multiply convolve fixed_point dst=64 src=0 unit=0\n";

std::string error_of(const std::string& text) {
    machine::MachineConfig machine;
    machine.family = machine::Family::EdgeTpu;
    machine.tile_array.weight_buffers = 2;
    machine.staging_buffer.bytes = 4096;
    const isa::Program program = isa::assemble(
        ".tiles 4 4\n.buffer weights constant 0 65536\n.int8 65536*0\n" + text + "halt\n", "test");
    const tests::FreshSimulation simulation;
    hw::System system("system", machine, program, {});
    try {
        system.run();
    } catch (const isa::ProgramError& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("Tiles whose weights are never sent name the ring", "[order]") {
    CHECK_THAT(error_of(layout + product),
               Contains(stuck + "tiles waits in instruction 6 (tile_multiply") &&
                   Contains(") for weights on the ring, which no multicast sends; sequencer waits"));
    CHECK_THAT(error_of(layout + "sync.wait ring sem=0\nmulticast unit=0 rows=2 units=1\n" + product),
               Contains(stuck + "ring waits in instruction 6 (sync.wait ring sem=0) for semaphore 0") &&
                   Contains(") for weights on the ring, which instruction 7 sends"));
}

TEST_CASE("A multicast that nobody takes names the tiles", "[order]") {
    const std::string fits = "multicast unit=0 rows=2 units=1 groups=2\n";
    CHECK(error_of(fits).empty());
    CHECK_THAT(error_of(fits + fits), Contains(stuck + "ring waits in instruction 1 (multicast") &&
                                          Contains(") for a free weight buffer, whose weights no instruction "
                                                   "takes; sequencer waits"));
    CHECK_THAT(
        error_of(layout + "sync.wait tiles sem=0\n" + fits + "multicast unit=0 rows=2 units=1\n" + product),
        Contains(stuck + "tiles waits in instruction 6 (sync.wait") &&
            Contains("ring waits in instruction 8") && Contains("whose weights instruction 9 takes"));
}

TEST_CASE("Parameters that are streamed and not sent on name the staging buffer", "[order]") {
    const std::string fits = "stream_parameters weights rows=64 units=1\n";  // 4,096 bytes
    const std::string sent = "multicast weights rows=64 units=1 streamed\n";
    CHECK(error_of(fits).empty());
    CHECK_THAT(error_of(fits + fits),
               Contains(stuck + "host_read waits in instruction 1 (stream_parameters") &&
                   Contains(") for room in the staging buffer, whose parameters no "
                            "multicast sends; sequencer waits"));
    CHECK_THAT(error_of(sent), Contains(stuck + "ring waits in instruction 0 (multicast") &&
                                   Contains(") for parameters in the staging buffer, which no "
                                            "stream_parameters brings; sequencer waits"));
    CHECK_THAT(error_of("sync.wait ring sem=0\n" + fits + fits + sent),
               Contains(stuck + "ring waits in instruction 0 (sync.wait") &&
                   Contains("host_read waits in instruction 2") &&
                   Contains("whose parameters instruction 3 sends"));
    CHECK_THAT(error_of("sync.wait host_read sem=0\n" + fits + sent),
               Contains(stuck + "host_read waits in instruction 0 (sync.wait") &&
                   Contains("in the staging buffer, which instruction 1 brings"));
}
