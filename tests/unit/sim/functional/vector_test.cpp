// docs/isa.md, "vector".
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>

#include "hw/isa/footprint.h"
#include "hw/isa/program_error.h"
#include "tests/support/random_runs.h"
#include "tests/unit/sim/functional/naive.h"
#include "tests/unit/sim/functional/run.h"

using namespace systole;
using namespace systole::functional::tests;

TEST_CASE("vector adds two tensors with different scales and zero points") {
    // 2^20 * scale_a, back by the result's shift: (a - 1) / 2 + (b - 2) + 5 of signed elements, at most 20.
    Run run(R"(
        .array 4 1
        .buffer in constant 0 8
        .int8 3 -7 5 1 10 -20 100 0
        set vector.zero_point_a 1; set vector.multiplier_a 0x40000000
        set vector.zero_point_b 2; set vector.multiplier_b 0x40000000; set vector.shift_b 1
        set vector.multiplier 0x40000000; set vector.shift -19
        set output.zero_point 5; set output.minimum -25; set output.maximum 20
        read_host in ub=0 block=8
        vector add dst=5 src=0 other=1 rows=1 signed
        halt)");
    run.executor.run();
    CHECK(run.buffer_row(5) == Bytes{1 + 8 + 5, 256 - 4 - 22 + 5, 20, 0 - 2 + 5});
    CHECK(run.buffer_row(1) == Bytes{10, 236, 100, 0});
}

TEST_CASE("vector multiplies two tensors") {
    // (a - 1) * (b - 2) / 4.
    Run run(R"(
        .array 4 1
        .buffer in constant 0 8
        .int8 3 7 255 0 10 4 255 2
        set vector.zero_point_a 1; set vector.zero_point_b 2
        set vector.multiplier 0x40000000; set vector.shift -1
        read_host in ub=0 block=8
        vector multiply dst=0 src=0 other=1 rows=1
        halt)");
    run.executor.run();
    CHECK(run.buffer_row(0) == Bytes{2 * 8 / 4, 6 * 2 / 4, 255, 0});
}

TEST_CASE("Pooling gives the maximum and the mean of small windows") {
    // 3 x 3 pixels of two channels, the second being the first's negative; windows of 2 x 2 two apart.
    const std::string declarations = R"(
        .array 6 1
        .buffer in constant 0 18
        .int8 1 -1 2 -2 3 -3 4 -4 5 -5 6 -6 7 -7 8 -8 9 -9
        set window.input_height 3; set window.input_width 3; set window.channels 2
        set window.image_rows 3; set window.kernel_height 2; set window.kernel_width 2
        set window.stride_y 2; set window.stride_x 2; set window.output_height 2; set window.output_width 2
        set window.pad_value 100; set activation.image_rows 2
        read_host in ub=0 block=18
    )";
    const auto run_with = [&](const std::string& operation) {
        Run run(declarations + "vector " + operation + " dst=8 src=0 lines=2 signed\nhalt");
        run.executor.run();
        Bytes result = run.buffer_row(8);
        const Bytes second = run.buffer_row(9);
        result.insert(result.end(), second.begin(), second.end());
        return result;
    };
    const auto bits = [](const std::array<int, 8>& values) {
        Bytes result(12);
        std::transform(values.begin(), values.end(), result.begin(),
                       [](int value) { return static_cast<std::uint8_t>(value); });
        return result;
    };
    CHECK(run_with("max_pool") == bits({5, -1, 6, -3, 8, -7, 9, -9}));
    // Means of 3, 4.5, 7.5, 9: halves away from zero.
    CHECK(run_with("average_pool") == bits({3, -3, 5, -5, 8, -8, 9, -9}));
    CHECK(run_with("max_pool count_padding") == bits({5, -1, 100, 100, 100, 100, 100, 100}));
    // (3 + 6 + 200) / 4, (7 + 8 + 200) / 4, (9 + 300) / 4
    CHECK(run_with("average_pool count_padding") == bits({3, -3, 52, 48, 54, 46, 77, 73}));
}

TEST_CASE("Results may overwrite an operand") {
    const std::string declarations = R"(
        .array 1 1
        .buffer in constant 0 4
        .int8 1 2 3 4
        set vector.multiplier 0x40000000; set vector.shift 1
        set vector.multiplier_a 0x40000000; set vector.multiplier_b 0x40000000
        set window.input_height 3; set window.input_width 1; set window.channels 1; set window.image_rows 3
        set window.output_height 3; set window.output_width 1; set activation.image_rows 3
        read_host in ub=0 block=4
    )";
    const auto rows_of = [&](const std::string& instruction) {
        Run run(declarations + instruction + "\nhalt");
        run.executor.run();
        return Bytes{run.buffer_row(0)[0], run.buffer_row(1)[0], run.buffer_row(2)[0], run.buffer_row(3)[0]};
    };
    CHECK(rows_of("vector multiply dst=0 src=0 other=0 rows=4") == Bytes{1, 4, 9, 16});
    CHECK(rows_of("vector multiply dst=0 src=0 other=2 rows=2") == Bytes{3, 8, 3, 4});
    CHECK(rows_of("vector multiply dst=2 src=0 other=2 rows=2") == Bytes{1, 2, 3, 8});
}

