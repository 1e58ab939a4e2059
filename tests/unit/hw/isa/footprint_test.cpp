// The rows instructions touch: docs/isa.md, "Footprints".
#include "hw/isa/footprint.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "hw/isa/access_history.h"
#include "hw/isa/program_error.h"

using namespace systole::isa;
using Catch::Matchers::Contains;
using Catch::Matchers::Message;
using systole::DataType;

namespace {

constexpr Geometry tpu_v1_array = {.rows = 256, .columns = 256};

using Settings = std::vector<std::pair<Register, std::uint32_t>>;

Registers with(const Settings& settings, Registers registers = Registers()) {
    for (const auto& [reg, value] : settings) registers.set(reg, value);
    return registers;
}

/// 28 x 28 x 2 images in 7 rows each, 3 x 3 windows, 26 x 24 of them.
const Settings window_settings = {{Register::WindowInputHeight, 28},  {Register::WindowInputWidth, 28},
                                  {Register::WindowChannels, 2},      {Register::WindowImageRows, 7},
                                  {Register::WindowKernelHeight, 3},  {Register::WindowKernelWidth, 3},
                                  {Register::WindowOutputHeight, 26}, {Register::WindowOutputWidth, 24}};

/// 100 pixels of 40 bytes in 16 rows an image, columns 8 to 28 of each.
const Settings activation_settings = {
    {Register::ActivationColumns, 20},          {Register::ActivationPixelBytes, 40},
    {Register::ActivationChannelOffset, 8},     {Register::ActivationImageRows, 16},
    {Register::ActivationOutputsPerImage, 100}, {Register::ActivationParametersRow, 500},
    {Register::ActivationTableRow, 600}};

void check_error(const Instruction& instruction, const Settings& settings, const std::string& rule) {
    CHECK_THROWS_WITH(footprint(instruction, with(settings), tpu_v1_array),
                      Catch::Matchers::EndsWith(": " + rule));
}

Settings changed(Settings settings, Register reg, std::uint32_t value) {
    settings.emplace_back(reg, value);
    return settings;
}

/// The lowest and highest rows of bytes touched one by one.
struct TouchedRows {
    std::uint64_t row_bytes;
    RowRange rows = {.first = UINT64_MAX, .last = 0};

    void touch(std::uint64_t base_row, std::uint64_t byte) {
        const std::uint64_t row = base_row + byte / row_bytes;
        rows.first = std::min(rows.first, row);
        rows.last = std::max(rows.last, row + 1);
    }
};

}  // namespace

TEST_CASE("Instructions that touch no row have empty footprints", "[isa][footprint]") {
    const Instruction instructions[] = {Nop{},           Halt{},     SyncWait{},  SyncSignal{},
                                        InterruptHost{}, DebugTag{}, SetConfig{}, HostWork{}};
    for (const Instruction& instruction : instructions) {
        const Footprint touched = footprint(instruction, Registers(), tpu_v1_array);
        CHECK(touched.begin() == touched.end());
    }
}

TEST_CASE("Host transfers touch whole rows, block by block", "[isa][footprint]") {
    const auto bytes = GENERATE(1U, 256U, 257U, 784U);
    const std::uint64_t rows = (bytes + 255) / 256;
    const Footprint read =
        footprint(ReadHostMemory{.unified_buffer_row = 10, .block_bytes = bytes, .blocks = 3}, Registers(),
                  tpu_v1_array);
    CHECK(read.written_rows(MemoryId::UnifiedBuffer) == RowRange{10, 10 + 3 * rows});
    CHECK(read.read_rows(MemoryId::UnifiedBuffer).empty());
    const Footprint write =
        footprint(WriteHostMemory{.unified_buffer_row = 10, .block_bytes = bytes, .blocks = 3}, Registers(),
                  tpu_v1_array);
    CHECK(write.read_rows(MemoryId::UnifiedBuffer) == RowRange{10, 10 + 3 * rows});
    CHECK(write.written_rows(MemoryId::UnifiedBuffer).empty());
}

