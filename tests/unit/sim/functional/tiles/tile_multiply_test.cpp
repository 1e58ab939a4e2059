// docs/isa.md, "tile_multiply".
#include <catch2/catch.hpp>

#include "tests/unit/sim/functional/tiles/tile_run.h"

using namespace systole;
using namespace systole::functional::tests;

namespace {

/// Two pixels of two channels at byte 0 of a tile, less 1: (2, 4) and (6, 0).
const std::string two_pixels = R"(
    .tiles 1 1 lanes=16 units=4
    .buffer in constant 0 4
      .uint8 3 5 7 1
    set result.lines 1; set result.columns 2; set result.channels 2
    read_tensor in at=0
    set source.lines 1; set source.columns 2; set source.channels 2; set source.zero_point 1
    set multiply.weight_zero_point 1; set output.zero_point 100
)";

/// Biases 10 and -5; weights (1, 2) and (-1, 3), plus 1. So sums are 20 and 5, 16 and -11. `multipliers`: the
/// rows between biases and weights.
std::string parameters(int rows, const std::string& multipliers = "") {
    return ".buffer p constant 0x100 " + std::to_string(rows * 64) + "\n.int32 10 -5 14*0\n" + multipliers +
           "\n.int8 2 3 0 0  0 4 0 0  56*0\nread_parameters p unit=0 units=" + std::to_string(rows) +
           "\nmulticast unit=0 rows=" + std::to_string(rows) + " units=1\n";
}

Bytes two_pixels_with(const std::string& text) {
    TileRun run(two_pixels + text + "\nhalt");
    run.executor.run();
    CHECK(run.narrow(0, 0, 4) == Bytes{3, 5, 7, 1});
    CHECK(run.narrow(0, 36, 220) == Bytes(220));
    return run.narrow(0, 32, 4);
}

}  // namespace

TEST_CASE("tile_multiply adds products up and scales the sums by half, by each rule of rounding") {
    const std::string setting = parameters(2) + "set vector.multiplier ";
    // 10, 2.5, 8 and -5.5.
    CHECK(two_pixels_with(setting + "0x40000000\ntile_multiply convolve fixed_point signed_weights dst=32 "
                                    "src=0 unit=0") == bytes_of({110, 103, 108, 95}));
    CHECK(two_pixels_with(setting + "0x40000000\ntile_multiply convolve to_even signed_weights dst=32 "
                                    "src=0 unit=0") == bytes_of({110, 102, 108, 94}));
    CHECK(two_pixels_with(setting + "0x3f000000\ntile_multiply convolve float signed_weights dst=32 "
                                    "src=0 unit=0") == bytes_of({110, 102, 108, 94}));
    // The shift is no part of a float32 multiplier.
    CHECK(two_pixels_with(setting + "0x40000000; set vector.shift 1\ntile_multiply convolve fixed_point "
                                    "signed_weights dst=32 src=0 unit=0") == bytes_of({120, 105, 116, 89}));
    CHECK(two_pixels_with(setting + "0x3f000000; set vector.shift 1\ntile_multiply convolve float "
                                    "signed_weights dst=32 src=0 unit=0") == bytes_of({110, 102, 108, 94}));
}

TEST_CASE("tile_multiply clamps to the range of its results and stores the low byte") {
    CHECK(two_pixels_with(parameters(2) +
                          "set vector.multiplier 0x40000000; set output.minimum 103; set output.maximum 108\n"
                          "tile_multiply convolve fixed_point signed_weights dst=32 src=0 unit=0") ==
          bytes_of({108, 103, 108, 103}));
    // As int8, with a zero point of -120: -110, -117, -112, -125; 8 bits hold elements from 0 on alike.
    CHECK(two_pixels_with(
              parameters(2) +
              "set vector.multiplier 0x40000000; set output.zero_point -120; set output.minimum -128\n"
              "set output.maximum 127\n"
              "tile_multiply convolve fixed_point signed signed_weights dst=32 src=0 unit=0") ==
          bytes_of({-110, -117, -112, -125}));
}

