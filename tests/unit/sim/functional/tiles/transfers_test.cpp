// docs/isa.md, "Machines with tiles": the instructions that move data.
#include <catch2/catch.hpp>

#include "tests/unit/sim/functional/tiles/tile_run.h"

using namespace systole::functional::tests;

namespace {

/// 3 x 3 pixels of two channels on 2 x 2 tiles, each pixel 3 bytes, with a margin above and one at the left:
/// what a tile stores begins at byte 5 and has 3 x 3 pixels.
const std::string image_of_nine = R"(
    .tiles 2 2 lanes=16 units=2
    .buffer in constant 0 18
      .int8 11 -11 12 -12 13 -13 21 -21 22 -22 23 -23 31 -31 32 -32 33 -33
    .buffer out output 100 20
    set result.lines 3; set result.columns 3; set result.channels 2; set result.pixel_bytes 3
    set result.top 1; set result.left 1
    set source.lines 3; set source.columns 3; set source.channels 2; set source.pixel_bytes 3
    set source.top 1; set source.left 1; set window.pad_value 99
    read_tensor in at=5
)";

/// The bytes of pixels of two channels and a byte that belongs to none; 0 for pixels that are zeros.
Bytes pixels(const std::vector<int>& numbers) {
    Bytes result;
    for (const int number : numbers) {
        result.push_back(static_cast<std::uint8_t>(number));
        result.push_back(static_cast<std::uint8_t>(number == 99 ? 99 : -number));
        result.push_back(0);
    }
    return result;
}

}  // namespace

TEST_CASE("read_tensor gives each tile its patch and nothing else") {
    TileRun run(image_of_nine + "halt");
    run.executor.run();
    CHECK(run.narrow(0, 0, 5) == Bytes(5));
    CHECK(run.narrow(0, 5, 27) == pixels({0, 0, 0, 0, 11, 12, 0, 21, 22}));
    CHECK(run.narrow(1, 5, 27) == pixels({0, 0, 0, 0, 13, 0, 0, 23, 0}));
    CHECK(run.narrow(2, 5, 27) == pixels({0, 0, 0, 0, 31, 32, 0, 0, 0}));
    CHECK(run.narrow(3, 5, 27) == pixels({0, 0, 0, 0, 33, 0, 0, 0, 0}));
    CHECK(run.narrow(0, 32, 224) == Bytes(224));
}

TEST_CASE("write_tensor collects the patches in the order line, column, channel") {
    TileRun run(image_of_nine + "write_tensor out+1 at=5\nhalt");
    run.executor.run();
    Bytes expected = run.program.buffers[0].contents;
    expected.insert(expected.begin(), 0);
    expected.push_back(0);
    CHECK(run.host(1) == expected);
}

TEST_CASE("exchange fills every stored pixel that a tile does not own") {
    TileRun run(image_of_nine + "exchange at=5\nhalt");
    run.executor.run();
    CHECK(run.narrow(0, 5, 27) == pixels({99, 99, 99, 99, 11, 12, 99, 21, 22}));
    // The patches at the image's right and lower border are cut off: the rest of them is outside.
    CHECK(run.narrow(1, 5, 27) == pixels({99, 99, 99, 12, 13, 99, 22, 23, 99}));
    CHECK(run.narrow(2, 5, 27) == pixels({99, 21, 22, 99, 31, 32, 99, 99, 99}));
    CHECK(run.narrow(3, 5, 27) == pixels({22, 23, 99, 32, 33, 99, 99, 99, 99}));
    CHECK(run.narrow(3, 32, 224) == Bytes(224));
}

TEST_CASE("exchange reaches beyond the next tile, and fills tiles that own no pixel") {
    // 5 pixels on 4 tiles: 2, 2, 1 and none. Margins of 3 pixels at the left and 1 at the right.
    TileRun run(R"(
        .tiles 1 4 lanes=16 units=1
        .buffer in constant 0 5
          .int8 1 2 3 4 5
        set result.lines 1; set result.columns 5; set result.channels 1; set result.left 3
        set result.right 1
        set source.lines 1; set source.columns 5; set source.channels 1; set source.left 3
        set source.right 1; set window.pad_value 0x1ff
        read_tensor in at=0
        exchange at=0
        halt)");
    run.executor.run();
    CHECK(run.narrow(0, 0, 6) == bytes_of({255, 255, 255, 1, 2, 3}));
    CHECK(run.narrow(1, 0, 6) == bytes_of({255, 1, 2, 3, 4, 5}));
    CHECK(run.narrow(2, 0, 6) == bytes_of({2, 3, 4, 5, 255, 255}));
    CHECK(run.narrow(3, 0, 6) == bytes_of({4, 5, 255, 255, 255, 255}));
}

TEST_CASE("collect copies a whole image into every tile") {
    TileRun run(image_of_nine + "collect dst=40 src=5\nhalt");
    run.executor.run();
    for (std::uint64_t tile = 0; tile < 4; ++tile) {
        CAPTURE(tile);
        CHECK(run.narrow(tile, 40, 18) == run.program.buffers[0].contents);
        CHECK(run.narrow(tile, 58, 198) == Bytes(198));
    }
}

