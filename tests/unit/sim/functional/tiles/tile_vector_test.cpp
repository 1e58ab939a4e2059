// docs/isa.md, "tile_vector".
#include <catch2/catch.hpp>

#include "tests/unit/sim/functional/tiles/tile_run.h"

using namespace systole::functional::tests;

namespace {

/// Two images of 1 x 4 pixels of a channel on two tiles, at bytes 0 and 8; the first with a margin and gaps.
/// Returns the result's elements.
Bytes of_two(const std::string& a, const std::string& b, const std::string& text) {
    TileRun run(R"(
        .tiles 1 2 lanes=16 units=1
        .buffer a constant 0 4
          .int8 )" +
                a +
                R"(
        .buffer b constant 16 4
          .int8 )" +
                b +
                R"(
        .buffer out output 32 4
        set result.lines 1; set result.columns 4; set result.channels 1
        read_tensor b at=8
        set result.left 1; set result.pixel_bytes 2
        read_tensor a at=0
        set result.left 0; set result.pixel_bytes 0; set result.right 1
        set source.lines 1; set source.columns 4; set source.channels 1; set source.left 1
        set source.pixel_bytes 2
        )" + text +
                R"(
        set source.left 0; set source.pixel_bytes 0; set source.right 1
        write_tensor out at=20
        halt)");
    run.executor.run();
    CHECK(run.narrow(0, 22, 234) == Bytes(234));
    CHECK(run.narrow(1, 22, 234) == Bytes(234));
    return run.host(2);
}

/// (a - 1) / 2 and (b - 2): multipliers of a half, whose shift of 20 bits the result's shift undoes.
const std::string fixed_sums =
    "set vector.zero_point_a 1; set vector.multiplier_a 0x40000000\n"
    "set vector.zero_point_b 2; set vector.multiplier_b 0x40000000; set vector.shift_b 1\n"
    "set vector.multiplier 0x40000000; set vector.shift -19\n"
    "set output.zero_point 5; set output.minimum -25; set output.maximum 20\n";
const std::string float_sums =
    "set vector.zero_point_a 1; set vector.multiplier_a 0x3f000000\n"
    "set vector.zero_point_b 2; set vector.multiplier_b 0x3f800000\n"
    "set output.zero_point 5; set output.minimum -25; set output.maximum 20\n";
const std::string range_of_int8 = "set output.minimum -128; set output.maximum 127\n";

}  // namespace

TEST_CASE("tile_vector adds and subtracts two images with different scales and zero points") {
    const std::string add = "tile_vector add ";
    const std::string subtract = "tile_vector subtract ";
    const std::string places = " signed dst=20 src=0 other=8";
    // a: 1, -4, 2.5, 0; b: 8, -22, 98, -2.
    const auto results = [&](const std::string& setting, const std::string& operation) {
        return of_two("3 -7 6 1", "10 -20 100 0", setting + operation + places);
    };
    CHECK(results(fixed_sums, add + "fixed_point") == bytes_of({1 + 8 + 5, -4 - 22 + 5, 20, 0 - 2 + 5}));
    CHECK(results(fixed_sums, subtract + "fixed_point") == bytes_of({1 - 8 + 5, 20, -25, 0 + 2 + 5}));
    CHECK(results(float_sums, add + "float") == bytes_of({1 + 8 + 5, -4 - 22 + 5, 20, 0 - 2 + 5}));
    CHECK(results(float_sums, subtract + "float") == bytes_of({1 - 8 + 5, 20, -25, 0 + 2 + 5}));
}

TEST_CASE("The scaling of a sum decides how halves are rounded") {
    const std::string places = " signed dst=20 src=0 other=8";
    // (a - 1) / 2 + (b - 2) + 5 with halves: 0.5, 1.5, -0.5, -1.5, and 5.
    const auto results = [&](const std::string& text) {
        return of_two("2 4 0 -2", "2 2 2 2", text + places);
    };
    CHECK(results(fixed_sums + "tile_vector add fixed_point") == bytes_of({6, 7, 4, 3}));
    CHECK(results(fixed_sums + "tile_vector add to_even") == bytes_of({5, 7, 5, 3}));
    CHECK(results(float_sums + "tile_vector add float") == bytes_of({5, 7, 5, 3}));
}

