// docs/isa.md, "activate".
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/support/random_runs.h"
#include "tests/unit/sim/functional/naive.h"
#include "tests/unit/sim/functional/run.h"

using namespace systole;
using namespace systole::functional::tests;

namespace {

/// Accumulator rows (10, -20, 30), (100, -200, 300), (1000, -2000, 3000); parameters of two columns in rows
/// 1 to 5: bias 2 and 4, multipliers of 1/2, shifts 0 and 1. Array of 4 x 3.
constexpr const char* three_rows = R"(
    .array 4 3
    .buffer in constant 0 12
    .int8 1 3*0 10 3*0 100 3*0
    .buffer parameters constant 16 18
    .int32 2 4 0x40000000 0x40000000
    .int8 0 1
    .buffer one_column constant 40 9
    .int32 -5 0x40000000
    .int8 2
    .tile 1 3
    .int8 10 -20 30
    read_host in ub=0 block=12
    read_weights tile=0
    matmul ub=0 acc=1 rows=3
    read_host parameters ub=1 block=18
    set activation.parameters_row 1
    set activation.columns 2; set activation.pixel_bytes 3; set activation.channel_offset 1
    set activation.outputs_per_image 2; set activation.image_rows 2
    set output.zero_point 3; set output.minimum -128; set output.maximum 127
)";

std::uint8_t bits(int value) {
    return static_cast<std::uint8_t>(value);
}

}  // namespace

TEST_CASE("Requantized rows become pixels of images, and other bytes stay") {
    Run run(std::string(three_rows) + R"(
        .buffer eights constant 60 16 fill 8
        read_host eights ub=8 block=16
        activate acc=1 ub=8 rows=3 first=1 load
        halt)");
    run.executor.run();
    // Column 0: (a + 2) / 2 + 3; column 1: (a + 4) * 2 / 2 + 3. Pixels are 1 of image 0 and 0, 1 of image 1.
    CHECK(run.buffer_row(8) == Bytes{8, 8, 8, 8});
    CHECK(run.buffer_row(9) == Bytes{bits(6 + 3), bits(-16 + 3), 8, 8});
    CHECK(run.buffer_row(10) == Bytes{8, bits(51 + 3), bits(-128), 8});
    CHECK(run.buffer_row(11) == Bytes{bits(127), bits(-128), 8, 8});
}

TEST_CASE("Wide results are 16 bits, little endian") {
    Run run(std::string(three_rows) + R"(
        set activation.pixel_bytes 5; set activation.image_rows 3; set output.minimum -1500; set output.maximum 400
        activate acc=1 ub=8 rows=3 load wide
        halt)");
    run.executor.run();
    const auto low = [](int value) { return static_cast<std::uint8_t>(value); };
    const auto high = [](int value) { return static_cast<std::uint8_t>(value >> 8); };
    // Pixels of five bytes, the columns from byte 1 on; two pixels of image 0, one of image 1.
    CHECK(run.buffer_row(8) == Bytes{0, low(9), high(9), low(-13)});
    CHECK(run.buffer_row(9) == Bytes{high(-13), 0, low(54), high(54)});
    CHECK(run.buffer_row(10) == Bytes{low(-193), high(-193), 0, 0});
    CHECK(run.buffer_row(11) == Bytes{0, low(400), high(400), low(-1500)});
    CHECK(run.buffer_row(12) == Bytes{high(-1500), 0, 0, 0});
}

TEST_CASE("Columns of one row become pixels of several tensors, each with its own parameters") {
    Run run(std::string(three_rows) + R"(
        set activation.image_rows 1; set activation.outputs_per_image 1
        activate acc=1 ub=8 rows=1 load
        read_host one_column ub=1 block=9
        set activation.columns 1; set activation.first_column 2
        activate acc=1 ub=9 rows=1 load
        set activation.first_column 0
        activate acc=1 ub=10 rows=1
        halt)");
    run.executor.run();
    CHECK(run.buffer_row(8) == Bytes{0, bits(9), bits(-13), 0});
    // Parameters are of the columns read, wherever those are: (30 - 5) * 4 / 2 + 3, (10 - 5) * 4 / 2 + 3.
    CHECK(run.buffer_row(9) == Bytes{0, 53, 0, 0});
    CHECK(run.buffer_row(10) == Bytes{0, 13, 0, 0});
}

