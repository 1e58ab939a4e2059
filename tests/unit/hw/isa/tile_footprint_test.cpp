// The bytes and units that instructions for tiles touch, and the registers they refuse: docs/isa.md,
// "Machines with tiles".
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "hw/isa/footprint.h"
#include "hw/isa/program_error.h"
#include "hw/isa/tile_layout.h"
#include "hw/isa/weight_blocks.h"

using namespace systole::isa;

namespace {

using Settings = std::vector<std::pair<Register, std::uint32_t>>;

/// 2 x 2 tiles of 32 lanes.
constexpr Geometry grid = {.tiles = {.lines = 2, .columns = 2, .lanes = 32, .units = 100}};

Registers with_registers(const Settings& settings) {
    Registers registers;
    for (const auto& [reg, value] : settings) registers.set(reg, value);
    return registers;
}

/// A source of 5 x 7 pixels of 3 channels, 4 bytes each; its patches have 3 x 4 pixels, and tiles store 5
/// x 7. A result of 3 x 4 pixels of 40 channels; its patches have 2 x 2.
const Settings images = {
    {Register::SourceLines, 5},      {Register::SourceColumns, 7},  {Register::SourceChannels, 3},
    {Register::SourcePixelBytes, 4}, {Register::SourceTop, 1},      {Register::SourceBottom, 1},
    {Register::SourceLeft, 1},       {Register::SourceRight, 2},    {Register::ResultLines, 3},
    {Register::ResultColumns, 4},    {Register::ResultChannels, 40}};
constexpr std::uint64_t source_bytes = (5 * 7 - 1) * 4 + 3;
constexpr std::uint64_t result_bytes = 2 * 2 * 40;

Settings changed(Settings settings, const Settings& changes) {
    settings.insert(settings.end(), changes.begin(), changes.end());
    return settings;
}

Footprint of(const Instruction& instruction, const Settings& settings = images) {
    return footprint(instruction, with_registers(settings), grid);
}

void check_tile_error(const Instruction& instruction, const Settings& settings, const std::string& rule) {
    CHECK_THROWS_WITH(of(instruction, settings), Catch::Matchers::EndsWith(": " + rule));
}

void check_touches(const Footprint& touched, const std::vector<MemoryRows>& expected) {
    CHECK(std::vector<MemoryRows>(touched.begin(), touched.end()) == expected);
}

MemoryRows read(MemoryId memory, std::uint64_t first, std::uint64_t count) {
    return {.memory = memory, .access = Access::Read, .rows = {first, first + count}};
}
MemoryRows written(MemoryId memory, std::uint64_t first, std::uint64_t count) {
    return {.memory = memory, .access = Access::Write, .rows = {first, first + count}};
}

constexpr MemoryId narrow_memory = MemoryId::NarrowMemory;
constexpr MemoryId wide_memory = MemoryId::WideMemory;
constexpr MemoryId host_memory = MemoryId::HostMemory;

}  // namespace

TEST_CASE("Transfers touch what tiles store of their tensor", "[isa][footprint]") {
    check_touches(of(ReadProgram{.bytes = 9}), {});
    check_touches(of(ReadParameters{.host_address = 7, .unit = 3, .units = 2}),
                  {written(wide_memory, 3, 2), read(host_memory, 7, 128)});
    check_touches(of(ReadTensor{.host_address = 7, .address = 10}),
                  {written(narrow_memory, 10, result_bytes), read(host_memory, 7, 3 * 4 * 40)});
    check_touches(of(WriteTensor{.host_address = 7, .address = 10}),
                  {read(narrow_memory, 10, source_bytes), written(host_memory, 7, 5 * 7 * 3)});
    check_touches(of(Exchange{.address = 10}), {written(narrow_memory, 10, source_bytes)});
    check_touches(of(Collect{.destination = 500, .source = 10}),
                  {read(narrow_memory, 10, source_bytes), written(narrow_memory, 500, 5 * 7 * 3)});
    // 130 elements are 5 groups of 32 lanes, two of them in the first tile.
    const Settings vector = {{Register::SourceChannels, 130}};
    check_touches(of(WriteTensor{.host_address = 7, .address = 10, .over_lanes = true}, vector),
                  {read(narrow_memory, 10, 64), written(host_memory, 7, 130)});
    check_touches(of(Collect{.destination = 500, .source = 10, .over_lanes = true}, vector),
                  {read(narrow_memory, 10, 64), written(narrow_memory, 500, 130)});
    check_tile_error(Collect{.destination = 10 + source_bytes - 1, .source = 10}, images,
                     "it may not write bytes that it reads");
    CHECK_NOTHROW(of(Collect{.destination = 10 + source_bytes, .source = 10}));
}