TEST_CASE("Host transfers touch the host's bytes from their first block to their last", "[isa][footprint]") {
    struct Case {
        std::uint32_t stride;
        std::uint64_t end;
    };
    // 3 blocks of 100 bytes.
    const auto c = GENERATE(Case{0, 5300}, Case{100, 5300}, Case{260, 5620}, Case{1, 5102});
    CAPTURE(c.stride);
    Registers registers;
    registers.set(Register::HostBlockStride, c.stride);
    const ReadHostMemory read{.host_address = 5000, .block_bytes = 100, .blocks = 3};
    CHECK(footprint(read, registers, tpu_v1_array).read_rows(MemoryId::HostMemory) == RowRange{5000, c.end});
    const WriteHostMemory write{.host_address = 5000, .block_bytes = 100, .blocks = 3};
    CHECK(footprint(write, registers, tpu_v1_array).written_rows(MemoryId::HostMemory) ==
          RowRange{5000, c.end});
    CHECK(footprint(write, registers, tpu_v1_array).read_rows(MemoryId::HostMemory).empty());
}

TEST_CASE("host_work touches the bytes of its inferences, in each of its buffers", "[isa][footprint]") {
    Program program;
    program.buffers = {
        {.name = "a", .kind = BufferKind::Input, .address = 100, .bytes = 30, .contents = {}},
        {.name = "b", .kind = BufferKind::Exchange, .address = 500, .bytes = 12, .contents = {}},
        {.name = "c", .kind = BufferKind::Output, .address = 900, .bytes = 44, .contents = {}}};
    program.host_segments = {{.name = "s",
                              .reads = {{.buffer = 0, .bytes = 7}, {.buffer = 1, .bytes = 3}},
                              .writes = {{.buffer = 2, .bytes = 11}}}};
    const HostWork work{.segment = 0, .first_inference = 2, .images = 2};
    const Footprint touched = footprint(work, Registers(), program);
    const std::vector<MemoryRows> expected{
        {.memory = MemoryId::HostMemory, .access = Access::Read, .rows = {114, 128}},
        {.memory = MemoryId::HostMemory, .access = Access::Read, .rows = {506, 512}},
        {.memory = MemoryId::HostMemory, .access = Access::Write, .rows = {922, 944}}};
    CHECK(std::vector<MemoryRows>(touched.begin(), touched.end()) == expected);
    CHECK_THROWS_WITH(footprint(HostWork{.first_inference = 3, .images = 2}, Registers(), program),
                      Contains("buffer \"a\" has room for 4 inferences"));

    // It conflicts with transfers of these bytes, and with those that read what it writes.
    ProgramHistory history;
    history.record(touched, QueueId::Host, 5);
    const auto host = static_cast<std::size_t>(QueueId::Host);
    const auto after = [&](std::uint64_t address, bool writes) {
        Footprint transfer;
        if (writes) {
            transfer.write(MemoryId::HostMemory, {address, address + 1});
        } else {
            transfer.read(MemoryId::HostMemory, {address, address + 1});
        }
        return history.conflicts(transfer).any[host];
    };
    CHECK(after(114, true) == 5);
    CHECK(after(113, true) == 0);
    CHECK(after(114, false) == 0);  // two readers
    CHECK(after(922, false) == 5);
    CHECK(after(943, false) == 5);
    CHECK(after(944, false) == 0);
    CHECK(after(921, true) == 0);
}

TEST_CASE("Host transfers touch rows from their first block to their last, which lie apart",
          "[isa][footprint]") {
    Registers registers;
    const ReadHostMemory read{.unified_buffer_row = 10, .block_bytes = 257, .blocks = 3};  // 2 rows each
    registers.set(Register::HostBlockRows, 7);
    CHECK(footprint(read, registers, tpu_v1_array).written_rows(MemoryId::UnifiedBuffer) ==
          RowRange{10, 10 + 2 * 7 + 2});
    registers.set(Register::HostBlockRows, 2);
    CHECK(footprint(read, registers, tpu_v1_array).written_rows(MemoryId::UnifiedBuffer) == RowRange{10, 16});
    registers.set(Register::HostBlockRows, 1);
    CHECK_THROWS_WITH(footprint(read, registers, tpu_v1_array),
                      Contains("host.block_rows is 1; a block of 257 bytes fills 2 rows"));
}

TEST_CASE("matmul reads streamed rows a stride apart, each as deep as the repetitions", "[isa][footprint]") {
    const auto stride = GENERATE(1U, 3U);
    const auto wide = GENERATE(false, true);
    const auto repeat = GENERATE(std::uint8_t{0}, std::uint8_t{4});
    const MatrixMultiply multiply = {.unified_buffer_row = 100,
                                     .accumulator_row = 7,
                                     .length = 50,
                                     .flags = {.activations = wide ? DataType::Uint16 : DataType::Uint8},
                                     .repeat = repeat};
    const Footprint touched =
        footprint(multiply, with({{Register::MultiplyRowStride, stride}}), tpu_v1_array);
    CHECK(touched.read_rows(MemoryId::UnifiedBuffer) ==
          RowRange{100, 100 + 49 * stride + (repeat + 1U) * (wide ? 2 : 1)});
    CHECK(touched.written_rows(MemoryId::Accumulators) == RowRange{7, 57});
    CHECK(touched.written_rows(MemoryId::UnifiedBuffer).empty());
    CHECK(touched.read_rows(MemoryId::Accumulators).empty());
}