namespace {

constexpr std::uint32_t vector_buffer_rows = 90;

/// Random vector work, and its results from scalar loops.
class VectorWork {
public:
    explicit VectorWork(unsigned seed) : random_(seed) {
        program.geometry = {.rows = random_.from(1, 20), .columns = 1};
        buffer = random_.bytes(std::size_t{vector_buffer_rows} * program.geometry.rows);
        fill_buffer(program, buffer);
    }

    void add_elementwise() {
        using enum isa::Register;
        const bool add = random_.coin();
        for (const auto reg : {VectorZeroPointA, VectorZeroPointB}) set(reg, random_.from(0, 511) - 256);
        for (const auto reg : {VectorMultiplierA, VectorMultiplierB, VectorMultiplier}) {
            set(reg, random_.from(0, UINT32_MAX));
        }
        // Beyond 31 places as well.
        for (const auto reg : {VectorShiftA, VectorShiftB}) set(reg, random_.from(0, 12) - 6);
        set(VectorShift, random_.from(0, 80) - 40);
        draw_output_range();
        draw_images();
        const std::uint32_t length = random_.from(1, 10);
        const bool is_wide = random_.coin();
        const isa::Vector vector{
            .operation = add ? isa::VectorOperation::Add : isa::VectorOperation::Multiply,
            .destination_row = random_.from(0, vector_buffer_rows - length),
            .source_row = random_.from(0, vector_buffer_rows - length),
            .other_row = random_.from(0, vector_buffer_rows - length),
            .length = length,
            .elements = integer_type(is_wide, is_wide || random_.coin()),
            .half_to_even = random_.coin()};
        if (!may_run(vector)) return;
        const auto scale = vector.half_to_even ? scaled_to_even : scaled;
        const Bytes before = buffer;
        for_each_element(vector, [&](std::size_t to, std::size_t first, std::size_t second) {
            const auto operand = [&](std::size_t byte, isa::Register zero_point) {
                const auto value =
                    element_of(std::span(before).subspan(byte), 0, is_wide, is_signed(vector.elements));
                return wrap(value - registers_.as_signed(zero_point));
            };
            const std::int32_t a = operand(first, VectorZeroPointA);
            const std::int32_t b = operand(second, VectorZeroPointB);
            const std::int32_t combined =
                add ? wrap(std::int64_t{scale(lifted(a, is_wide), registers_.as_signed(VectorMultiplierA),
                                              registers_.as_signed(VectorShiftA))} +
                           scale(lifted(b, is_wide), registers_.as_signed(VectorMultiplierB),
                                 registers_.as_signed(VectorShiftB)))
                    : wrap(std::int64_t{a} * b);
            store(to, is_wide,
                  finished(scale(combined, registers_.as_signed(VectorMultiplier),
                                 registers_.as_signed(VectorShift)),
                           registers_));
        });
        program.instructions.emplace_back(vector);
    }

    void add_lookup() {
        const bool is_wide = random_.coin();
        const std::uint32_t table_rows =
            ((is_wide ? 1026 : 256) + program.geometry.rows - 1) / program.geometry.rows;
        if (table_rows > vector_buffer_rows) return;
        set(isa::Register::ActivationTableRow, random_.from(0, vector_buffer_rows - table_rows));
        draw_images();
        const std::uint32_t length = random_.from(1, 10);
        const isa::Vector vector{.operation = isa::VectorOperation::Lookup,
                                 .destination_row = random_.from(0, vector_buffer_rows - length),
                                 .source_row = random_.from(0, vector_buffer_rows - length),
                                 .length = length,
                                 .elements = integer_type(is_wide, is_wide || random_.coin())};
        if (!may_run(vector)) return;
        const Bytes before = buffer;
        const auto table = std::span(before).subspan(registers_[isa::Register::ActivationTableRow] *
                                                     std::size_t{program.geometry.rows});
        for_each_element(vector, [&](std::size_t to, std::size_t from, std::size_t) {
            if (!is_wide) {
                buffer[to] = table[before[from]];
                return;
            }
            const std::int64_t place = element_of(std::span(before).subspan(from), 0, true, true) + 32768;
            const auto entry = static_cast<std::size_t>(place / 128);
            const std::int64_t low = element_of(table, entry, true, true);
            const std::int64_t high = element_of(table, entry + 1, true, true);
            const std::int64_t result = low + floor_divide((high - low) * (place % 128) + 64, 128);
            store(to, true, static_cast<std::int32_t>(result));
        });
        program.instructions.emplace_back(vector);
    }