TEST_CASE("Elements and weights are two's complement or not, each by its flag") {
    // An element of 200 or -56, a weight of 254 or -2; the result is its 64th part.
    const auto product = [](const std::string& flags) {
        TileRun run(R"(
            .tiles 1 1 lanes=16 units=2
            .buffer in constant 0 1
              .uint8 200
            .buffer p constant 0x100 128
              .int32 16*0
              .uint8 254 63*0
            set result.lines 1; set result.columns 1; set result.channels 1
            read_tensor in at=0
            read_parameters p unit=0 units=2
            multicast unit=0 rows=2 units=1
            set source.lines 1; set source.columns 1; set source.channels 1
            set vector.multiplier 0x40000000; set vector.shift -5; set output.maximum 127
            tile_multiply convolve fixed_point dst=1 src=0 unit=0 )" +
                    flags + "\nhalt");
        run.executor.run();
        return run.narrow(0, 1, 1)[0];
    };
    CHECK(product("") == 127);                     // 200 * 254 / 64 = 794, clamped
    CHECK(product("signed") == 0);                 // -56 * 254 < 0, clamped
    CHECK(product("signed_weights") == 0);         // 200 * -2 < 0, clamped
    CHECK(product("signed signed_weights") == 2);  // -56 * -2 / 64 = 1.75
}

TEST_CASE("With by_channel each output channel has the multiplier of its block") {
    // By half and by one: 10 and 5, 8 and -11.
    const Bytes expected = bytes_of({110, 105, 108, 89});
    CHECK(two_pixels_with(parameters(4, ".int32 2*0x40000000 14*0 0 1 14*0") +
                          "tile_multiply convolve fixed_point signed_weights by_channel dst=32 src=0 "
                          "unit=0") == expected);
    CHECK(two_pixels_with(parameters(4, ".int32 2*0x40000000 14*0 0 1 14*0") +
                          "tile_multiply convolve to_even signed_weights by_channel dst=32 src=0 unit=0") ==
          expected);
    CHECK(two_pixels_with(parameters(3, ".int32 0x3f000000 0x3f800000 14*0") +
                          "tile_multiply convolve float signed_weights by_channel dst=32 src=0 unit=0") ==
          expected);
    // By half and by 0.1, in float64: 10 and 0.5, 8 and -1.1. Halves go away from zero; 0.1 is
    // 0x3fb999999999999a, and 5 * 0.1 is 0.5.
    CHECK(two_pixels_with(parameters(4, ".int32 0 -0x66666666 14*0 0x3fe00000 0x3fb99999 14*0") +
                          "tile_multiply convolve real signed_weights by_channel dst=32 src=0 unit=0") ==
          bytes_of({110, 101, 108, 99}));
}

TEST_CASE("A sum of products wraps around in 32 bits") {
    // 2^31 - 1 + 2: far below zero.
    TileRun run(R"(
        .tiles 1 1 lanes=16 units=2
        .buffer in constant 0 1
          .uint8 2
        .buffer p constant 0x100 128
          .int32 0x7fffffff 15*0
          .int8 1 63*0
        set result.lines 1; set result.columns 1; set result.channels 1
        read_tensor in at=0
        read_parameters p unit=0 units=2
        multicast unit=0 rows=2 units=1
        set source.lines 1; set source.columns 1; set source.channels 1
        set vector.multiplier 0x40000000; set vector.shift -24; set output.zero_point 200
        tile_multiply convolve fixed_point dst=1 src=0 unit=0
        halt)");
    run.executor.run();
    CHECK(run.narrow(0, 1, 1) == Bytes{200 - 64});
}