TEST_CASE("convolve reads the whole images its lines lie in", "[isa][footprint]") {
    const Registers registers = with(window_settings);
    const auto reads = [&](std::uint16_t first, std::uint16_t lines, bool wide = false) {
        const Convolve convolve = {.unified_buffer_row = 100,
                                   .accumulator_row = 5,
                                   .first_line = first,
                                   .lines = lines,
                                   .flags = {.activations = wide ? DataType::Uint16 : DataType::Uint8}};
        const Footprint touched = footprint(convolve, registers, tpu_v1_array);
        CHECK(touched.written_rows(MemoryId::Accumulators) == RowRange{5, 5U + lines * 24U});
        return touched.read_rows(MemoryId::UnifiedBuffer);
    };
    CHECK(reads(0, 1) == RowRange{100, 107});
    CHECK(reads(25, 1) == RowRange{100, 107});
    CHECK(reads(25, 2) == RowRange{100, 114});
    CHECK(reads(26, 26) == RowRange{107, 114});
    CHECK(reads(26, 27) == RowRange{107, 121});
    CHECK(reads(0, 26, true) == RowRange{100, 113});  // 3136 bytes
}

TEST_CASE("activate reads accumulators and parameters and writes its pixels", "[isa][footprint]") {
    const Registers registers = with(activation_settings);
    Activate activate = {.accumulator_row = 3, .unified_buffer_row = 50, .length = 10, .first_output = 95};
    Footprint touched = footprint(activate, registers, tpu_v1_array);
    CHECK(touched.read_rows(MemoryId::Accumulators) == RowRange{3, 13});
    CHECK(touched.written_rows(MemoryId::Accumulators).empty());
    CHECK(touched.read_rows(MemoryId::UnifiedBuffer).empty());
    // From pixel 95 of image 0, byte 3808, to pixel 4 of image 1, byte 188.
    CHECK(touched.written_rows(MemoryId::UnifiedBuffer) == RowRange{50 + 14, 50 + 16 + 1});

    activate.load_parameters = true;
    touched = footprint(activate, registers, tpu_v1_array);
    CHECK(touched.read_rows(MemoryId::UnifiedBuffer) == RowRange{500, 501});  // 180 bytes
    CHECK(touched.read_rows(MemoryId::UnifiedBuffer, 1).empty());
    activate.function = ActivationFunction::Lookup;
    activate.length = 1;  // an image takes more rows of 64 bytes than registers say
    touched = footprint(activate, registers, {.rows = 64, .columns = 64});
    CHECK(touched.read_rows(MemoryId::UnifiedBuffer) == RowRange{500, 503});
    CHECK(touched.read_rows(MemoryId::UnifiedBuffer, 1) == RowRange{600, 604});
    activate.multipliers = Multipliers::Real;  // 240 bytes
    touched = footprint(activate, registers, {.rows = 64, .columns = 64});
    CHECK(touched.read_rows(MemoryId::UnifiedBuffer) == RowRange{500, 504});
}

TEST_CASE("activate's written rows are those of a walk over the pixels", "[isa][footprint]") {
    const auto seed = GENERATE(range(1U, 200U));
    CAPTURE(seed);
    std::mt19937 engine(seed);
    const auto from = [&](std::uint32_t low, std::uint32_t high) {
        return std::uniform_int_distribution<std::uint32_t>(low, high)(engine);
    };
    const Geometry geometry = {.rows = from(1, 40), .columns = 32};
    const bool wide = from(0, 1) == 1;
    const std::uint32_t columns = from(1, 32);
    const std::uint32_t part = columns * (wide ? 2 : 1);
    const std::uint32_t offset = from(0, 50);
    const std::uint32_t pixel_bytes = offset + part + from(0, 50);
    const std::uint32_t pixels = from(1, 30);
    const std::uint32_t image_rows = (pixels * pixel_bytes + geometry.rows - 1) / geometry.rows + from(0, 3);
    const Registers registers = with({{Register::ActivationColumns, columns},
                                      {Register::ActivationPixelBytes, pixel_bytes},
                                      {Register::ActivationChannelOffset, offset},
                                      {Register::ActivationImageRows, image_rows},
                                      {Register::ActivationOutputsPerImage, pixels}});
    const Activate activate = {.unified_buffer_row = from(0, 1000),
                               .length = static_cast<std::uint16_t>(from(1, 100)),
                               .first_output = from(0, 100),
                               .output = wide ? DataType::Int16 : DataType::Uint8};
    TouchedRows walked{geometry.rows};
    for (std::uint32_t i = 0; i < activate.length; ++i) {
        const std::uint32_t output = activate.first_output + i;
        const std::uint32_t image_row = activate.unified_buffer_row + output / pixels * image_rows;
        const std::uint32_t pixel = output % pixels * pixel_bytes + offset;
        for (std::uint32_t byte = 0; byte < part; ++byte) walked.touch(image_row, pixel + byte);
    }
    CHECK(footprint(activate, registers, geometry).written_rows(MemoryId::UnifiedBuffer) == walked.rows);
}