TEST_CASE("Blocks are sent from all their groups", "[isa][footprint]") {
    check_touches(of(StreamParameters{.host_address = 7, .rows = 3, .units = 2, .groups = 5, .repeats = 9}),
                  {read(host_memory, 7, 3 * 2 * 5 * 64)});
    Multicast multicast{.parameters = 7, .rows = 3, .units = 2, .groups = 5, .repeats = 9};
    check_touches(of(multicast), {read(wide_memory, 7, 30)});
    multicast.streamed = true;
    check_touches(of(multicast), {read(host_memory, 7, 30 * 64)});
    multicast = {.parameters = (1U << 24) - 29, .rows = 3, .units = 2, .groups = 5, .repeats = 1};
    check_tile_error(multicast, {},
                     "30 units of wide memory from 16777187 on; addresses end at unit 16777215");
}

TEST_CASE("A product touches its images and the blocks of all its groups", "[isa][footprint]") {
    // Windows of 3 x 3 x 3 from pixel (-1, -1) on, two apart: a bias and 7 rows of weights, of 2 units each,
    // twice.
    const Settings convolution = changed(images, {{Register::WindowKernelHeight, 3},
                                                  {Register::WindowKernelWidth, 3},
                                                  {Register::WindowStrideY, 2},
                                                  {Register::WindowStrideX, 2},
                                                  {Register::WindowPadTop, 1},
                                                  {Register::WindowPadLeft, 1}});
    TileMultiply multiply{.result = 1000, .source = 10, .parameters = 7};
    const auto touched = [&](std::uint64_t units) {
        return std::vector<MemoryRows>{read(narrow_memory, 10, source_bytes),
                                       written(narrow_memory, 1000, result_bytes),
                                       read(wide_memory, 7, units)};
    };
    check_touches(of(multiply, convolution), touched(2 * 8 * 2));
    multiply.by_channel = true;
    check_touches(of(multiply, convolution), touched(2 * 10 * 2));
    multiply.scaling = Scaling::Float;
    check_touches(of(multiply, convolution), touched(2 * 9 * 2));
    multiply.streamed = true;
    check_touches(of(multiply, convolution),
                  {read(narrow_memory, 10, source_bytes), written(narrow_memory, 1000, result_bytes),
                   read(host_memory, 7, 2 * 9 * 2 * 64)});
    // 9 weights and fewer outputs than lanes: 3 rows after the bias, of a unit each.
    check_touches(of(TileMultiply{.product = TileProduct::Depthwise, .result = 1000, .source = 10},
                     changed(convolution, {{Register::ResultChannels, 12}})),
                  {read(narrow_memory, 10, source_bytes), written(narrow_memory, 1000, 2 * 2 * 12),
                   read(wide_memory, 0, 4)});

    const TileMultiply plain{.result = 1000, .source = 10};
    check_tile_error(TileMultiply{.product = TileProduct::Depthwise, .result = 1000}, convolution,
                     "result.channels is 40; a depthwise product has a multiple of the source's 3");
    check_tile_error(TileMultiply{.result = 10 + source_bytes - 1, .source = 10}, convolution,
                     "it may not write bytes that it reads");
    check_tile_error(
        plain, changed(convolution, {{Register::SourceTop, 0}}),
        "in tile 0 of the lines, its windows reach from -1 to 3 of 4 that are stored; the source needs "
        "wider margins");
    check_tile_error(
        plain, changed(convolution, {{Register::SourceBottom, 0}}),
        "in tile 0 of the lines, its windows reach from 0 to 4 of 4 that are stored; the source needs "
        "wider margins");
    check_tile_error(
        plain, changed(convolution, {{Register::WindowDilationX, 3}}),
        "in tile 0 of the columns, its windows reach from 0 to 8 of 7 that are stored; the source needs "
        "wider margins");
    check_tile_error(plain, changed(convolution, {{Register::SourceZeroPoint, 256}}),
                     "source.zero_point is 256; it must be a number of uint8, 0 to 255");
    check_tile_error(plain, changed(convolution, {{Register::MultiplyWeightZeroPoint, 0xffffffff}}),
                     "multiply.weight_zero_point is -1; it must be a number of uint8, 0 to 255");
    check_tile_error(TileMultiply{.is_signed = true, .result = 1000, .source = 10}, convolution,
                     "output.maximum is 255; it must be a number of int8, -128 to 127");
    check_tile_error(plain,
                     changed(convolution, {{Register::OutputMinimum, 9}, {Register::OutputMaximum, 8}}),
                     "output.minimum is 9; it must be at most output.maximum, which is 8");
    check_tile_error(plain, changed(convolution, {{Register::WindowStrideX, 0}}),
                     "window.stride_x is 0; it must be from 1 to 65535");
}