TEST_CASE("Parameters stay until the next load, which replaces all of them") {
    const std::string text = std::string(three_rows) + R"(
        activate acc=1 ub=8 rows=1 load
        read_host one_column ub=1 block=9
        activate acc=1 ub=9 rows=1
        set activation.columns 1
        activate acc=1 ub=10 rows=1 load
        )";
    Run run(text + "halt");
    run.executor.run();
    CHECK(run.buffer_row(8) == Bytes{0, bits(9), bits(-13), 0});
    CHECK(run.buffer_row(9) == run.buffer_row(8));
    CHECK(run.buffer_row(10) == Bytes{0, 13, 0, 0});  // (10 - 5) * 4 / 2 + 3
    Run more_columns(text + "set activation.columns 2; activate acc=1 ub=11 rows=1; halt");
    CHECK_THROWS_WITH(more_columns.executor.run(), Catch::Contains("the last load was of 1 columns"));
}

TEST_CASE("Real multipliers are 8 bytes for each column, and their products are rounded once") {
    const std::string text = R"(
        .array 4 2
        .unified_buffer 1 24
          .int32 2 4
          .int32 0 0x3fd80000  0 -1073479680
        .accumulators 1 1
          .int32 1 -3
        set activation.parameters_row 1; set activation.columns 2; set activation.pixel_bytes 2
        set activation.outputs_per_image 1; set activation.image_rows 1
        set output.minimum -128; set output.maximum 127
        activate acc=1 ub=8 rows=1 load real
        )";
    // The multipliers are 0.375 and -2.5.
    Run run(text + "halt");
    run.executor.run();
    CHECK(run.buffer_row(8) == Bytes{1, bits(-3), 0, 0});  // 1.125 and -2.5
    Run other_kind(text + "activate acc=1 ub=9 rows=1; halt");
    CHECK_THROWS_WITH(
        other_kind.executor.run(),
        Catch::Contains("the last load was of real multipliers; this instruction is without `real`"));
    Run fixed_point(std::string(three_rows) +
                    "activate acc=1 ub=8 rows=1 load; activate acc=1 ub=9 rows=1 real; halt");
    CHECK_THROWS_WITH(
        fixed_point.executor.run(),
        Catch::Contains("the last load was of fixed-point multipliers; this instruction has `real`"));
}

TEST_CASE("With rows=0, load reads parameters and activates nothing") {
    Run run(std::string(three_rows) + R"(
        activate acc=7 ub=8 rows=0 load
        read_host one_column ub=1 block=9
        activate acc=1 ub=9 rows=1
        halt)");
    run.executor.run();
    CHECK(run.buffer_row(8) == Bytes{0, 0, 0, 0});
    CHECK(run.buffer_row(9) == Bytes{0, bits(9), bits(-13), 0});
}

TEST_CASE("Rows of blocks become pixels, except for those outside the image") {
    // Blocks of 2 x 2 pixels of an image of 3 x 3; the second block of the second image begins.
    Run run(R"(
        .array 4 4
        .unified_buffer 1 36
          .int32 4*0 4*0x40000000
          .int8 4*1
        .unified_buffer 12 24 fill 99
        .accumulators 0 5
          .int32 1 2 3 4  11 12 13 14  21 22 23 24  31 32 33 34  41 42 43 44
        set activation.parameters_row 1; set activation.columns 4; set activation.outputs_per_image 4
        set activation.pixel_bytes 1; set activation.image_rows 3
        set block.width 2; set block.height 2; set block.output_width 3; set block.output_height 3
        activate acc=0 ub=12 rows=5 load
        halt)",
            18);
    run.executor.run();
    CHECK(run.buffer_row(12) == Bytes{1, 2, 11, 3});
    CHECK(run.buffer_row(13) == Bytes{4, 13, 21, 22});
    CHECK(run.buffer_row(14) == Bytes{31, 99, 99, 99});
    CHECK(run.buffer_row(15) == Bytes{41, 42, 99, 43});
    CHECK(run.buffer_row(16) == Bytes{44, 99, 99, 99});
}