TEST_CASE("activate's written rows of blocks are those of a walk over the pixels inside",
          "[isa][footprint]") {
    constexpr unsigned seed = 11;
    std::mt19937 random(seed);
    const auto draw = [&](std::uint32_t least, std::uint32_t most) {
        return least + static_cast<std::uint32_t>(random() % (most - least + 1));
    };
    for (int run = 0; run < 500; ++run) {
        CAPTURE(seed, run);
        const std::uint32_t p = draw(1, 4);
        const std::uint32_t q = draw(p == 1 ? 2 : 1, 4);
        const std::uint32_t width = draw(1, 9);
        const std::uint32_t height = draw(1, 9);
        const std::uint32_t across = (width + p - 1) / p;
        const std::uint32_t blocks = across * ((height + q - 1) / q);
        const std::uint32_t channels = draw(1, 3);
        const std::uint32_t offset = draw(0, 5);
        const std::uint32_t pixel_bytes = offset + channels + draw(0, 9);
        const Geometry array{.rows = draw(1, 20), .columns = 64};
        const std::uint32_t image_rows = (width * height * pixel_bytes + array.rows - 1) / array.rows;
        const Registers registers = with({{Register::BlockWidth, p},
                                          {Register::BlockHeight, q},
                                          {Register::BlockOutputWidth, width},
                                          {Register::BlockOutputHeight, height},
                                          {Register::ActivationColumns, p * q * channels},
                                          {Register::ActivationPixelBytes, pixel_bytes},
                                          {Register::ActivationChannelOffset, offset},
                                          {Register::ActivationImageRows, image_rows},
                                          {Register::ActivationOutputsPerImage, blocks}});
        const Activate activate{.unified_buffer_row = draw(0, 9),
                                .length = static_cast<std::uint16_t>(draw(1, 3 * blocks)),
                                .first_output = draw(0, 2 * blocks)};
        TouchedRows touched{.row_bytes = array.rows};
        for (std::uint32_t row = 0; row < activate.length; ++row) {
            const std::uint32_t output = activate.first_output + row;
            for (std::uint32_t part = 0; part < p * q; ++part) {
                const std::uint32_t x = output % blocks % across * p + part % p;
                const std::uint32_t y = output % blocks / across * q + part / p;
                if (x >= width || y >= height) continue;
                for (std::uint32_t c = 0; c < channels; ++c) {
                    touched.touch(activate.unified_buffer_row + output / blocks * image_rows,
                                  std::uint64_t{y * width + x} * pixel_bytes + offset + c);
                }
            }
        }
        CHECK(footprint(activate, registers, array).written_rows(MemoryId::UnifiedBuffer) == touched.rows);
    }
}