TEST_CASE("A dense product touches the same units of each tile that computes a group", "[isa][footprint]") {
    // 6 weights: a bias and 2 rows of 2 units. 130 outputs are 5 groups: two in tile 0, one in the others.
    // From unit 7 of each of the 4 tiles on, in all tiles as many units as in tile 0.
    const Settings vector = {{Register::SourceChannels, 6}, {Register::ResultChannels, 130}};
    const TileMultiply multiply{.product = TileProduct::Dense, .result = 1000, .source = 10, .parameters = 7};
    check_touches(of(multiply, vector), {read(narrow_memory, 10, 6), written(narrow_memory, 1000, 64),
                                         read(wide_memory, 7 * 4, 2 * 6 * 4)});
    // Fewer groups than tiles.
    check_touches(
        of(multiply, {{Register::SourceChannels, 6}, {Register::ResultChannels, 33}}),
        {read(narrow_memory, 10, 6), written(narrow_memory, 1000, 32), read(wide_memory, 7 * 4, 6 * 4)});
    TileMultiply late = multiply;
    late.parameters = 88;
    CHECK_NOTHROW(of(late, vector));
    late.parameters = 89;
    check_tile_error(late, vector, "its blocks end before unit 101 of a tile; a tile has 100");
    check_tile_error(multiply, {{Register::ResultChannels, 1}},
                     "source.channels is 0; it must be at least 1");
}