TEST_CASE("Initial rows are in the memories before the first instruction") {
    Run run(R"(
        .array 4 3
        .unified_buffer 1 18
          .int32 2 4 0x40000000 0x40000000
          .int8 0 1
        .unified_buffer 9 3 fill 8
        .accumulators 1 2
          .int32 10 -20 30  100 -200 300
        set activation.parameters_row 1; set output.zero_point 3
        set activation.columns 2; set activation.pixel_bytes 4; set activation.outputs_per_image 2
        set output.minimum -128; set output.maximum 127
        activate acc=1 ub=8 rows=2 load
        halt)");
    run.executor.run();
    CHECK(run.buffer_row(8) == Bytes{bits(9), bits(-13), 0, 0});
    CHECK(run.buffer_row(9) == Bytes{bits(51 + 3), bits(-128), 8, 0});
}

TEST_CASE("The table is indexed by the low byte, and stays until the next load with lookup") {
    isa::Program program = isa::assemble(three_rows, "test");
    Bytes table(256);
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<std::uint8_t>(i * 7 + 1);
    program.buffers.push_back({"table", isa::BufferKind::Constant, 0x1000, 256, table});
    program.buffers.push_back({"zeros", isa::BufferKind::Input, 0x2000, 256});
    const auto add = [&](const isa::Instruction& instruction) {
        program.instructions.push_back(instruction);
    };
    const isa::Activate lookup{.accumulator_row = 1,
                               .unified_buffer_row = 8,
                               .length = 1,
                               .function = isa::ActivationFunction::Lookup,
                               .load_parameters = true};
    const auto at = [&](std::uint32_t row, bool load) {
        isa::Activate moved = lookup;
        moved.unified_buffer_row = row;
        moved.load_parameters = load;
        return moved;
    };
    add(isa::SetConfig{isa::Register::ActivationTableRow, 20});
    add(isa::ReadHostMemory{.host_address = 0x1000, .unified_buffer_row = 20, .block_bytes = 256});
    add(at(8, true));
    add(isa::ReadHostMemory{.host_address = 0x2000, .unified_buffer_row = 20, .block_bytes = 256});
    add(at(9, false));
    add(isa::Vector{.operation = isa::VectorOperation::Lookup, .destination_row = 90, .length = 1});
    add(at(10, false));
    isa::Activate identity = at(11, true);
    identity.function = isa::ActivationFunction::Identity;
    add(identity);
    add(at(12, false));
    add(at(13, true));
    add(isa::Halt{});
    Run run(program, 100, 8);
    run.executor.run();
    const Bytes looked_up{0, table[9], table[256 - 13], 0};
    for (const std::size_t row : {8U, 9U, 10U, 12U}) {
        CAPTURE(row);
        CHECK(run.buffer_row(row) == looked_up);
    }
    CHECK(run.buffer_row(11) == Bytes{0, 9, bits(-13), 0});
    CHECK(run.buffer_row(13) == Bytes{0, 0, 0, 0});
}

namespace {

constexpr std::uint32_t buffer_rows = 80;
constexpr std::uint32_t accumulator_rows = 20;

/// Random accumulators and activates, and their results from scalar loops.
class ActivationWork {
public:
    explicit ActivationWork(unsigned seed) : random_(seed) {
        program.geometry = {.rows = random_.from(1, 30), .columns = random_.from(1, 7)};
        buffer = random_.bytes(std::size_t{buffer_rows} * program.geometry.rows);
        fill_buffer(program, buffer);
        // 16 bits by 16 bits: sums of any size.
        program.tiles.push_back({.rows = 1, .columns = program.geometry.columns, .type = DataType::Int16});
        program.tiles[0].values = random_.bytes(2 * std::size_t{program.geometry.columns});
        program.instructions.emplace_back(isa::ReadWeights{});
        program.instructions.emplace_back(
            isa::MatrixMultiply{.length = accumulator_rows,
                                .flags = {.activations = DataType::Uint16, .weights = DataType::Int16}});
        bias_.resize(program.geometry.columns);
        multiplier_.resize(program.geometry.columns);
        shift_.resize(program.geometry.columns);
        real_multiplier_.resize(program.geometry.columns);
        for (std::uint32_t row = 0; row < accumulator_rows; ++row) {
            const auto in =
                element_of(std::span(buffer).subspan(row * program.geometry.rows), 0, true, false);
            for (std::uint32_t c = 0; c < program.geometry.columns; ++c) {
                sums_.push_back(wrap(in * element_of(program.tiles[0].values, c, true, true)));
            }
        }
    }