TEST_CASE("Registers of blocks that do not fit each other are named", "[isa][footprint]") {
    const Settings blocks = {{Register::BlockWidth, 2},           {Register::BlockHeight, 3},
                             {Register::BlockOutputWidth, 5},     {Register::BlockOutputHeight, 7},
                             {Register::ActivationColumns, 12},   {Register::ActivationPixelBytes, 2},
                             {Register::ActivationImageRows, 16}, {Register::ActivationOutputsPerImage, 9}};
    const Activate activate{.length = 9};
    CHECK(footprint(activate, with(blocks), tpu_v1_array).written_rows(MemoryId::UnifiedBuffer) ==
          RowRange{0, 1});
    check_error(activate, changed(blocks, Register::BlockWidth, 0),
                "block.width is 0; it must be at least 1");
    check_error(activate, changed(blocks, Register::BlockHeight, 0),
                "block.height is 0; it must be at least 1");
    check_error(activate, changed(blocks, Register::BlockOutputWidth, 0),
                "block.output_width is 0; it must be at least 1");
    check_error(activate, changed(blocks, Register::BlockOutputHeight, 0),
                "block.output_height is 0; it must be at least 1");
    check_error(activate, changed(blocks, Register::ActivationOutputsPerImage, 8),
                "activation.outputs_per_image is 8; with block.width 2, block.height 3, block.output_width 5 "
                "and block.output_height 7 it must be 9");
    check_error(
        activate, changed(blocks, Register::ActivationColumns, 13),
        "activation.columns is 13; it must be a multiple of block.width times block.height, which is 6");
    check_error(activate, changed(blocks, Register::ActivationColumns, 18),
                "activation.pixel_bytes is 2; the columns end at byte 3 of the pixel");
    // What only loads has no pixels.
    CHECK_NOTHROW(footprint(Activate{.length = 0, .load_parameters = true},
                            with(changed(blocks, Register::ActivationColumns, 13)), tpu_v1_array));

    Settings windows = window_settings;
    windows.insert(windows.end(), blocks.begin(), blocks.end());
    windows.emplace_back(Register::WindowOutputWidth, 3);
    windows.emplace_back(Register::WindowOutputHeight, 3);
    const Convolve convolve{.lines = 2};
    CHECK(footprint(convolve, with(windows), tpu_v1_array).written_rows(MemoryId::Accumulators) ==
          RowRange{0, 6});
    check_error(convolve, changed(windows, Register::WindowOutputWidth, 2),
                "window.output_width is 2; with block.width 2 and block.output_width 5 it must be 3");
    check_error(convolve, changed(windows, Register::WindowOutputHeight, 4),
                "window.output_height is 4; with block.height 3 and block.output_height 7 it must be 3");
}

TEST_CASE("Element-wise work touches whole rows", "[isa][footprint]") {
    const Registers registers = with({{Register::ActivationTableRow, 77}});
    Vector vector = {.operation = VectorOperation::Add,
                     .destination_row = 10,
                     .source_row = 20,
                     .other_row = 30,
                     .length = 5};
    Footprint touched = footprint(vector, registers, tpu_v1_array);
    CHECK(touched.read_rows(MemoryId::UnifiedBuffer) == RowRange{20, 25});
    CHECK(touched.read_rows(MemoryId::UnifiedBuffer, 1) == RowRange{30, 35});
    CHECK(touched.written_rows(MemoryId::UnifiedBuffer) == RowRange{10, 15});
    CHECK(touched.read_rows(MemoryId::UnifiedBuffer, 2).empty());
    vector.operation = VectorOperation::Multiply;
    CHECK(footprint(vector, registers, tpu_v1_array).read_rows(MemoryId::UnifiedBuffer, 1) ==
          RowRange{30, 35});
    vector.operation = VectorOperation::Lookup;
    vector.other_row = 0;
    touched = footprint(vector, registers, tpu_v1_array);
    CHECK(touched.read_rows(MemoryId::UnifiedBuffer) == RowRange{20, 25});
    CHECK(touched.read_rows(MemoryId::UnifiedBuffer, 1) == RowRange{77, 78});
}