TEST_CASE("Work without weights touches its operands and its result", "[isa][footprint]") {
    const Settings alike = changed(images, {{Register::ResultLines, 5},
                                            {Register::ResultColumns, 7},
                                            {Register::ResultChannels, 3},
                                            {Register::OtherTop, 1}});
    const TileVector add{.result = 1000, .source = 10, .other = 500};
    check_touches(of(add, alike), {read(narrow_memory, 10, source_bytes), read(narrow_memory, 500, 4 * 4 * 3),
                                   written(narrow_memory, 1000, 3 * 4 * 3)});
    const TileVector requantize{.operation = TileOperation::Requantize, .result = 1000, .source = 10};
    check_touches(of(requantize, alike),
                  {read(narrow_memory, 10, source_bytes), written(narrow_memory, 1000, 3 * 4 * 3)});
    check_tile_error(add, images, "the source is 5 x 7 x 3, the result 3 x 4 x 40; they must be alike");
    const std::string overlap = "it may not write bytes that it reads";
    check_tile_error(TileVector{.result = 10, .source = 10, .other = 500}, alike, overlap);
    check_tile_error(TileVector{.result = 500, .source = 10, .other = 500}, alike, overlap);
    check_tile_error(add, changed(alike, {{Register::VectorZeroPointA, 256}}),
                     "vector.zero_point_a is 256; it must be a number of uint8, 0 to 255");
    const Settings wrong_b = changed(alike, {{Register::VectorZeroPointB, 256}});
    check_tile_error(add, wrong_b, "vector.zero_point_b is 256; it must be a number of uint8, 0 to 255");
    CHECK_NOTHROW(of(requantize, wrong_b));

    // Windows of 2 x 2 pixels, two apart: 3 x 4 of them, the last ones cut off.
    const Settings pooling = changed(images, {{Register::ResultChannels, 3},
                                              {Register::WindowKernelHeight, 2},
                                              {Register::WindowKernelWidth, 2},
                                              {Register::WindowStrideY, 2},
                                              {Register::WindowStrideX, 2}});
    const TileVector pool{.operation = TileOperation::MaxPool, .result = 1000, .source = 10};
    check_touches(of(pool, pooling),
                  {read(narrow_memory, 10, source_bytes), written(narrow_memory, 1000, 2 * 2 * 3)});
    check_tile_error(pool, changed(pooling, {{Register::ResultChannels, 4}}),
                     "the source has 3 channels, the result 4; they must be alike");
    check_tile_error(pool, changed(pooling, {{Register::WindowDilationY, 2}, {Register::SourceBottom, 2}}),
                     "pooling has no dilation");
    const std::string outside = "a window lies wholly outside the image";
    check_tile_error(pool, changed(pooling, {{Register::WindowPadTop, 2}, {Register::SourceTop, 2}}),
                     outside);
    check_tile_error(pool, changed(pooling, {{Register::ResultLines, 4}, {Register::SourceBottom, 4}}),
                     outside);
}

TEST_CASE("A table is in every tile's own wide memory", "[isa][footprint]") {
    const Settings alike = changed(
        images, {{Register::ResultLines, 5}, {Register::ResultColumns, 7}, {Register::ResultChannels, 3}});
    TileVector lookup{.operation = TileOperation::Lookup, .result = 1000, .source = 10, .other = 96};
    check_touches(of(lookup, alike), {read(narrow_memory, 10, source_bytes), read(wide_memory, 4 * 96, 4 * 4),
                                      written(narrow_memory, 1000, 3 * 4 * 3)});
    lookup.other = 97;
    check_tile_error(lookup, alike, "its table ends before unit 101 of a tile; a tile has 100");
    TileVector softmax{.operation = TileOperation::Softmax, .result = 1000, .source = 10, .other = 84};
    check_touches(of(softmax, alike),
                  {read(narrow_memory, 10, source_bytes), read(wide_memory, 4 * 84, 4 * 16),
                   written(narrow_memory, 1000, 3 * 4 * 3)});
    softmax.other = 85;
    check_tile_error(softmax, alike, "its table ends before unit 101 of a tile; a tile has 100");
    softmax = {.operation = TileOperation::Softmax, .result = 10, .source = 10};
    const Settings in_place = changed(alike, {{Register::ResultPixelBytes, 4},
                                              {Register::ResultTop, 1},
                                              {Register::ResultBottom, 1},
                                              {Register::ResultLeft, 1},
                                              {Register::ResultRight, 2}});
    check_tile_error(softmax, in_place, "it may not write bytes that it reads");
    CHECK_NOTHROW(of(TileVector{.operation = TileOperation::Lookup, .result = 10, .source = 10}, in_place));
}