namespace {

/// Windows of 1 x 3 over 4 pixels on two tiles; all weights are 1.
Bytes sums_of_three(const std::string& exchange) {
    TileRun run(R"(
        .tiles 1 2 lanes=16 units=1
        .buffer in constant 0 4
          .int8 1 2 3 4
        .buffer p constant 0x100 128
          .int32 16*0
          .int8 1 1 1 0 60*0
        .buffer out output 0x200 4
        set result.lines 1; set result.columns 4; set result.channels 1; set result.left 1
        set result.right 1; set window.pad_value 10
        read_tensor in at=0
        read_parameters p unit=0 units=2
        multicast unit=0 rows=2 units=1
        set source.lines 1; set source.columns 4; set source.channels 1; set source.left 1
        set source.right 1)" +
                exchange + R"(
        set result.left 0; set result.right 0
        set window.kernel_width 3; set window.pad_left 1
        set vector.multiplier 0x40000000; set vector.shift 1
        tile_multiply convolve fixed_point dst=100 src=0 unit=0
        set source.left 0; set source.right 0
        write_tensor out at=100
        halt)");
    run.executor.run();
    return run.host(2);
}

}  // namespace

TEST_CASE("Windows reach into the margins, which only exchange fills") {
    CHECK(sums_of_three("\nexchange at=0") == Bytes{13, 6, 9, 17});
    CHECK(sums_of_three("") == Bytes{3, 3, 7, 7});
}

TEST_CASE("Windows have strides, dilation and padding") {
    // 5 x 5 pixels, 10 * line + column; kernel 2 x 2 with dilation (3, 2), stride (1, 2), padding (1, 1).
    TileRun run(R"(
        .tiles 1 1 lanes=16 units=2
        .buffer in constant 0 25
          .int8 0 1 2 3 4 10 11 12 13 14 20 21 22 23 24 30 31 32 33 34 40 41 42 43 44
        .buffer p constant 0x100 128
          .int32 16*0
          .int8 1 1 1 2 60*0
        set result.lines 5; set result.columns 5; set result.channels 1
        set result.top 1; set result.left 1
        read_tensor in at=0
        set source.lines 5; set source.columns 5; set source.channels 1
        set source.top 1; set source.left 1
        exchange at=0
        read_parameters p unit=0 units=2
        multicast unit=0 rows=2 units=1
        set window.kernel_height 2; set window.kernel_width 2; set window.dilation_y 3
        set window.dilation_x 2; set window.stride_x 2; set window.pad_top 1; set window.pad_left 1
        set result.lines 2; set result.columns 2; set result.top 0; set result.left 0
        set vector.multiplier 0x40000000; set vector.shift 1
        tile_multiply convolve fixed_point dst=100 src=0 unit=0
        halt)");
    run.executor.run();
    // Corners (-1, -1), (-1, 1), (0, -1), (0, 1).
    CHECK(run.narrow(0, 100, 4) == bytes_of({2 * 21, 21 + 2 * 23, 1 + 2 * 31, 1 + 3 + 31 + 2 * 33}));
}

TEST_CASE("A depthwise product has a multiple of the source's channels") {
    // Two channels, 3 and 5, times 1 and 2, and 3 and 4.
    TileRun run(R"(
        .tiles 1 1 lanes=16 units=2
        .buffer in constant 0 2
          .int8 3 5
        .buffer p constant 0x100 128
          .int32 16*0
          .int8 1 0 0 0  2 0 0 0  3 0 0 0  4 0 0 0  48*0
        set result.lines 1; set result.columns 1; set result.channels 2
        read_tensor in at=0
        read_parameters p unit=0 units=2
        multicast unit=0 rows=2 units=1
        set source.lines 1; set source.columns 1; set source.channels 2; set result.channels 4
        set vector.multiplier 0x40000000; set vector.shift 1
        tile_multiply depthwise fixed_point dst=10 src=0 unit=0
        halt)");
    run.executor.run();
    CHECK(run.narrow(0, 10, 6) == Bytes{3, 6, 15, 20, 0, 0});
}