    void add_activate() {
        using enum isa::Register;
        const bool wide = random_.coin();
        const bool lookup = table_rows(wide) < buffer_rows && random_.coin();
        const std::uint32_t element_bytes = wide ? 2 : 1;
        const std::uint32_t row_bytes = program.geometry.rows;
        const std::uint32_t columns = random_.from(1, program.geometry.columns);
        const std::uint32_t offset = random_.from(0, 2);
        const std::uint32_t pixel_bytes = offset + columns * element_bytes + random_.from(0, 2);
        const std::uint32_t outputs = random_.from(1, 5);
        const std::uint32_t image_rows =
            (outputs * pixel_bytes + row_bytes - 1) / row_bytes + random_.from(0, 1);
        const bool real = random_.coin();
        const bool even = random_.coin();
        const std::uint32_t parameter_rows = ((real ? 12 : 9) * columns + row_bytes - 1) / row_bytes;
        const std::uint32_t first_column = random_.from(0, program.geometry.columns - columns);
        set(ActivationColumns, columns);
        set(ActivationFirstColumn, first_column);
        set(ActivationPixelBytes, pixel_bytes);
        set(ActivationChannelOffset, offset);
        set(ActivationImageRows, image_rows);
        set(ActivationOutputsPerImage, outputs);
        set(ActivationParametersRow, random_.from(0, buffer_rows - std::min(buffer_rows, parameter_rows)));
        set(ActivationTableRow, random_.from(0, buffer_rows - std::min(buffer_rows, table_rows(wide))));
        set(OutputZeroPoint, random_.from(0, 600) - 300);
        set(OutputMinimum, 0U - random_.from(0, wide ? 40000 : 200));
        set(OutputMaximum, random_.from(0, wide ? 40000 : 300));
        const std::uint32_t images = std::min(4U, buffer_rows / image_rows);
        if (images == 0 || parameter_rows > buffer_rows) return;
        const std::uint32_t first = random_.from(0, images * outputs - 1);
        const std::uint32_t length = random_.from(1, std::min(images * outputs - first, accumulator_rows));
        isa::Activate activate{
            .accumulator_row = static_cast<std::uint16_t>(random_.from(0, accumulator_rows - length)),
            .unified_buffer_row = random_.from(0, buffer_rows - images * image_rows),
            .length = static_cast<std::uint16_t>(length),
            .first_output = first,
            .function = lookup ? isa::ActivationFunction::Lookup : isa::ActivationFunction::Identity,
            .load_parameters = random_.coin() || !is_loaded(columns, lookup, wide, real),
            .multipliers = isa::multipliers_of(real, even),
            .output = wide ? DataType::Int16 : DataType::Uint8};
        if (activate.load_parameters) load(columns, lookup, wide, real);
        if (activate.load_parameters && random_.coin()) {
            // The same in two instructions.
            program.instructions.emplace_back(activate);
            std::get<isa::Activate>(program.instructions.back()).length = 0;
            activate.load_parameters = false;
        }
        for (std::uint32_t i = 0; i < length; ++i) {
            const std::uint32_t output = first + i;
            const std::size_t pixel =
                (activate.unified_buffer_row + output / outputs * image_rows) * std::size_t{row_bytes} +
                output % outputs * pixel_bytes + offset;
            for (std::uint32_t c = 0; c < columns; ++c) {
                const std::int32_t sum =
                    sums_[(activate.accumulator_row + i) * program.geometry.columns + first_column + c];
                const std::int32_t biased = wrap(std::int64_t{sum} + bias_[c]);
                const auto scale = even ? scaled_to_even : scaled;
                std::int32_t value = finished(real ? scaled_by_real(biased, real_multiplier_[c], even)
                                                   : scale(biased, multiplier_[c], shift_[c]),
                                              registers_);
                if (lookup) value = looked_up(value, wide);
                buffer[pixel + c * element_bytes] = static_cast<std::uint8_t>(value);
                if (wide) buffer[pixel + c * 2 + 1] = static_cast<std::uint8_t>(value >> 8);
            }
        }
        program.instructions.emplace_back(activate);
    }

    isa::Program program;
    Bytes buffer;

private:
    void set(isa::Register reg, std::uint32_t value) {
        registers_.set(reg, value);
        program.instructions.emplace_back(isa::SetConfig{reg, value});
    }

    std::uint32_t table_rows(bool wide) const {
        return ((wide ? 1026 : 256) + program.geometry.rows - 1) / program.geometry.rows;
    }