TEST_CASE("A sum of float32 rounds each product and then the sum") {
    // 3 * (5/6 + 2^-23 / 3) is 2.5 + 2^-23, whose nearest float32 is 2.5; less 2 it is a half, which becomes
    // 0. With the whole product, the difference would be above a half.
    CHECK(of_two("3 3 3 3", "1 1 1 1",
                 "set vector.multiplier_a 0x3f555556; set vector.multiplier_b 0x40000000\n"
                 "tile_vector subtract float dst=20 src=0 other=8") == bytes_of({0, 0, 0, 0}));
    CHECK(of_two("3 3 3 3", "1 1 1 1",
                 "set vector.multiplier_a 0x3f555557; set vector.multiplier_b 0x40000000\n"
                 "tile_vector subtract float dst=20 src=0 other=8") == bytes_of({1, 1, 1, 1}));
}

TEST_CASE("tile_vector multiplies two images") {
    // (a - 1) * (b - 2) / 4: 4, 3, 2.5 and -1.5.
    const auto results = [](const std::string& text) {
        return of_two("3 7 6 4", "10 4 4 0",
                      "set vector.zero_point_a 1; set vector.zero_point_b 2; set output.zero_point 3\n" +
                          range_of_int8 + text + " signed dst=20 src=0 other=8");
    };
    CHECK(
        results("set vector.multiplier 0x40000000; set vector.shift -1\ntile_vector multiply fixed_point") ==
        bytes_of({7, 6, 6, 1}));
    CHECK(results("set vector.multiplier 0x40000000; set vector.shift -1\ntile_vector multiply to_even") ==
          bytes_of({7, 6, 5, 1}));
    CHECK(results("set vector.multiplier 0x3e800000\ntile_vector multiply float") == bytes_of({7, 6, 5, 1}));
}

TEST_CASE("tile_vector requantizes an image") {
    // (a - 1) / 2: 2.5, 3.5, -4, 0. Whatever is in the registers of the second operand has no meaning.
    const auto results = [](const std::string& text) {
        return of_two("6 8 -7 1", "0 0 0 0",
                      "set vector.zero_point_a 1; set vector.zero_point_b -2147483648\n" + range_of_int8 +
                          "set output.zero_point -3\n" + text + " signed dst=20 src=0");
    };
    CHECK(results("set vector.multiplier 0x40000000\ntile_vector requantize fixed_point") ==
          bytes_of({0, 1, -7, -3}));
    CHECK(results("set vector.multiplier 0x40000000\ntile_vector requantize to_even") ==
          bytes_of({-1, 1, -7, -3}));
    CHECK(results("set vector.multiplier 0x3f000000\ntile_vector requantize float") ==
          bytes_of({-1, 1, -7, -3}));
}

TEST_CASE("tile_vector takes the larger or the smaller of stored numbers, and clamps it") {
    const auto results = [](const std::string& text) {
        return of_two("1 -2 100 -100", "2 -3 -1 -120",
                      "set vector.zero_point_a 50; set vector.zero_point_b 9; set output.zero_point 7\n"
                      "set output.minimum -110; set output.maximum 90\n" +
                          text + " fixed_point signed dst=20 src=0 other=8");
    };
    CHECK(results("tile_vector maximum") == bytes_of({2, -2, 90, -100}));
    CHECK(results("tile_vector minimum") == bytes_of({1, -3, -1, -110}));
    // As unsigned numbers, negative ones are the larger.
    CHECK(of_two("1 -2 100 -100", "2 -3 -1 -120", "tile_vector maximum fixed_point dst=20 src=0 other=8") ==
          bytes_of({2, -2, -1, -100}));
}

namespace {

/// Windows of 2 x 2, two apart, of 3 x 3 pixels of two channels, the second being the first's negative; or of
/// 2 x 1 tiles, with what the last window of a tile needs.
Bytes pooled(const std::string& tiles, const std::string& text) {
    TileRun run(".tiles " + tiles + R"( lanes=16 units=1
        .buffer in constant 0 18
          .int8 1 -1 2 -2 3 -3 4 -4 5 -5 6 -6 7 -7 8 -8 9 -9
        .buffer out output 32 8
        set result.lines 3; set result.columns 3; set result.channels 2; set result.right 1
        set result.bottom 1
        read_tensor in at=0
        set source.lines 3; set source.columns 3; set source.channels 2; set source.right 1
        set source.bottom 1; set window.pad_value 100
        exchange at=0
        set result.lines 2; set result.columns 2; set result.right 0; set result.bottom 0
        set window.kernel_height 2; set window.kernel_width 2; set window.stride_y 2; set window.stride_x 2
        set vector.zero_point_a 9; set output.zero_point 9
        )" + range_of_int8 +
                text + R"( signed dst=60 src=0
        set source.lines 2; set source.columns 2; set source.right 0; set source.bottom 0
        write_tensor out at=60
        halt)");
    run.executor.run();
    return run.host(1);
}

}  // namespace