TEST_CASE("Groups of output channels have a block each, and the last one may be smaller") {
    // 20 outputs on 16 lanes: output n is n + 2 times the element. The second block has 16 lanes too.
    isa::Program program = isa::assemble(R"(
        .tiles 1 1 lanes=16 units=8
        .buffer in constant 0 1
          .int8 3
        .buffer p constant 0x100 256 fill 0
        set result.lines 1; set result.columns 1; set result.channels 1
        read_tensor in at=0
        read_parameters p unit=3 units=4
        multicast unit=3 rows=2 units=1 groups=2
        set source.lines 1; set source.columns 1; set source.channels 1; set result.channels 20
        set vector.multiplier 0x40000000; set vector.shift 1
        tile_multiply convolve fixed_point dst=10 src=0 unit=3
        halt)",
                                         "test");
    Bytes expected;
    for (std::size_t n = 0; n < 20; ++n) {
        program.buffers[1].contents[n / 16 * 128 + 64 + n % 16 * 4] = static_cast<std::uint8_t>(n + 2);
        expected.push_back(static_cast<std::uint8_t>(3 * (n + 2)));
    }
    TileRun run(program);
    run.executor.run();
    CHECK(run.narrow(0, 10, 20) == expected);
}

TEST_CASE("A dense product has its weights in the wide memory of the tile that computes a group") {
    // 40 outputs on two tiles of 16 lanes: groups 0 and 2 in tile 0, group 1 in tile 1. Output n is
    // 5 + 2 * n + bias, with a bias of 100 in group 1 alone.
    isa::Program program = isa::assemble(R"(
        .tiles 1 2 lanes=16 units=8
        .buffer in constant 0 3
          .int8 5 6 2
        .buffer p constant 0x100 384 fill 0
        .buffer out output 0x400 40
        set result.lines 1; set result.columns 1; set result.channels 3
        read_tensor in at=0
        set source.lines 1; set source.columns 1; set source.channels 3
        collect dst=20 src=0
        read_parameters p unit=6 units=1
        read_parameters p+64 unit=8 units=1
        read_parameters p+128 unit=7 units=1
        read_parameters p+192 unit=9 units=1
        read_parameters p+256 unit=10 units=1
        read_parameters p+320 unit=12 units=1
        set result.channels 40; set vector.multiplier 0x40000000; set vector.shift 1
        tile_multiply dense fixed_point dst=30 src=20 unit=3
        set source.channels 40
        write_tensor out at=30 over_lanes
        halt)",
                                         "test");
    Bytes expected;
    for (std::size_t n = 0; n < 40; ++n) {
        const std::size_t group = n / 16 * 128;
        Bytes& block = program.buffers[1].contents;
        if (n / 16 == 1) block[group + n % 16 * 4] = 100;
        block[group + 64 + n % 16 * 4] = 1;
        block[group + 64 + n % 16 * 4 + 2] = static_cast<std::uint8_t>(n);
        expected.push_back(static_cast<std::uint8_t>(5 + 2 * n + (n / 16 == 1 ? 100 : 0)));
    }
    TileRun run(program);
    run.executor.run();
    CHECK(run.host(2) == expected);
    // Only lanes with an output write.
    CHECK(run.narrow(0, 30 + 16 + 8, 8) == Bytes(8));
    CHECK(run.narrow(1, 30 + 16, 16) == Bytes(16));
}

TEST_CASE("A streamed product reads its blocks in host memory") {
    const std::string text = R"(
        .buffer p constant 0x100 130
          .int8 2*0
          .int32 10 -5 14*0
          .int8 2 3 0 0  0 4 0 0  56*0
        stream_parameters p+2 rows=2 units=1
        multicast p+2 rows=2 units=1 streamed
        set vector.multiplier 0x40000000
        tile_multiply convolve fixed_point signed_weights streamed dst=32 src=0 p+2)";
    CHECK(two_pixels_with(text) == bytes_of({110, 103, 108, 95}));
}
