// docs/isa.md, "Blocks of parameters": products take blocks in the order in which they are sent.
#include <catch2/catch.hpp>

#include "hw/isa/program_error.h"
#include "tests/unit/sim/functional/tiles/tile_run.h"

using namespace systole;
using namespace systole::functional::tests;
using Catch::Matchers::Message;

namespace {

/// Images of 1 x 5 pixels on 1 x 2 tiles, 3 of them in the first: two parts, as tiles have sums for 2 pixels.
/// Outputs have two groups of 16 lanes, with blocks of 2 rows.
const std::string block_declarations = R"(
    .tiles 1 2 lanes=16 units=8
    .buffer p constant 0x100 512 fill 0
    set source.lines 1; set source.columns 5; set source.channels 1
    set result.lines 1; set result.columns 5; set result.channels 20
)";
constexpr int first_instruction = 6;
const std::string product = "tile_multiply convolve fixed_point dst=100 src=0 unit=2";
const std::string streamed_product = "tile_multiply convolve fixed_point streamed dst=100 src=0 0x100";

void execute_blocks(const std::string& instructions) {
    TileRun run(block_declarations + instructions + "\nhalt", {.narrow_bytes = 256, .positions = 2});
    run.executor.run();
}

void check_block_error(const std::string& instructions, int number, const std::string& message) {
    CHECK_THROWS_MATCHES(
        execute_blocks(instructions), isa::ProgramError,
        Message("instruction " + std::to_string(first_instruction + number) + ": " + message));
}

std::string refused_block(const std::string& message) {
    return "tile_multiply convolve fixed_point dst=100 src=0 unit=2: " + message;
}

}  // namespace

TEST_CASE("A product takes all groups for each part of the pixels that a tile has sums for at once") {
    CHECK_NOTHROW(execute_blocks("multicast unit=2 rows=2 units=1 groups=2 repeats=2\n" + product));
    // One by one, and for several products at once.
    const std::string first = "multicast unit=2 rows=2 units=1\n";
    const std::string second = "multicast unit=4 rows=2 units=1\n";
    CHECK_NOTHROW(execute_blocks(first + second + first + second + product));
    CHECK_NOTHROW(
        execute_blocks("multicast unit=2 rows=2 units=1 groups=2 repeats=4\n" + product + "\n" + product));
}

TEST_CASE("A product that finds another block or none is an error that names both") {
    check_block_error(product, 0,
                      refused_block("there is no block on the ring; the product needs 2 rows of 1 units from "
                                    "unit 2 on"));
    check_block_error(
        "multicast unit=2 rows=2 units=1 groups=2\n" + product, 1,
        refused_block("there is no block on the ring; the product needs 2 rows of 1 units from unit 2 on"));
    check_block_error(
        "multicast unit=2 rows=2 units=1 repeats=4\n" + product, 1,
        refused_block("the next block on the ring is 2 rows of 1 units from unit 2 on; the product needs 2 "
                      "rows of 1 units from unit 4 on"));
    check_block_error(
        "multicast unit=2 rows=3 units=1 groups=2 repeats=2\n" + product, 1,
        refused_block("the next block on the ring is 3 rows of 1 units from unit 2 on; the product needs 2 "
                      "rows of 1 units from unit 2 on"));
    check_block_error(
        "stream_parameters 0x100 rows=2 units=1 groups=2 repeats=2\n"
        "multicast 0x100 rows=2 units=1 groups=2 repeats=2 streamed\n" +
            product,
        2,
        refused_block(
            "the next block on the ring is 2 rows of 1 units from host address 0x100 on; the product "
            "needs 2 rows of 1 units from unit 2 on"));
}

TEST_CASE("A dense product takes no block") {
    CHECK_NOTHROW(execute_blocks("tile_multiply dense fixed_point dst=100 src=0 unit=2"));
}

TEST_CASE("multicast takes the blocks that stream_parameters has sent, in their order") {
    const std::string stream = "stream_parameters 0x100 rows=2 units=1 groups=2 repeats=2\n";
    const std::string send = "multicast 0x100 rows=2 units=1 groups=2 repeats=2 streamed";
    CHECK_NOTHROW(execute_blocks(stream + send + "\n" + streamed_product));
    // The second group of each repetition by itself.
    CHECK_NOTHROW(
        execute_blocks(stream +
                       "multicast 0x100 rows=2 units=1 streamed; multicast 0x180 rows=2 units=1 streamed\n"
                       "multicast 0x100 rows=2 units=1 groups=2 streamed\n" +
                       streamed_product));
    check_block_error(
        send, 0,
        "multicast 0x100 rows=2 units=1 groups=2 repeats=2 streamed: there is no block in the staging "
        "buffer; multicast needs 2 rows of 1 units from host address 0x100 on");
    check_block_error(
        "stream_parameters 0x100 rows=2 units=1 repeats=4\n" + send, 1,
        "multicast 0x100 rows=2 units=1 groups=2 repeats=2 streamed: the next block in the staging "
        "buffer is 2 rows of 1 units from host address 0x100 on; multicast needs 2 rows of 1 units "
        "from host address 0x180 on");
}