TEST_CASE("An interpolation needs the pixels around its places", "[isa][footprint]") {
    const TileVector interpolate{.operation = TileOperation::Interpolate, .result = 1000, .source = 10};
    // 5 x 7 pixels from 5 x 7: each tile's own; 10 x 14: the second tiles begin in the middle of a pixel.
    Settings sizes = changed(images, {{Register::SourceTop, 0},
                                      {Register::SourceBottom, 0},
                                      {Register::SourceLeft, 0},
                                      {Register::SourceRight, 0},
                                      {Register::ResultLines, 5},
                                      {Register::ResultColumns, 7},
                                      {Register::ResultChannels, 3}});
    CHECK_NOTHROW(of(interpolate, sizes));
    sizes = changed(sizes, {{Register::ResultLines, 10}, {Register::ResultColumns, 14}});
    const std::string rule =
        "its tiles do not store all pixels that results come from; the source needs wider margins";
    check_tile_error(interpolate, sizes, rule);
    check_tile_error(interpolate, changed(sizes, {{Register::SourceTop, 1}}), rule);
    check_tile_error(interpolate, changed(sizes, {{Register::SourceLeft, 1}}), rule);
    sizes = changed(sizes, {{Register::SourceTop, 1}, {Register::SourceLeft, 1}});
    CHECK_NOTHROW(of(interpolate, sizes));
    sizes = changed(sizes, {{Register::ResultChannels, 4}});
    check_tile_error(interpolate, sizes, "the source has 3 channels, the result 4; they must be alike");
}

TEST_CASE("A move touches both images, of whole patches", "[isa][footprint]") {
    const Settings alike = changed(images, {{Register::ResultChannels, 3}});
    const Move move{.result = 1000, .source = 10};
    check_touches(of(move, alike),
                  {read(narrow_memory, 10, source_bytes), written(narrow_memory, 1000, 2 * 2 * 3)});
    check_tile_error(move, images, "the source has 3 channels, the result 40; they must be alike");
    check_tile_error(Move{.result = 12, .source = 10}, alike, "it may not write bytes that it reads");
    const std::string whole = "a margin is negative; this instruction needs whole patches";
    check_tile_error(move, changed(alike, {{Register::SourceTop, UINT32_MAX}}), whole);
    check_tile_error(move, changed(alike, {{Register::ResultTop, UINT32_MAX}}), whole);
    check_tile_error(move, changed(alike, {{Register::WindowDilationX, 0}}),
                     "window.dilation_x is 0; it must be from 1 to 65535");
    check_tile_error(move, changed(alike, {{Register::WindowStrideY, 65536}}),
                     "window.stride_y is 65536; it must be from 1 to 65535");
    CHECK_NOTHROW(of(move, changed(alike, {{Register::WindowPadTop, UINT32_MAX}})));
}

TEST_CASE("A permutation touches both images, whose extents are alike in its order", "[isa][footprint]") {
    // 5 x 7 pixels of 3 channels become 7 x 5 pixels, and 3 x 5 pixels of 7 channels; patches of 4 x 3, and 2
    // x 3.
    const Settings sizes = changed(images, {{Register::SourceLines, 5},
                                            {Register::SourceColumns, 7},
                                            {Register::ResultLines, 7},
                                            {Register::ResultColumns, 5},
                                            {Register::ResultChannels, 3}});
    const Permute turn{.order = AxisOrder::ColumnsLinesChannels, .result = 1000, .source = 10};
    check_touches(of(turn, sizes),
                  {read(narrow_memory, 10, source_bytes), written(narrow_memory, 1000, 4 * 3 * 3)});
    Permute split = turn;
    split.order = AxisOrder::ChannelsLinesColumns;
    check_tile_error(split, sizes, "the result is 7 x 5 x 3; the source in this order is 3 x 5 x 7");
    const Settings of_channels = changed(sizes, {{Register::ResultLines, 3}, {Register::ResultChannels, 7}});
    check_touches(of(split, of_channels),
                  {read(narrow_memory, 10, source_bytes), written(narrow_memory, 1000, 2 * 3 * 7)});
    check_tile_error(Permute{.order = AxisOrder::ColumnsLinesChannels, .result = 12, .source = 10}, sizes,
                     "it may not write bytes that it reads");
    const std::string whole = "a margin is negative; this instruction needs whole patches";
    check_tile_error(turn, changed(sizes, {{Register::SourceTop, UINT32_MAX}}), whole);
    check_tile_error(turn, changed(sizes, {{Register::ResultTop, UINT32_MAX}}), whole);
}

