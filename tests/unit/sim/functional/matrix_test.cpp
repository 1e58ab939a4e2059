// docs/isa.md, "matmul", "convolve" and "read_weights".
#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>

#include "tests/support/random_runs.h"
#include "tests/unit/sim/functional/naive.h"
#include "tests/unit/sim/functional/run.h"

using namespace systole;
using namespace systole::functional::tests;
using Sums = std::vector<std::int32_t>;

TEST_CASE("matmul multiplies small matrices") {
    // (1 2; 3 4; 5 6) * (1 -1 10; 2 -2 20), the third row of the array and its fourth column unused.
    Run run(R"(
        .array 3 4
        .buffer in constant 0 9
        .int8 1 2 99 3 4 99 5 6 99
        .tile 2 3
        .int8 1 -1 10 2 -2 20
        read_host in ub=4 block=9
        read_weights tile=0
        matmul ub=4 acc=2 rows=3
        halt)");
    run.executor.run();
    CHECK(run.accumulator_row(1) == Sums{0, 0, 0, 0});
    CHECK(run.accumulator_row(2) == Sums{5, -5, 50, 0});
    CHECK(run.accumulator_row(3) == Sums{11, -11, 110, 0});
    CHECK(run.accumulator_row(4) == Sums{17, -17, 170, 0});
    CHECK(run.accumulator_row(5) == Sums{0, 0, 0, 0});
}

TEST_CASE("Activations are unsigned or two's complement, weights always two's complement") {
    // The streamed row is 255, 128.
    const std::string declarations = R"(
        .array 2 1
        .buffer in constant 0 2
        .data ff80
        .tile 2 1
        .int8 -1 2
        read_host in ub=0 block=2
        read_weights tile=0
    )";
    Run is_unsigned(declarations + "matmul ub=0 acc=0 rows=1; halt");
    is_unsigned.executor.run();
    CHECK(is_unsigned.accumulator_row(0) == Sums{-255 + 2 * 128});
    Run is_signed(declarations + "matmul ub=0 acc=0 rows=1 signed; halt");
    is_signed.executor.run();
    CHECK(is_signed.accumulator_row(0) == Sums{1 - 2 * 128});
}

TEST_CASE("16-bit activations and weights are little endian") {
    // The streamed row is 0x0201, 0xfffe: two unified-buffer rows of two bytes.
    const std::string declarations = R"(
        .array 2 1
        .buffer in constant 0 4
        .data 0102feff
        .tile 2 1 bytes=2
        .int16 -1000 256
        read_host in ub=0 block=4
        read_weights tile=0
    )";
    Run is_unsigned(declarations + "matmul ub=0 acc=0 rows=1 wide_a wide_w; halt");
    is_unsigned.executor.run();
    CHECK(is_unsigned.accumulator_row(0) == Sums{-1000 * 0x201 + 256 * 0xfffe});
    Run is_signed(declarations + "matmul ub=0 acc=0 rows=1 wide_a wide_w signed; halt");
    is_signed.executor.run();
    CHECK(is_signed.accumulator_row(0) == Sums{-1000 * 0x201 - 256 * 2});
}

TEST_CASE("Repetitions take tile after tile and unified-buffer row after row, and add") {
    const std::string declarations = R"(
        .array 1 1
        .buffer in constant 0 6
        .int8 1 2 3 4 5 6
        .tile 1 1 fill 10
        .tile 1 1 fill 1
        .tile 1 1 fill 2
        read_host in ub=0 block=6
        set multiply.row_stride 2
        read_weights tile=1 count=2
        read_weights tile=0
    )";
    // Tiles come in the order of read_weights: 1, 2, 10. Row b of repetition r is row 2 b + r.
    Run run(declarations + "matmul ub=0 acc=0 rows=2 repeat=2; halt");
    run.executor.run();
    CHECK(run.accumulator_row(0) == Sums{1 * 1 + 2 * 2 + 3 * 10});
    CHECK(run.accumulator_row(1) == Sums{3 * 1 + 4 * 2 + 5 * 10});

    Run apart(declarations +
              "matmul ub=0 acc=0 rows=1; matmul ub=1 acc=0 rows=1 accumulate; matmul ub=2 acc=1 rows=1; "
              "matmul ub=3 acc=1 rows=1 keep accumulate; matmul ub=5 acc=0 rows=1 keep accumulate; halt");
    apart.executor.run();
    CHECK(apart.accumulator_row(0) == Sums{1 * 1 + 2 * 2 + 6 * 10});
    CHECK(apart.accumulator_row(1) == Sums{3 * 10 + 4 * 10});
}