    void add_pooling() {
        using enum isa::Register;
        const std::uint32_t row_bytes = program.geometry.rows;
        const bool count_padding = random_.coin();
        set(WindowChannels, random_.from(1, 5));
        set(WindowPadValue, random_.byte());
        for (const auto& [input, kernel, stride, pad, output] :
             {std::array{WindowInputHeight, WindowKernelHeight, WindowStrideY, WindowPadTop,
                         WindowOutputHeight},
              std::array{WindowInputWidth, WindowKernelWidth, WindowStrideX, WindowPadLeft,
                         WindowOutputWidth}}) {
            set(input, random_.from(1, 4));
            set(kernel, random_.from(1, 3));
            set(stride, random_.from(1, 3));
            // Windows outside the image only where they have a value.
            set(pad, random_.from(0, count_padding ? 4 : registers_[kernel] - 1));
            const std::uint32_t most =
                (registers_[input] + registers_[pad] - 1) / registers_[stride] + 1 + (count_padding ? 2 : 0);
            set(output, random_.from(1, most));
        }
        const auto rows_of = [&](std::uint32_t bytes) { return (bytes + row_bytes - 1) / row_bytes; };
        const std::uint32_t in_rows = rows_of(registers_[WindowInputHeight] * registers_[WindowInputWidth] *
                                              registers_[WindowChannels]) +
                                      random_.from(0, 1);
        const bool packed = random_.coin();
        const std::uint32_t offset = packed ? 0 : random_.from(0, 4);
        const std::uint32_t pixel_bytes =
            registers_[WindowChannels] + offset + (packed ? 0 : random_.from(0, 4));
        set(ActivationPixelBytes, packed ? 0 : pixel_bytes);
        set(ActivationChannelOffset, offset);
        const std::uint32_t out_rows =
            rows_of(registers_[WindowOutputHeight] * registers_[WindowOutputWidth] * pixel_bytes) +
            random_.from(0, 1);
        set(WindowImageRows, in_rows);
        set(ActivationImageRows, out_rows);
        const std::uint32_t images = std::min(3U, vector_buffer_rows / std::max(in_rows, out_rows));
        if (images == 0) return;
        const std::uint32_t all_lines = images * registers_[WindowOutputHeight];
        const std::uint32_t first_line = random_.from(0, all_lines - 1);
        const isa::Vector vector{
            .operation = random_.coin() ? isa::VectorOperation::MaxPool : isa::VectorOperation::AveragePool,
            .destination_row = random_.from(0, vector_buffer_rows - images * out_rows),
            .source_row = random_.from(0, vector_buffer_rows - images * in_rows),
            .length = random_.from(1, all_lines - first_line),
            .first_line = first_line,
            .elements = integer_type(false, random_.coin()),
            .count_padding = count_padding};
        if (!may_run(vector)) return;
        const Bytes before = buffer;
        for (std::uint32_t line = first_line; line < first_line + vector.length; ++line) {
            const std::size_t image = line / registers_[WindowOutputHeight];
            for (std::uint32_t x = 0; x < registers_[WindowOutputWidth]; ++x) {
                const std::size_t pixel =
                    std::size_t{line % registers_[WindowOutputHeight]} * registers_[WindowOutputWidth] + x;
                for (std::uint32_t channel = 0; channel < registers_[WindowChannels]; ++channel) {
                    buffer[(vector.destination_row + image * out_rows) * row_bytes + pixel * pixel_bytes +
                           offset + channel] = pooled(vector, before, line, x, channel);
                }
            }
        }
        program.instructions.emplace_back(vector);
    }

    isa::Program program;
    Bytes buffer;

private:
    void set(isa::Register reg, std::uint32_t value) {
        registers_.set(reg, value);
        program.instructions.emplace_back(isa::SetConfig{reg, value});
    }

    /// Some rows of each image, or rows that follow each other.
    void draw_images() {
        using enum isa::Register;
        set(VectorRowsPerImage, random_.coin() ? 0 : random_.from(1, 4));
        for (const auto reg : {VectorDestinationImageRows, VectorSourceImageRows, VectorOtherImageRows}) {
            set(reg, registers_[VectorRowsPerImage] + random_.from(0, 3));
        }
    }