TEST_CASE("Pooling's written rows are those of a walk over the lines", "[isa][footprint]") {
    const auto seed = GENERATE(range(1U, 200U));
    CAPTURE(seed);
    std::mt19937 engine(seed);
    const auto from = [&](std::uint32_t low, std::uint32_t high) {
        return std::uniform_int_distribution<std::uint32_t>(low, high)(engine);
    };
    const Geometry geometry = {.rows = from(1, 40), .columns = 8};
    const std::uint32_t height = from(1, 9);
    const std::uint32_t width = from(1, 9);
    const std::uint32_t channels = from(1, 20);
    const bool packed = from(0, 1) == 0;
    const std::uint32_t offset = packed ? 0 : from(0, 30);
    const std::uint32_t pixel_bytes = packed ? channels : offset + channels + from(0, 30);
    const auto rows_of = [&](std::uint32_t bytes) { return (bytes + geometry.rows - 1) / geometry.rows; };
    const std::uint32_t input_rows = rows_of(4 * height * width * channels);
    const std::uint32_t read_pitch = input_rows + from(0, 3);
    const std::uint32_t write_pitch = rows_of(height * width * pixel_bytes) + from(0, 3);
    const Registers registers = with({{Register::WindowInputHeight, 2 * height},
                                      {Register::WindowInputWidth, 2 * width},
                                      {Register::WindowChannels, channels},
                                      {Register::WindowKernelHeight, 2},
                                      {Register::WindowKernelWidth, 2},
                                      {Register::WindowStrideY, 2},
                                      {Register::WindowStrideX, 2},
                                      {Register::WindowOutputHeight, height},
                                      {Register::WindowOutputWidth, width},
                                      {Register::WindowImageRows, read_pitch},
                                      {Register::ActivationImageRows, write_pitch},
                                      {Register::ActivationPixelBytes, packed ? 0 : pixel_bytes},
                                      {Register::ActivationChannelOffset, offset}});
    const Vector pool = {.operation = VectorOperation::MaxPool,
                         .destination_row = from(1000000, 1001000),
                         .source_row = from(0, 1000),
                         .length = from(1, 40),
                         .first_line = from(0, 40)};
    TouchedRows written{geometry.rows};
    for (std::uint32_t line = pool.first_line; line < pool.first_line + pool.length; ++line) {
        for (std::uint32_t x = 0; x < width; ++x) {
            for (std::uint32_t channel = 0; channel < channels; ++channel) {
                written.touch(pool.destination_row + line / height * write_pitch,
                              (line % height * width + x) * pixel_bytes + offset + channel);
            }
        }
    }
    const Footprint touched = footprint(pool, registers, geometry);
    CHECK(touched.written_rows(MemoryId::UnifiedBuffer) == written.rows);
    const std::uint32_t last_image = (pool.first_line + pool.length - 1) / height;
    CHECK(touched.read_rows(MemoryId::UnifiedBuffer) ==
          RowRange{pool.source_row + pool.first_line / height * read_pitch,
                   pool.source_row + last_image * read_pitch + input_rows});
}

TEST_CASE("Registers that make no sense are named", "[isa][footprint]") {
    const Convolve convolve = {.lines = 1};
    // Pooling reads the same windows, but no tile: its channels and lines have the same rules.
    const Vector pool = {.operation = VectorOperation::MaxPool, .destination_row = 1000, .length = 1};
    for (const Register reg :
         {Register::WindowInputHeight, Register::WindowInputWidth, Register::WindowChannels,
          Register::WindowImageRows, Register::WindowKernelHeight, Register::WindowKernelWidth,
          Register::WindowStrideY, Register::WindowStrideX, Register::WindowOutputHeight,
          Register::WindowOutputWidth}) {
        const std::string rule = std::string(name(reg)) + " is 0; it must be at least 1";
        check_error(convolve, changed(window_settings, reg, 0), rule);
        check_error(pool, changed(window_settings, reg, 0), rule);
    }
    for (const Register reg : {Register::ActivationColumns, Register::ActivationPixelBytes,
                               Register::ActivationImageRows, Register::ActivationOutputsPerImage}) {
        check_error(Activate{.length = 1}, changed(activation_settings, reg, 0),
                    std::string(name(reg)) + " is 0; it must be at least 1");
    }
    check_error(MatrixMultiply{.length = 1}, {{Register::MultiplyRowStride, 0}},
                "multiply.row_stride is 0; it must be at least 1");
    for (const std::int32_t zero_point : {-129, 128, INT32_MIN}) {
        const auto bits = static_cast<std::uint32_t>(zero_point);
        const std::string rule =
            "multiply.weight_zero_point is " + std::to_string(zero_point) + "; it must be from -128 to 127";
        check_error(MatrixMultiply{.length = 1}, {{Register::MultiplyWeightZeroPoint, bits}}, rule);
        check_error(convolve, changed(window_settings, Register::MultiplyWeightZeroPoint, bits), rule);
    }
    check_error(MatrixMultiply{.length = 1, .flags = {.weights = DataType::Int16}},
                {{Register::MultiplyWeightZeroPoint, 1}},
                "multiply.weight_zero_point is 1; it must be 0 for weights of int16");
    check_error(Activate{.length = 1}, changed(activation_settings, Register::ActivationColumns, 257),
                "activation.columns is 257; the array has 256");
    CHECK_NOTHROW(footprint(Activate{.length = 1},
                            with(changed(activation_settings, Register::ActivationFirstColumn, 236)),
                            tpu_v1_array));
    for (const std::uint32_t first : {237U, 256U, UINT32_MAX}) {
        check_error(Activate{.length = 1},
                    changed(activation_settings, Register::ActivationFirstColumn, first),
                    "activation.first_column is " + std::to_string(first) +
                        "; with 20 columns from there on it may be at most 236");
    }
    check_error(Activate{.length = 1}, changed(activation_settings, Register::ActivationPixelBytes, 27),
                "activation.pixel_bytes is 27; the columns end at byte 28 of the pixel");
    check_error(Activate{.length = 101}, changed(activation_settings, Register::ActivationImageRows, 15),
                "activation.image_rows is 15; an image takes 16 rows");
    CHECK_NOTHROW(footprint(Activate{.length = 100},
                            with(changed(activation_settings, Register::ActivationImageRows, 15)),
                            tpu_v1_array));
    check_error(Activate{.length = 1}, changed(activation_settings, Register::OutputMinimum, 256),
                "output.minimum is 256; it must be at most output.maximum, which is 255");
    CHECK_NOTHROW(footprint(Activate{.length = 1},
                            with(changed(activation_settings, Register::OutputMinimum, 255)), tpu_v1_array));
    CHECK_NOTHROW(footprint(Activate{.length = 1},
                            with(changed(activation_settings, Register::OutputMinimum, 0x80000000)),
                            tpu_v1_array));
}