TEST_CASE("An axis order and its axes are one", "[isa]") {
    for (std::uint8_t i = 0; i < 6; ++i) {
        CHECK(order_of(source_axes(static_cast<AxisOrder>(i))) == static_cast<AxisOrder>(i));
    }
    CHECK(source_axes(AxisOrder::ChannelsLinesColumns) == std::array<std::size_t, 3>{2, 0, 1});
}

TEST_CASE("A tensor's registers are in their ranges", "[isa][footprint]") {
    const auto check = [](Register reg, std::uint32_t value, const std::string& rule) {
        check_tile_error(Exchange{.address = 10}, changed(images, {{reg, value}}), rule);
    };
    check(Register::SourceLines, 0, "source.lines is 0; it must be from 1 to 65535");
    check(Register::SourceColumns, 65536, "source.columns is 65536; it must be from 1 to 65535");
    check(Register::SourceChannels, 0, "source.channels is 0; it must be from 1 to 16777215");
    check(Register::SourcePixelBytes, 2, "source.pixel_bytes is 2; a pixel has 3 channels");
    check(Register::SourceTop, 65536, "source.top is 65536; it must be from -65535 to 65535");
    check(Register::SourceBottom, 65536, "source.bottom is 65536; it must be from -65535 to 65535");
    check(Register::SourceLeft, 65536, "source.left is 65536; it must be from -65535 to 65535");
    check(Register::SourceRight, 65536, "source.right is 65536; it must be from -65535 to 65535");
    CHECK_NOTHROW(of(Exchange{.address = (1U << 24) - source_bytes}));
    check_tile_error(Exchange{.address = (1U << 24) - source_bytes + 1}, images,
                     "139 bytes of narrow memory from 16777078 on; addresses end at byte 16777215");
}

TEST_CASE("Every pixel has one owner, which stores the pixels of its windows", "[isa][tiles]") {
    const auto tiles = GENERATE(1U, 2U, 4U);
    const auto lines = GENERATE(1U, 3U, 4U, 9U);
    const auto stride = GENERATE(1U, 2U);
    CAPTURE(tiles, lines, stride);
    const TileGrid column = {.lines = tiles, .columns = 1, .lanes = 16, .units = 1};
    const TileLayout source{
        .grid = column, .lines = lines, .columns = 1, .channels = 2, .pixel_bytes = 3, .top = 9, .bottom = 9};
    const TileLayout result{.grid = column,
                            .lines = (lines + stride - 1) / stride,
                            .columns = 1,
                            .channels = 1,
                            .pixel_bytes = 1};
    const TileWindow window{.kernel_height = 3, .stride_y = stride, .dilation_y = 2, .pad_top = 2};
    CHECK_NOTHROW(check_windows_are_stored(source, result, own_area(result), window));
    std::uint64_t next = 0;
    for (std::uint64_t tile = 0; tile < tiles; ++tile) {
        const std::uint64_t count = pixels_in_image(result, own_area(result), tile);
        CHECK((count == 0 || tile * result.own_lines() == next));
        CHECK(count <= own_area(result).pixels());
        const std::uint64_t begin = next;
        next += count;
        for (std::uint64_t line = begin; line < next; ++line) {
            for (std::uint64_t kernel_line = 0; kernel_line < 3; ++kernel_line) {
                const auto patch = static_cast<std::int64_t>(tile * source.own_lines());
                const auto read = static_cast<std::int64_t>(line * stride + 2 * kernel_line) - 2;
                CHECK(window_line(source, result, window, tile,
                                  static_cast<std::int64_t>(line - tile * result.own_lines())) +
                          static_cast<std::int64_t>(2 * kernel_line) ==
                      read - patch);
            }
        }
    }
    CHECK(next == result.lines);
    CHECK(next == pixels_in_image(result, own_area(result)));
}