    std::int32_t looked_up(std::int32_t value, bool wide) const {
        if (!wide) return table_[static_cast<std::uint8_t>(value)];
        const std::int64_t place = std::int64_t{static_cast<std::int16_t>(value)} + 32768;
        const auto entry = static_cast<std::size_t>(place / 128);
        const std::int64_t low = interpolated_table_[entry];
        return static_cast<std::int32_t>(
            low + floor_divide((interpolated_table_[entry + 1] - low) * (place % 128) + 64, 128));
    }

    std::int32_t word(std::size_t row, std::size_t index) const {
        const auto bytes = std::span(buffer).subspan(row * program.geometry.rows + 4 * index);
        return wrap(element_of(bytes, 0, true, false) + 65536 * element_of(bytes, 1, true, false));
    }

    double real_number(std::size_t row, std::size_t index) const {
        const std::uint64_t low = static_cast<std::uint32_t>(word(row, index));
        const std::uint64_t high = static_cast<std::uint32_t>(word(row, index + 1));
        return std::bit_cast<double>(high << 32 | low);
    }

    static std::int32_t scaled_by_real(std::int32_t sum, double multiplier, bool even) {
        if (even) {
            const double product = std::nearbyint(static_cast<float>(sum * multiplier));
            if (!(product > -0x1p30)) return -(1 << 30);
            return static_cast<std::int32_t>(std::min(product, 0x1p30 - 64.0));
        }
        const double product = std::round(sum * multiplier);
        if (!(product > std::numeric_limits<std::int32_t>::min()))
            return std::numeric_limits<std::int32_t>::min();
        if (product > std::numeric_limits<std::int32_t>::max())
            return std::numeric_limits<std::int32_t>::max();
        return static_cast<std::int32_t>(product);
    }

    bool is_loaded(std::uint32_t columns, bool lookup, bool wide, bool real) const {
        return columns <= columns_ && real == is_real_ &&
               (!lookup || (wide ? has_interpolated_table_ : has_table_));
    }

    void load(std::uint32_t columns, bool lookup, bool wide, bool real) {
        columns_ = columns;
        is_real_ = real;
        const std::size_t row = registers_[isa::Register::ActivationParametersRow];
        for (std::uint32_t c = 0; c < program.geometry.columns; ++c) {
            const bool loaded = c < columns;
            bias_[c] = loaded ? word(row, c) : 0;
            if (real) {
                real_multiplier_[c] = loaded ? real_number(row, columns + 2 * c) : 0.0;
                continue;
            }
            multiplier_[c] = loaded ? word(row, columns + c) : 0;
            shift_[c] = loaded ? element_of(std::span(buffer).subspan(row * program.geometry.rows),
                                            8 * columns + c, false, true)
                               : 0;
        }
        if (!lookup) return;
        (wide ? has_interpolated_table_ : has_table_) = true;
        const std::size_t table =
            registers_[isa::Register::ActivationTableRow] * std::size_t{program.geometry.rows};
        for (std::size_t i = 0; !wide && i < table_.size(); ++i) table_[i] = buffer[table + i];
        for (std::size_t i = 0; wide && i < interpolated_table_.size(); ++i) {
            interpolated_table_[i] = element_of(std::span(buffer).subspan(table), i, true, true);
        }
    }

    Random random_;
    isa::Registers registers_;
    std::vector<std::int32_t> sums_;
    std::vector<std::int32_t> bias_;
    std::vector<std::int32_t> multiplier_;
    std::vector<std::int64_t> shift_;
    std::vector<double> real_multiplier_;
    std::array<std::uint8_t, 256> table_{};
    std::array<std::int64_t, 513> interpolated_table_{};
    std::uint32_t columns_ = 0;  ///< whose parameters are loaded
    bool is_real_ = false;
    bool has_table_ = false;
    bool has_interpolated_table_ = false;
};

}  // namespace

TEST_CASE("Sequences of activate agree with scalar loops") {
    for (unsigned seed = 0; seed < tests::random_runs(300); ++seed) {
        CAPTURE(seed);
        ActivationWork work(seed);
        for (int i = 0; i < 8; ++i) work.add_activate();
        work.program.instructions.emplace_back(isa::Halt{});
        Run run(work.program, buffer_rows, accumulator_rows);
        run.executor.run();
        const auto buffer = run.executor.unified_buffer();
        CHECK(Bytes(buffer.begin(), buffer.end()) == work.buffer);
    }
}