TEST_CASE("Every repetition of convolve has elements of the window", "[isa][footprint]") {
    const Settings settings =
        changed(window_settings, Register::WindowChannels, 200);  // 1800: 8 tiles of 256
    const auto roomy = changed(settings, Register::WindowTile, 5);
    CHECK_NOTHROW(footprint(Convolve{.lines = 1, .repeat = 2}, with(roomy), tpu_v1_array));
    check_error(Convolve{.lines = 1, .repeat = 3}, roomy,
                "window.tile is 5; with repeat=3 the last repetition takes tile 8 of a window of 8");
}

TEST_CASE("Element-wise results may replace a whole operand, not a part of it", "[isa][footprint]") {
    Vector vector = {.operation = VectorOperation::Add, .source_row = 20, .other_row = 30, .length = 5};
    for (const std::uint32_t row : {15U, 20U, 25U, 30U, 35U}) {
        vector.destination_row = row;
        CHECK_NOTHROW(footprint(vector, Registers(), tpu_v1_array));
    }
    for (const std::uint32_t row : {16U, 19U, 21U, 24U, 29U, 34U}) {
        vector.destination_row = row;
        check_error(vector, {},
                    "dst is " + std::to_string(row) +
                        "; the rows written must be those of an operand or none of them");
    }
}

TEST_CASE("Pooling may not write rows that it reads", "[isa][footprint]") {
    Vector pool = {.operation = VectorOperation::MaxPool, .source_row = 100, .length = 1};
    const std::uint64_t read_rows =
        footprint(pool, with(window_settings), tpu_v1_array).read_rows(MemoryId::UnifiedBuffer).last - 100;
    pool.destination_row = static_cast<std::uint32_t>(100 + read_rows);
    CHECK_NOTHROW(footprint(pool, with(window_settings), tpu_v1_array));
    pool.destination_row -= 1;
    check_error(
        pool, window_settings,
        "dst is " + std::to_string(pool.destination_row) + "; pooling may not write rows that it reads");
}

TEST_CASE("Pooling's channels lie within the pixel", "[isa][footprint]") {
    const Vector pool = {.operation = VectorOperation::MaxPool, .destination_row = 1000, .length = 1};
    const Settings wide_pixel = changed(window_settings, Register::ActivationPixelBytes, 40);
    const std::uint32_t channels = with(window_settings)[Register::WindowChannels];
    const auto at = [&](std::uint32_t offset) {
        return changed(wide_pixel, Register::ActivationChannelOffset, offset);
    };
    CHECK_NOTHROW(footprint(pool, with(at(40 - channels)), tpu_v1_array));
    check_error(pool, at(41 - channels),
                "activation.pixel_bytes is 40; the channels end at byte 41 of the pixel");
    check_error(
        pool, changed(window_settings, Register::ActivationChannelOffset, 1),
        "activation.channel_offset is 1; it must be 0 where activation.pixel_bytes is, which packs the "
        "pixels of pooling");
}

TEST_CASE("Windows have sizes whose positions 64 bits can count", "[isa][footprint]") {
    const Convolve convolve = {.lines = 1};
    CHECK_NOTHROW(
        footprint(convolve, with(changed(window_settings, Register::WindowStrideX, 65535)), tpu_v1_array));
    check_error(convolve, changed(window_settings, Register::WindowStrideX, 65536),
                "window.stride_x is 65536; it must be at most 65535");
    check_error(convolve, changed(window_settings, Register::WindowPadTop, 65536),
                "window.pad_top is 65536; it must be at most 65535");
    check_error(convolve, changed(window_settings, Register::WindowChannels, 1U << 24U),
                "window.channels is 16777216; it must be at most 16777215");
}