TEST_CASE("A vector over lanes goes from tile to tile, and then round again") {
    // Two tiles of 16 lanes; 50 elements: 16 and 16, then 16 and 2 behind these. The image has a pixel for
    // each tile, which holds the tile's bytes.
    TileRun run(R"(
        .tiles 1 2 lanes=16 units=1
        .buffer in input 0 64
        .buffer out output 100 52
        set result.lines 1; set result.columns 2; set result.channels 32
        read_tensor in at=8
        set source.channels 50
        write_tensor out+1 at=8 over_lanes
        collect dst=100 src=8 over_lanes
        halt)");
    const auto in = run.executor.host_bytes(run.program.buffers[0]);
    for (std::size_t tile = 0; tile < 2; ++tile) {
        for (std::size_t i = 0; i < 32; ++i) {
            const std::size_t element = i / 16 * 32 + tile * 16 + i % 16;
            in[tile * 32 + i] = static_cast<std::uint8_t>(element + 1);
        }
    }
    run.executor.run();
    Bytes counted;
    for (int i = 1; i <= 50; ++i) counted.push_back(static_cast<std::uint8_t>(i));
    CHECK(run.narrow(0, 100, 50) == counted);
    CHECK(run.narrow(1, 100, 50) == counted);
    CHECK(run.narrow(1, 150, 106) == Bytes(106));
    counted.insert(counted.begin(), 0);
    counted.push_back(0);
    CHECK(run.host(1) == counted);
}

TEST_CASE("read_parameters numbers units through the tiles") {
    TileRun run(R"(
        .tiles 1 2 lanes=16 units=3
        .buffer p constant 0 130 random 5
        read_parameters p+2 unit=2 units=2
        read_program 1000
        halt)");
    run.executor.run();
    const Bytes contents = run.program.buffers[0].contents;
    CHECK(run.wide(2, 2) == Bytes(contents.begin() + 2, contents.end()));
    CHECK(run.wide(0, 2) == Bytes(128));
    CHECK(run.wide(4, 2) == Bytes(128));
}

TEST_CASE("Every run of tiles begins with empty memories and the host memory as it is") {
    TileRun run(R"(
        .tiles 1 1 lanes=16 units=1
        .buffer in input 0 64
        .buffer out output 64 1
        set result.lines 1; set result.columns 1; set result.channels 1
        set source.lines 1; set source.columns 1; set source.channels 1
        write_tensor out at=0
        read_tensor in at=0
        read_parameters in unit=0 units=1
        set source.columns 7
        halt)");
    run.executor.host_bytes(run.program.buffers[0])[0] = 7;
    run.executor.host_bytes(run.program.buffers[1])[0] = 99;
    CHECK(run.narrow(0, 0, 1) == Bytes{0});
    for (int time = 0; time < 2; ++time) {
        run.executor.run();
        CHECK(run.host(1) == Bytes{0});  // not the 7 of the run before
        CHECK(run.narrow(0, 0, 1) == Bytes{7});
        CHECK(run.wide(0, 1)[0] == 7);
    }
}

TEST_CASE("Instructions of tiles after a halt are not executed") {
    TileRun run(R"(
        .tiles 1 1 lanes=16 units=1
        nop; tag 7; sync.wait ring sem=3; sync.signal mesh sem=9; interrupt
        halt
        exchange at=0
        halt)");
    CHECK_NOTHROW(run.executor.run());
}

namespace {

/// 2 x 3 pixels, 1 to 6, moved into 3 x 4 pixels of 9 on 2 x 2 tiles.
Bytes moved(const std::string& text) {
    TileRun run(R"(
        .tiles 2 2 lanes=16 units=1
        .buffer in constant 0 6
          .uint8 1 2 3 4 5 6
        .buffer before constant 16 12
          .uint8 9 9 9 9 9 9 9 9 9 9 9 9
        .buffer out output 32 12
        set result.lines 2; set result.columns 3; set result.channels 1; set result.left 1
        read_tensor in at=0
        set result.lines 3; set result.columns 4; set result.left 0; set result.pixel_bytes 2
        read_tensor before at=40
        set source.lines 2; set source.columns 3; set source.channels 1; set source.left 1
        set window.pad_value 0x107
        )" + text +
                R"(
        set source.lines 3; set source.columns 4; set source.left 0; set source.pixel_bytes 2
        write_tensor out at=40
        halt)");
    run.executor.run();
    return run.host(2);
}

}  // namespace

TEST_CASE("move puts pixels elsewhere") {
    CHECK(moved("set window.pad_top 1; set window.pad_left 1\nmove dst=40 src=0") ==
          Bytes{7, 7, 7, 7, 7, 1, 2, 3, 7, 4, 5, 6});
    CHECK(moved("set window.pad_top 1; set window.pad_left 1\nmove dst=40 src=0 keep") ==
          Bytes{9, 9, 9, 9, 9, 1, 2, 3, 9, 4, 5, 6});
    CHECK(moved("set window.pad_top -1; set window.pad_left -1\nmove dst=40 src=0") ==
          Bytes{5, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7});
    // Two apart; then each twice, and every second line.
    const std::string apart = "set window.dilation_y 2; set window.dilation_x 2\n";
    CHECK(moved(apart + "move dst=40 src=0") == Bytes{1, 7, 2, 7, 7, 7, 7, 7, 4, 7, 5, 7});
    CHECK(moved(apart + "move dst=40 src=0 repeat") == Bytes{1, 1, 2, 2, 1, 1, 2, 2, 4, 4, 5, 5});
    CHECK(moved("set window.stride_y 2\nmove dst=40 src=0") == Bytes{1, 2, 3, 7, 7, 7, 7, 7, 7, 7, 7, 7});
}