TEST_CASE("Overwriting leaves the columns that the tile does not use as they are") {
    Run run(R"(
        .array 1 3
        .buffer in constant 0 1 fill 1
        .tile 1 3
        .int8 1 2 3
        .tile 1 2
        .int8 7 8
        read_host in ub=0 block=1
        read_weights tile=0 count=2
        matmul ub=0 acc=0 rows=1
        matmul ub=0 acc=0 rows=1
        halt)");
    run.executor.run();
    CHECK(run.accumulator_row(0) == Sums{7, 8, 3});
}

TEST_CASE("Sums wrap around in 32 bits") {
    // 65535 * -32768 three times.
    Run run(R"(
        .array 3 1
        .buffer in constant 0 6 fill 255
        .tile 3 1 bytes=2
        .int16 3*-32768
        read_host in ub=0 block=6
        read_weights tile=0
        matmul ub=0 acc=0 rows=1 wide_a wide_w
        halt)");
    run.executor.run();
    CHECK(run.accumulator_row(0) == Sums{wrap(std::int64_t{3} * 65535 * -32768)});
    CHECK(std::int64_t{3} * 65535 * -32768 < INT32_MIN);
}

TEST_CASE("convolve multiplies the windows of a small image") {
    // The image 1 2 3; 4 5 6; 7 8 9 in rows of four bytes, 2 x 2 windows two apart from (-1, -1) on,
    // outside 50. A window has four elements: one tile.
    Run run(R"(
        .array 4 2
        .buffer in constant 0 9
        .int8 1 2 3 4 5 6 7 8 9
        .tile 4 2
        .int8 1 0 1 0 1 0 1 1
        set window.input_height 3; set window.input_width 3; set window.channels 1
        set window.image_rows 3; set window.kernel_height 2; set window.kernel_width 2
        set window.stride_y 2; set window.stride_x 2; set window.pad_top 1; set window.pad_left 1
        set window.output_height 2; set window.output_width 2; set window.pad_value 50
        read_host in ub=5 block=9
        read_weights tile=0
        convolve ub=5 acc=1 lines=2
        halt)");
    run.executor.run();
    CHECK(run.accumulator_row(1) == Sums{50 + 50 + 50 + 1, 1});
    CHECK(run.accumulator_row(2) == Sums{50 + 50 + 2 + 3, 3});
    CHECK(run.accumulator_row(3) == Sums{50 + 4 + 50 + 7, 7});
    CHECK(run.accumulator_row(4) == Sums{5 + 6 + 8 + 9, 9});
    CHECK(run.accumulator_row(5) == Sums{0, 0});
}

TEST_CASE("A window longer than the array takes several tiles, the last one a part") {
    // One window of three elements on an array of two rows. Elements behind the window are zeros, whatever
    // weights they meet.
    const std::string declarations = R"(
        .array 2 1
        .buffer in constant 0 4
        .int8 3 5 7 100
        .tile 2 1
        .int8 1 2
        .tile 2 1
        .int8 4 100
        set window.input_height 1; set window.input_width 3; set window.channels 1
        set window.image_rows 2; set window.kernel_width 3; set window.output_height 1
        set window.output_width 1
        read_host in ub=0 block=4
    )";
    Run both(declarations + "read_weights tile=0 count=2; convolve ub=0 acc=0 lines=1 repeat=1; halt");
    both.executor.run();
    CHECK(both.accumulator_row(0) == Sums{3 * 1 + 5 * 2 + 7 * 4});
    Run last(declarations + "set window.tile 1; read_weights tile=1; convolve ub=0 acc=0 lines=1; halt");
    last.executor.run();
    CHECK(last.accumulator_row(0) == Sums{7 * 4});
}

namespace {

constexpr std::uint32_t matrix_buffer_rows = 60;
constexpr std::uint32_t matrix_accumulator_rows = 24;

/// Makes random matrix work and computes its results with scalar loops.
class MatrixWork {
public:
    explicit MatrixWork(unsigned seed) : random_(seed) {
        program.geometry = {.rows = random_.from(1, 9), .columns = random_.from(1, 7)};
        buffer_ = random_.bytes(std::size_t{matrix_buffer_rows} * program.geometry.rows);
        sums.assign(std::size_t{matrix_accumulator_rows} * program.geometry.columns, 0);
        fill_buffer(program, buffer_);
    }