TEST_CASE("A vector over lanes lies group by group in the tiles", "[isa][tiles]") {
    const LaneVector vector{.grid = grid.tiles, .address = 10, .elements = 130};
    CHECK(vector.groups() == 5);
    CHECK(vector.passes() == 2);
    CHECK(vector.tile_of(31) == 0);
    CHECK(vector.tile_of(32) == 1);
    CHECK(vector.tile_of(127) == 3);
    CHECK(vector.tile_of(128) == 0);
    CHECK(vector.address_of(31) == 10 + 31);
    CHECK(vector.address_of(32) == 10);
    CHECK(vector.address_of(129) == 10 + 32 + 1);
}

TEST_CASE("Blocks have as many lanes as their group needs", "[isa][tiles]") {
    struct Case {
        std::uint32_t outputs;
        std::uint64_t groups;
        std::uint64_t lanes;
        std::uint64_t last;  ///< outputs of the last group
    };
    const auto c = GENERATE(Case{1, 1, 16, 1}, Case{16, 1, 16, 16}, Case{17, 1, 32, 17}, Case{32, 1, 32, 32},
                            Case{33, 2, 32, 1}, Case{64, 2, 32, 32});
    CAPTURE(c.outputs);
    const Registers registers =
        with_registers({{Register::SourceChannels, 5}, {Register::ResultChannels, c.outputs}});
    const WeightBlocks blocks =
        weight_blocks(TileMultiply{.product = TileProduct::Dense}, registers, grid.tiles);
    CHECK(blocks.groups == c.groups);
    CHECK(blocks.lanes == c.lanes);
    CHECK(blocks.outputs_of(c.groups - 1, grid.tiles) == c.last);
    CHECK(blocks.rows() == 3);
    CHECK(blocks.row_units() == c.lanes / 16);
    CHECK(blocks.block_bytes() == 3 * c.lanes * 4);
    CHECK(blocks.block_units() * tile_unit_bytes == blocks.block_bytes());
}

TEST_CASE("A strip has the pixels of a patch that negative margins leave", "[isa][footprint]") {
    // Source and result have 3 x 4 pixels of 40 channels; their patches have 2 x 2.
    const Settings same = changed(images, {{Register::SourceLines, 3},
                                           {Register::SourceColumns, 4},
                                           {Register::SourceChannels, 40},
                                           {Register::SourcePixelBytes, 40},
                                           {Register::SourceTop, 0},
                                           {Register::SourceBottom, 0},
                                           {Register::SourceLeft, 0},
                                           {Register::SourceRight, 0}});
    constexpr auto less_1 = static_cast<std::uint32_t>(-1);
    const Settings lower = changed(same, {{Register::ResultTop, less_1}});
    TileVector vector{.operation = TileOperation::Maximum, .result = 500, .source = 10, .other = 10};
    check_touches(of(vector, lower),
                  {read(narrow_memory, 10, result_bytes), read(narrow_memory, 10, result_bytes),
                   written(narrow_memory, 500, result_bytes / 2)});
    check_tile_error(
        vector, changed(lower, {{Register::ResultBottom, less_1}}),
        "result.top, result.bottom, result.left and result.right leave nothing of the patches of "
        "2 x 2 pixels");
    check_tile_error(vector, changed(same, {{Register::SourceTop, less_1}}),
                     "its tiles do not store all pixels of an operand; it needs wider margins");
    check_tile_error(vector, changed(same, {{Register::OtherRight, less_1}}),
                     "its tiles do not store all pixels of an operand; it needs wider margins");
    CHECK_NOTHROW(of(vector, changed(lower, {{Register::SourceTop, less_1}, {Register::OtherTop, less_1}})));

    // Pixels in margins are computed from such in margins of the operands.
    const Settings wider = changed(same, {{Register::ResultLeft, 1}});
    CHECK_NOTHROW(of(vector, wider));
    vector.with_margins = true;
    check_tile_error(vector, wider,
                     "its tiles do not store all pixels of an operand; it needs wider margins");
    CHECK_NOTHROW(of(vector, changed(wider, {{Register::SourceLeft, 1}, {Register::OtherLeft, 2}})));

    const std::string whole = "a margin is negative; this instruction needs whole patches";
    check_tile_error(ReadTensor{.host_address = 7, .address = 10}, lower, whole);
    for (const Register side :
         {Register::SourceTop, Register::SourceBottom, Register::SourceLeft, Register::SourceRight}) {
        const Settings strip = changed(same, {{side, less_1}});
        check_tile_error(WriteTensor{.host_address = 7, .address = 10}, strip, whole);
        check_tile_error(Exchange{.address = 10}, strip, whole);
        check_tile_error(Collect{.destination = 900, .source = 10}, strip, whole);
    }
}