TEST_CASE("Pooling of tiles counts only what lies inside the image") {
    for (const std::string tiles : {"1 1", "2 1", "2 2"}) {
        CAPTURE(tiles);
        CHECK(pooled(tiles, "tile_vector max_pool fixed_point") == bytes_of({5, -1, 6, -3, 8, -7, 9, -9}));
        // Means of 3, 4.5, 7.5 and 9.
        CHECK(pooled(tiles, "tile_vector average_pool fixed_point") ==
              bytes_of({3, -3, 5, -5, 8, -8, 9, -9}));
        CHECK(pooled(tiles, "tile_vector average_pool float") == bytes_of({3, -3, 4, -4, 8, -8, 9, -9}));
        CHECK(pooled(tiles, "set output.minimum -4; set output.maximum 6\ntile_vector average_pool float") ==
              bytes_of({3, -3, 4, -4, 6, -4, 6, -4}));
        CHECK(
            pooled(tiles, "set output.minimum -4; set output.maximum 6\ntile_vector max_pool fixed_point") ==
            bytes_of({5, -1, 6, -3, 6, -4, 6, -4}));
    }
}

TEST_CASE("Pooling of tiles with padding takes the pixels of the image that a window has") {
    // Windows of 1 x 3 over 1 x 4 pixels on two tiles, without exchange: margins hold zeros.
    TileRun run(R"(
        .tiles 1 2 lanes=16 units=1
        .buffer in constant 0 4
          .int8 9 7 5 3
        .buffer out output 32 4
        set result.lines 1; set result.columns 4; set result.channels 1; set result.left 1
        set result.right 1
        read_tensor in at=0
        set source.lines 1; set source.columns 4; set source.channels 1; set source.left 1
        set source.right 1
        set result.left 0; set result.right 0; set window.kernel_width 3; set window.pad_left 1
        tile_vector average_pool fixed_point dst=60 src=0
        set source.left 0; set source.right 0
        write_tensor out at=60
        halt)");
    run.executor.run();
    // (9 + 7) / 2; (9 + 7 + 0) / 3; (0 + 5 + 3) / 3; (5 + 3) / 2.
    CHECK(run.host(1) == Bytes{8, 5, 3, 4});
}

TEST_CASE("Sums of windows are scaled once") {
    // Windows of 5 + 2 * 6 ...: the sums 3 * 4 less 4 * 9, halved, plus 9; windows of fewer pixels have fewer
    // zero points.
    const std::string half = "set vector.multiplier 0x3f000000\ntile_vector sum_pool float";
    for (const std::string tiles : {"1 1", "2 1", "2 2"}) {
        CAPTURE(tiles);
        // Sums of 12, 9, 15 and 9 of 4, 2, 2 and 1 pixels; each pixel less 9.
        CHECK(pooled(tiles, half) == bytes_of({9 - 12, 9 - 24, 9 - 4, 9 - 14, 9 - 2, 9 - 16, 9, 9 - 9}));
    }
}

TEST_CASE("Sums with a bias are rounded halves away from zero, and what is no number is the lowest") {
    const auto results = [](const std::string& multiplier, const std::string& bias, int zero_point) {
        return pooled("2 2", "set vector.multiplier " + multiplier + "; set vector.multiplier_b " + bias +
                                 "; set output.zero_point " + std::to_string(zero_point) +
                                 "\ntile_vector biased_sum_pool float");
    };
    const std::string half = "0x3f000000";
    const std::string infinite = "0x7f800000";
    const std::string minus_infinite = "0xff800000";
    // Sums of 12, 9, 15 and 9, and of the same with the other sign: halved, and a half more.
    CHECK(results(half, half, 9) == bytes_of({9 + 7, 9 - 6, 9 + 5, 9 - 4, 9 + 8, 9 - 7, 9 + 5, 9 - 4}));
    CHECK(results(infinite, half, -9) == bytes_of({127, -128, 127, -128, 127, -128, 127, -128}));
    CHECK(results(half, infinite, -9) == bytes_of({127, 127, 127, 127, 127, 127, 127, 127}));
    const Bytes lowest = bytes_of({-128, -128, -128, -128, -128, -128, -128, -128});
    CHECK(results(half, minus_infinite, -9) == lowest);
    for (const std::string none : {"0x7fc00000", "0xffc00001"}) {
        CHECK(results(none, half, -9) == lowest);
        CHECK(results(half, none, -9) == lowest);
    }
}