    void add_matmul() {
        const std::uint32_t stride = random_.from(1, 4);
        set(isa::Register::MultiplyRowStride, stride);
        const isa::MatrixFlags flags = draw_flags();
        const auto repeat = static_cast<std::uint8_t>(flags.keep_weights ? 0 : random_.from(0, 3));
        const std::uint32_t length = random_.from(1, 12);
        const std::uint32_t operand_rows = bytes_of(flags.activations);
        const std::uint32_t touched = (length - 1) * stride + (repeat + 1U) * operand_rows;
        const isa::MatrixMultiply matmul{
            .unified_buffer_row = random_.from(0, matrix_buffer_rows - touched),
            .accumulator_row = static_cast<std::uint16_t>(random_.from(0, matrix_accumulator_rows - length)),
            .length = length,
            .flags = flags,
            .repeat = repeat};
        for (std::uint32_t r = 0; r <= repeat; ++r) {
            take_tile(flags);
            for (std::uint32_t b = 0; b < length; ++b) {
                const std::size_t row = matmul.unified_buffer_row + b * stride + r * operand_rows;
                stream(matmul.accumulator_row + b, flags, r, [&](std::size_t i) -> std::int64_t {
                    return element_of(std::span(buffer_).subspan(row * program.geometry.rows), i,
                                      bytes_of(flags.activations) == 2, is_signed(flags.activations));
                });
            }
        }
        program.instructions.emplace_back(matmul);
    }

    void add_convolve() {
        using enum isa::Register;
        const isa::MatrixFlags flags = draw_flags();
        const std::size_t element_bytes = bytes_of(flags.activations);
        for (const auto reg : {WindowInputHeight, WindowInputWidth, WindowChannels, WindowKernelHeight,
                               WindowKernelWidth, WindowStrideY, WindowStrideX}) {
            set(reg, random_.from(1, 3));
        }
        for (const auto reg : {WindowPadTop, WindowPadLeft}) set(reg, random_.from(0, 2));
        set(WindowOutputHeight, random_.from(1, 3));
        set(WindowOutputWidth, random_.from(1, 4));
        set(WindowPadValue, random_.from(0, UINT16_MAX));
        const std::uint32_t image_bytes = registers_[WindowInputHeight] * registers_[WindowInputWidth] *
                                          registers_[WindowChannels] *
                                          static_cast<std::uint32_t>(element_bytes);
        const std::uint32_t image_rows =
            (image_bytes + program.geometry.rows - 1) / program.geometry.rows + random_.from(0, 1);
        set(WindowImageRows, image_rows);
        const std::size_t elements = std::size_t{registers_[WindowKernelHeight]} *
                                     registers_[WindowKernelWidth] * registers_[WindowChannels];
        const auto tiles = static_cast<std::uint32_t>((elements - 1) / program.geometry.rows + 1);
        set(WindowTile, random_.from(0, tiles - 1));
        const auto repeat = static_cast<std::uint8_t>(
            flags.keep_weights ? 0 : random_.from(0, tiles - 1 - registers_[WindowTile]));

        const std::uint32_t images = std::min(3U, matrix_buffer_rows / image_rows);
        if (images == 0) return;
        const std::uint32_t all_lines = images * registers_[WindowOutputHeight];
        const std::uint32_t first_line = random_.from(0, all_lines - 1);
        const std::uint32_t lines = random_.from(
            1, std::min(all_lines - first_line, matrix_accumulator_rows / registers_[WindowOutputWidth]));
        const std::uint32_t windows = lines * registers_[WindowOutputWidth];
        const isa::Convolve convolve{
            .unified_buffer_row = random_.from(0, matrix_buffer_rows - images * image_rows),
            .accumulator_row = static_cast<std::uint16_t>(random_.from(0, matrix_accumulator_rows - windows)),
            .first_line = static_cast<std::uint16_t>(first_line),
            .lines = static_cast<std::uint16_t>(lines),
            .flags = flags,
            .repeat = repeat};
        for (std::uint32_t r = 0; r <= repeat; ++r) {
            take_tile(flags);
            const std::size_t begin = (registers_[WindowTile] + r) * program.geometry.rows;
            for (std::uint32_t w = 0; w < windows; ++w) {
                const std::uint32_t line = first_line + w / registers_[WindowOutputWidth];
                const std::uint32_t x = w % registers_[WindowOutputWidth];
                stream(convolve.accumulator_row + w, flags, r, [&](std::size_t i) -> std::int64_t {
                    if (begin + i >= elements) return 0;
                    return window_element(convolve, line, x, begin + i);
                });
            }
        }
        program.instructions.emplace_back(convolve);
    }