TEST_CASE("Element-wise work may replace an operand where it lies alike", "[isa][footprint]") {
    const Settings same = changed(images, {{Register::ResultLines, 5},
                                           {Register::ResultColumns, 7},
                                           {Register::ResultChannels, 3},
                                           {Register::ResultPixelBytes, 4},
                                           {Register::ResultTop, 1},
                                           {Register::ResultBottom, 1},
                                           {Register::ResultLeft, 1},
                                           {Register::ResultRight, 2}});
    TileVector vector{.operation = TileOperation::Requantize, .result = 10, .source = 10};
    CHECK_NOTHROW(of(vector, same));
    const std::string rule = "it may not write bytes that it reads";
    for (const Register reg : {Register::ResultTop, Register::ResultBottom, Register::ResultLeft,
                               Register::ResultRight, Register::ResultPixelBytes}) {
        check_tile_error(vector, changed(same, {{reg, 3}}), rule);
    }
    vector.result = 14;
    check_tile_error(vector, same, rule);
    vector = {.operation = TileOperation::Maximum, .result = 10, .source = 500, .other = 10};
    check_tile_error(vector, same, rule);
    CHECK_NOTHROW(of(vector, changed(same, {{Register::OtherPixelBytes, 4},
                                            {Register::OtherTop, 1},
                                            {Register::OtherBottom, 1},
                                            {Register::OtherLeft, 1},
                                            {Register::OtherRight, 2}})));
    vector = {.operation = TileOperation::MaxPool, .result = 10, .source = 10};
    check_tile_error(vector, same, rule);
}

TEST_CASE("An area's windows are those of its pixels in all tiles", "[isa][tiles]") {
    const auto tiles = GENERATE(1U, 2U, 4U);
    const auto lines = GENERATE(1U, 3U, 4U, 9U);
    const auto stride = GENERATE(1U, 2U);
    const auto first = GENERATE(-3, -1, 0, 1);
    const auto count = GENERATE(1U, 2U, 6U);
    CAPTURE(tiles, lines, stride, first, count);
    const TileGrid column = {.lines = tiles, .columns = 1, .lanes = 16, .units = 1};
    const TileLayout source{.grid = column, .lines = lines, .columns = 1, .channels = 1, .pixel_bytes = 1};
    const TileLayout result{.grid = column,
                            .lines = (lines + stride - 1) / stride,
                            .columns = 1,
                            .channels = 1,
                            .pixel_bytes = 1};
    const TileWindow window{.kernel_height = 3, .stride_y = stride, .dilation_y = 2, .pad_top = 2};
    std::vector<std::int64_t> reached;
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
        for (std::int64_t i = first; i < first + static_cast<std::int64_t>(count); ++i) {
            const std::int64_t line = tile * static_cast<std::int64_t>(result.own_lines()) + i;
            if (line < 0 || line >= static_cast<std::int64_t>(result.lines)) continue;
            for (const int kernel_line : {0, 2}) {
                reached.push_back(line * stride - 2 + 2 * kernel_line -
                                  tile * static_cast<std::int64_t>(source.own_lines()));
            }
        }
    }
    const TileArea area = windows_under(
        source, result, {.first_line = first, .lines = count, .first_column = 0, .columns = 1}, window);
    CHECK(area.lines == (reached.empty() ? 0
                                         : static_cast<std::uint64_t>(std::ranges::max(reached) -
                                                                      std::ranges::min(reached) + 1)));
    if (!reached.empty()) CHECK(area.first_line == std::ranges::min(reached));
    CHECK(area.first_column == 0);
    CHECK(area.columns == 1);
}