TEST_CASE("Each tile looks up in a table of its own") {
    // Four pixels on two tiles. Tables of 4 units begin at unit 1 of each tile; the second one has the
    // numbers backwards.
    std::string text = R"(
        .tiles 1 2 lanes=16 units=8
        .buffer in constant 0 4
          .uint8 0 1 63 255
        .buffer tables constant 64 512
          .uint8)";
    for (int unit = 0; unit < 4; ++unit) {
        for (int i = 0; i < 64; ++i) text += " " + std::to_string((64 * unit + i + 7) % 256);
        for (int i = 0; i < 64; ++i) text += " " + std::to_string(255 - 64 * unit - i);
    }
    TileRun run(text + R"(
        .buffer out output 1024 4
        set result.lines 1; set result.columns 4; set result.channels 1
        set source.lines 1; set source.columns 4; set source.channels 1
        read_tensor in at=0
        read_parameters tables unit=2 units=8
        set output.minimum 8
        tile_vector lookup fixed_point dst=20 src=0 table=1
        write_tensor out at=20
        halt)");
    run.executor.run();
    CHECK(run.host(2) == Bytes{8, 8, 255 - 63, 8});
}

TEST_CASE("A softmax of tiles has the shares of exponentials") {
    // Two channels of one pixel, 3 apart: exponentials of 1/2 and 1/8 give shares of 4/5 and 1/5.
    std::string words;
    for (int i = 0; i < 256; ++i) {
        words += i == 0 ? " 0 0 0 64" : i == 3 ? " 0 0 0 16" : " 0 0 0 0";
    }
    TileRun run(R"(
        .tiles 1 1 lanes=16 units=16
        .buffer in constant 0 3
          .int8 -5 -2 -90
        .buffer table constant 64 1024
          .uint8)" +
                words +
                R"(
        .buffer out output 2048 3
        set result.lines 1; set result.columns 1; set result.channels 3
        set source.lines 1; set source.columns 1; set source.channels 3
        read_tensor in at=0
        read_parameters table unit=0 units=16
        set output.zero_point -128; set output.minimum -128; set output.maximum 127
        tile_vector softmax fixed_point dst=20 src=0 table=0 signed
        write_tensor out at=20
        halt)");
    run.executor.run();
    CHECK(run.host(2) == bytes_of({51 - 128, 205 - 128, -128}));
}

namespace {

/// 1 x 2 pixels, 10 and 20, interpolated to 1 x 4 or 1 x 3 on two tiles.
Bytes interpolated(const std::string& columns, const std::string& how) {
    TileRun run(R"(
        .tiles 1 2 lanes=16 units=1
        .buffer in constant 0 2
          .uint8 10 20
        .buffer out output 32 )" +
                columns +
                R"(
        set result.lines 1; set result.columns 2; set result.channels 1; set result.left 1; set result.right 1
        read_tensor in at=0
        set source.lines 1; set source.columns 2; set source.channels 1; set source.left 1; set source.right 1
        exchange at=0
        set result.left 0; set result.right 0; set result.columns )" +
                columns + "\n" + how + R"( dst=20 src=0
        set source.left 0; set source.right 0; set source.columns )" +
                columns +
                R"(
        write_tensor out at=20
        halt)");
    run.executor.run();
    return run.host(1);
}

}  // namespace

TEST_CASE("Interpolated pixels lie between four of the source") {
    for (const std::string scaling : {"fixed_point", "float"}) {
        const std::string interpolate = "tile_vector interpolate " + scaling;
        CAPTURE(scaling);
        // Places 0, 1/2, 1 and 3/2; -1/4, 1/4, 3/4, 5/4; 0, 1/2, 1.
        CHECK(interpolated("4", interpolate) == Bytes{10, 15, 20, 20});
        CHECK(interpolated("4", interpolate + " half_pixel") == Bytes{10, 13, 18, 20});
        CHECK(interpolated("3", interpolate + " align_corners") == Bytes{10, 15, 20});
    }
    // A third: 341/1024, and halves away from zero.
    CHECK(interpolated("3", "tile_vector interpolate fixed_point") == Bytes{10, 17, 20});
}