    isa::Program program;
    Sums sums;

private:
    void set(isa::Register reg, std::uint32_t value) {
        registers_.set(reg, value);
        program.instructions.emplace_back(isa::SetConfig{reg, value});
    }

    isa::MatrixFlags draw_flags() {
        isa::MatrixFlags flags{.accumulate = random_.coin(),
                               .keep_weights = tile_.has_value() && random_.from(0, 3) == 0,
                               .activations = integer_type(random_.coin(), random_.coin()),
                               .weights = integer_type(random_.coin(), true)};
        if (flags.keep_weights) flags.weights = tile_->type;
        return flags;
    }

    /// Makes the tile a repetition takes, and the instruction that fetches it.
    void take_tile(const isa::MatrixFlags& flags) {
        if (flags.keep_weights) return;
        isa::WeightTile tile{.rows = random_.from(1, program.geometry.rows),
                             .columns = random_.from(1, program.geometry.columns),
                             .type = flags.weights};
        tile.values = random_.bytes(std::size_t{tile.rows} * tile.columns * bytes_of(tile.type));
        tile_ = tile;
        program.instructions.emplace_back(
            isa::ReadWeights{.first_tile = static_cast<std::uint32_t>(program.tiles.size())});
        program.tiles.push_back(std::move(tile));
    }

    template <class Element>
    void stream(std::size_t row, const isa::MatrixFlags& flags, std::uint32_t repetition, Element element) {
        for (std::size_t column = 0; column < tile_->columns; ++column) {
            std::int32_t& sum = sums[row * program.geometry.columns + column];
            if (!flags.accumulate && repetition == 0) sum = 0;
            for (std::size_t i = 0; i < tile_->rows; ++i) {
                const std::int64_t weight = element_of(tile_->values, i * tile_->columns + column,
                                                       flags.weights == DataType::Int16, true);
                sum = wrap(sum + element(i) * weight);
            }
        }
    }

    std::int64_t window_element(const isa::Convolve& convolve, std::uint32_t line, std::uint32_t x,
                                std::size_t index) const {
        using enum isa::Register;
        const std::size_t pixel = index / registers_[WindowChannels];
        const auto found = window_pixel(registers_, line, x, pixel / registers_[WindowKernelWidth],
                                        pixel % registers_[WindowKernelWidth]);
        const isa::MatrixFlags& flags = convolve.flags;
        if (!found) {
            const std::uint32_t bits = registers_[WindowPadValue];
            const Bytes pad{static_cast<std::uint8_t>(bits), static_cast<std::uint8_t>(bits >> 8)};
            return element_of(pad, 0, bytes_of(flags.activations) == 2, is_signed(flags.activations));
        }
        const std::size_t row = convolve.unified_buffer_row + found->image * registers_[WindowImageRows];
        return element_of(std::span(buffer_).subspan(row * program.geometry.rows),
                          found->element + index % registers_[WindowChannels],
                          bytes_of(flags.activations) == 2, is_signed(flags.activations));
    }

    Random random_;
    isa::Registers registers_;
    Bytes buffer_;
    std::optional<isa::WeightTile> tile_;
};

void check(MatrixWork& work) {
    work.program.instructions.emplace_back(isa::Halt{});
    Run run(work.program, matrix_buffer_rows, matrix_accumulator_rows);
    run.executor.run();
    const auto sums = run.executor.accumulators();
    CHECK(Sums(sums.begin(), sums.end()) == work.sums);
}

}  // namespace

TEST_CASE("Sequences of matmul agree with scalar loops") {
    for (unsigned seed = 0; seed < tests::random_runs(200); ++seed) {
        CAPTURE(seed);
        MatrixWork work(seed);
        for (int i = 0; i < 6; ++i) work.add_matmul();
        check(work);
    }
}

TEST_CASE("Sequences of convolve and matmul agree with scalar loops") {
    for (unsigned seed = 1000; seed < 1000 + tests::random_runs(300); ++seed) {
        CAPTURE(seed);
        MatrixWork work(seed);
        for (int i = 0; i < 4; ++i) {
            work.add_convolve();
            work.add_matmul();
            work.add_convolve();
        }
        check(work);
    }
}