TEST_CASE("Pooling windows without an element are errors unless padding counts", "[isa][footprint]") {
    Vector pool = {.operation = VectorOperation::AveragePool, .destination_row = 1000, .length = 1};
    const Settings above = changed(window_settings, Register::WindowPadTop, 3);
    check_error(
        pool, above,
        "window.pad_top is 3; it must be below window.kernel_height, which is 3: the first window would "
        "lie outside the image");
    const Settings right = changed(window_settings, Register::WindowOutputWidth, 29);
    check_error(pool, right, "window.output_width is 29; the last window would lie outside the image");
    // The last window holds one column of the image, the others lie in the padding to the right.
    CHECK_NOTHROW(
        footprint(pool, with(changed(window_settings, Register::WindowOutputWidth, 28)), tpu_v1_array));
    pool.count_padding = true;
    CHECK_NOTHROW(footprint(pool, with(above), tpu_v1_array));
    CHECK_NOTHROW(footprint(pool, with(right), tpu_v1_array));
}

TEST_CASE("Footprints end where addresses end", "[isa][footprint]") {
    CHECK(footprint(ReadHostMemory{.unified_buffer_row = 0xffffff, .block_bytes = 256}, Registers(),
                    tpu_v1_array)
              .written_rows(MemoryId::UnifiedBuffer) == RowRange{0xffffff, 0x1000000});
    CHECK_THROWS_MATCHES(
        footprint(ReadHostMemory{.unified_buffer_row = 0xffffff, .block_bytes = 257}, Registers(),
                  tpu_v1_array),
        ProgramError,
        Message("read_host 0x0 ub=16777215 block=257: unified-buffer rows from 16777215 on end before row "
                "16777217; "
                "addresses end at row 16777215"));
    CHECK_NOTHROW(
        footprint(MatrixMultiply{.accumulator_row = 65535, .length = 1}, Registers(), tpu_v1_array));
    CHECK_THROWS_AS(
        footprint(MatrixMultiply{.accumulator_row = 65535, .length = 2}, Registers(), tpu_v1_array),
        ProgramError);
    CHECK_THROWS_AS(footprint(MatrixMultiply{.length = 0}, Registers(), tpu_v1_array), ProgramError);
    CHECK_THROWS_AS(footprint(Nop{}, Registers(), {.rows = 0, .columns = 1}), ProgramError);
}

TEST_CASE("Registers of any value give rows that addresses name, or an error", "[isa][footprint]") {
    const auto seed = GENERATE(1U, 2U, 3U);
    CAPTURE(seed);
    std::mt19937 engine(seed);
    const auto any = [&]() -> std::uint32_t {
        const auto shift = std::uniform_int_distribution<std::uint32_t>(0, 31)(engine);
        return static_cast<std::uint32_t>(engine()) >> shift;
    };
    int sensible = 0;
    int rejected = 0;
    for (int i = 0; i < 20'000; ++i) {
        Registers registers;
        for (std::size_t reg = 0; reg < register_count; ++reg)
            registers.set(static_cast<Register>(reg), any());
        registers.set(Register::OutputMinimum, 0);
        registers.set(Register::OutputMaximum, 255);
        const Instruction instructions[] = {
            Convolve{.unified_buffer_row = any() >> 8, .lines = static_cast<std::uint16_t>(1 | any())},
            MatrixMultiply{.unified_buffer_row = any() >> 8, .length = 1 | any()},
            Activate{.length = static_cast<std::uint16_t>(1 | any()),
                     .first_output = any(),
                     .load_parameters = true},
            Vector{.operation = VectorOperation::MaxPool,
                   .length = 1 | any(),
                   .first_line = any(),
                   .count_padding = true}};
        for (const Instruction& instruction : instructions) {
            try {
                const Footprint touched = footprint(instruction, registers, tpu_v1_array);
                ++sensible;
                for (const auto& [memory, access, rows] : touched) {
                    REQUIRE(rows.first <= rows.last);
                    REQUIRE(rows.last <= std::uint64_t{1} << 24);
                }
            } catch (const ProgramError&) {
                ++rejected;
            }
        }
    }
    CHECK(sensible > 100);
    CHECK(rejected > 100);
}