    /// Calls visit(byte of the result, of the first operand, of the second) for each element.
    template <class Visit>
    void for_each_element(const isa::Vector& vector, Visit visit) const {
        using enum isa::Register;
        const std::size_t row_bytes = program.geometry.rows;
        const std::size_t element_bytes = bytes_of(vector.elements);
        const std::size_t rows_per_image = registers_[VectorRowsPerImage];
        const std::size_t rows = rows_per_image == 0 ? vector.length : rows_per_image;
        for (std::size_t image = 0; image * rows < vector.length; ++image) {
            const auto first_byte = [&](std::uint32_t row, isa::Register image_rows) {
                return (row + (rows_per_image == 0 ? 0 : image * registers_[image_rows])) * row_bytes;
            };
            const std::size_t bytes = std::min(rows, vector.length - image * rows) * row_bytes;
            for (std::size_t i = 0; i + element_bytes <= bytes; i += element_bytes) {
                visit(first_byte(vector.destination_row, VectorDestinationImageRows) + i,
                      first_byte(vector.source_row, VectorSourceImageRows) + i,
                      first_byte(vector.other_row, VectorOtherImageRows) + i);
            }
        }
    }

    void store(std::size_t byte, bool is_wide, std::int32_t value) {
        buffer[byte] = static_cast<std::uint8_t>(value);
        if (is_wide) buffer[byte + 1] = static_cast<std::uint8_t>(value >> 8);
    }

    /// Not where results would overlap operands that are still to be read, or rows that do not exist.
    bool may_run(const isa::Vector& vector) const {
        try {
            const isa::Footprint rows = isa::footprint(vector, registers_, program.geometry);
            if (std::any_of(rows.begin(), rows.end(), [](const isa::MemoryRows& each) {
                    return each.rows.last > vector_buffer_rows;
                })) {
                return false;
            }
        } catch (const isa::ProgramError&) {
            return false;
        }
        return true;
    }

    void draw_output_range() {
        set(isa::Register::OutputZeroPoint, random_.from(0, 300) - 150);
        const bool small = random_.coin();
        set(isa::Register::OutputMinimum, 0U - random_.from(0, small ? 150 : 40000));
        set(isa::Register::OutputMaximum, random_.from(0, small ? 260 : 40000));
    }

    static std::int32_t lifted(std::int32_t value, bool is_wide) {
        return wrap(std::int64_t{value} * (1 << (is_wide ? 15 : 20)));
    }

    std::uint8_t pooled(const isa::Vector& vector, const Bytes& before, std::uint32_t line, std::uint32_t x,
                        std::uint32_t channel) const {
        using enum isa::Register;
        std::vector<std::int64_t> values;
        for (std::uint32_t row = 0; row < registers_[WindowKernelHeight]; ++row) {
            for (std::uint32_t column = 0; column < registers_[WindowKernelWidth]; ++column) {
                if (const auto found = window_pixel(registers_, line, x, row, column)) {
                    const std::size_t image_row =
                        vector.source_row + found->image * registers_[WindowImageRows];
                    values.push_back(element_of(before,
                                                image_row * program.geometry.rows + found->element + channel,
                                                false, is_signed(vector.elements)));
                } else if (vector.count_padding) {
                    const Bytes pad{static_cast<std::uint8_t>(registers_[WindowPadValue])};
                    values.push_back(element_of(pad, 0, false, is_signed(vector.elements)));
                }
            }
        }
        if (vector.operation == isa::VectorOperation::MaxPool) {
            return static_cast<std::uint8_t>(*std::max_element(values.begin(), values.end()));
        }
        std::int64_t sum = 0;
        for (const std::int64_t value : values) sum += value;
        const auto count = static_cast<std::int64_t>(values.size());
        const std::int64_t magnitude = (2 * (sum < 0 ? -sum : sum) + count) / (2 * count);
        return static_cast<std::uint8_t>(sum < 0 ? -magnitude : magnitude);
    }

    Random random_;
    isa::Registers registers_;
};

void check(VectorWork& work) {
    work.program.instructions.emplace_back(isa::Halt{});
    Run run(work.program, vector_buffer_rows, 1);
    run.executor.run();
    const auto buffer = run.executor.unified_buffer();
    CHECK(Bytes(buffer.begin(), buffer.end()) == work.buffer);
}

}  // namespace

TEST_CASE("Sequences of element-wise work agree with scalar loops") {
    for (unsigned seed = 0; seed < tests::random_runs(200); ++seed) {
        CAPTURE(seed);
        VectorWork work(seed);
        for (int i = 0; i < 4; ++i) {
            work.add_elementwise();
            work.add_lookup();
        }
        check(work);
    }
}

TEST_CASE("Sequences of pooling agree with scalar loops") {
    for (unsigned seed = 1000; seed < 1000 + tests::random_runs(400); ++seed) {
        CAPTURE(seed);
        VectorWork work(seed);
        for (int i = 0; i < 16; ++i) work.add_pooling();
        check(work);
    }
}
