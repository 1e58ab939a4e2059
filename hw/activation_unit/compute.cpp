// What the activation unit computes; its timing is in activation_unit.cpp.
#include <algorithm>
#include <cstring>
#include <span>
#include <stdexcept>

#include "hw/activation_unit/activation_unit.h"
#include "hw/isa/block.h"
#include "hw/isa/image_slices.h"
#include "hw/isa/window.h"
#include "hw/math/elementwise.h"
#include "hw/math/interpolated_table.h"
#include "hw/math/lookup_table.h"
#include "hw/math/pooling.h"
#include "hw/math/requantize.h"

namespace systole::hw {

using isa::Register;

namespace {

math::Elementwise parameters_of(const isa::Registers& registers, const isa::Vector& vector) {
    return {.zero_point_a = registers.as_signed(Register::VectorZeroPointA),
            .zero_point_b = registers.as_signed(Register::VectorZeroPointB),
            .scale_a = {registers.as_signed(Register::VectorMultiplierA),
                        registers.as_signed(Register::VectorShiftA)},
            .scale_b = {registers.as_signed(Register::VectorMultiplierB),
                        registers.as_signed(Register::VectorShiftB)},
            .scale = {registers.as_signed(Register::VectorMultiplier),
                      registers.as_signed(Register::VectorShift)},
            .zero_point = registers.as_signed(Register::OutputZeroPoint),
            .minimum = registers.as_signed(Register::OutputMinimum),
            .maximum = registers.as_signed(Register::OutputMaximum),
            .elements = vector.elements,
            .half_to_even = vector.half_to_even};
}

/// The rows of an operand or result, as bytes, image by image.
template <typename Byte>
class Images {
public:
    /// `first` is the first byte of the first row.
    Images(const isa::ImageSlices& slices, Byte* first, std::size_t row_bytes)
        : slices_(slices), first_(first), row_bytes_(row_bytes) {}

    std::span<Byte> operator[](std::uint64_t image) const {
        const isa::RowRange rows = slices_.of_image(image);
        return {first_ + (rows.first - slices_.first_row) * row_bytes_,
                (rows.last - rows.first) * row_bytes_};
    }

private:
    isa::ImageSlices slices_;
    Byte* first_;
    std::size_t row_bytes_;
};

/// Computes an element-wise `vector`. `written` points to the first written row of the footprint.
void compute_elementwise(const isa::Vector& vector, const isa::BoundInstruction& bound,
                         const UnifiedBufferAccess& buffer, std::uint8_t* written) {
    const isa::Registers& registers = *bound.registers;
    const std::size_t row_bytes = buffer.row_bytes();
    const auto bytes_in = [&](const isa::RowRange& rows) {
        return std::span(buffer.read(rows.first, rows.last - rows.first),
                         (rows.last - rows.first) * row_bytes);
    };
    const auto slices_of = [&](Register image_rows, std::uint64_t first_row) {
        return isa::image_slices(registers, image_rows, first_row, vector.length);
    };
    const isa::ImageSlices results = slices_of(Register::VectorDestinationImageRows, vector.destination_row);
    const Images out(results, written, row_bytes);
    const Images source(slices_of(Register::VectorSourceImageRows, vector.source_row),
                        bytes_in(bound.footprint.read_rows(isa::MemoryId::UnifiedBuffer)).data(), row_bytes);
    const auto look_up = [&](const auto& table) {
        for (std::uint64_t i = 0; i < results.images(); ++i) math::lookup(source[i], out[i], table);
    };
    const auto combine = [&](const auto& function) {
        const Images other(slices_of(Register::VectorOtherImageRows, vector.other_row),
                           bytes_in(bound.footprint.read_rows(isa::MemoryId::UnifiedBuffer, 1)).data(),
                           row_bytes);
        const math::Elementwise parameters = parameters_of(registers, vector);
        for (std::uint64_t i = 0; i < results.images(); ++i)
            function(source[i], other[i], parameters, out[i]);
    };
    switch (vector.operation) {
        case isa::VectorOperation::Add:
            return combine(math::add);
        case isa::VectorOperation::Multiply:
            return combine(math::multiply);
        case isa::VectorOperation::Lookup: {
            const auto bytes = bytes_in(bound.footprint.read_rows(isa::MemoryId::UnifiedBuffer, 1));
            if (bytes_of(vector.elements) == 2) {
                return look_up(math::read_interpolated_table(bytes));
            }
            math::LookupTable table{};
            std::copy_n(bytes.begin(), table.size(), table.begin());
            return look_up(table);
        }
        case isa::VectorOperation::MaxPool:
        case isa::VectorOperation::AveragePool:
            break;
    }
    throw std::logic_error("an element-wise operation without a case");
}

math::Pooling pooling_of(isa::VectorOperation operation) {
    switch (operation) {
        case isa::VectorOperation::MaxPool:
            return math::Pooling::Max;
        case isa::VectorOperation::AveragePool:
            return math::Pooling::Average;
        case isa::VectorOperation::Add:
        case isa::VectorOperation::Multiply:
        case isa::VectorOperation::Lookup:
            break;
    }
    throw std::logic_error("a pooling operation without a case");
}

/// Columns of accumulators, and the parameters of the same number.
struct Columns {
    std::size_t first = 0;
    std::size_t count = 0;
};

/// Computes the results of rows of accumulators and writes them.
struct ResultWriter {
    math::Requantization parameters;
    const math::LookupTable* table = nullptr;  ///< null: the results are not looked up in it
    const math::InterpolatedTable* wide_table = nullptr;
    DataType output = DataType::Uint8;
    std::size_t sums_stride = 0;  ///< from one accumulator row to the next

    /// Results of `columns` of `rows` accumulator rows; those of a row lie `stride` bytes behind those of the
    /// row before.
    void write(const std::int32_t* sums, std::size_t rows, const Columns& columns, std::uint8_t* out,
               std::size_t stride) const {
        math::Requantization of_columns = parameters;
        of_columns.bias = parameters.bias.subspan(columns.first);
        of_columns.multiplier = parameters.multiplier.subspan(columns.first);
        of_columns.shift = parameters.shift.subspan(columns.first);
        if (!parameters.real_multiplier.empty()) {
            of_columns.real_multiplier = parameters.real_multiplier.subspan(columns.first);
        }
        math::requantize_rows(sums + columns.first, sums_stride, rows, columns.count, of_columns, output, out,
                              stride);
        for (std::size_t row = 0; row < rows; ++row) {
            const std::span results(out + row * stride, columns.count * bytes_of(output));
            if (wide_table != nullptr) math::lookup(results, results, *wide_table);
            if (table != nullptr) math::lookup(results, results, *table);
        }
    }
};

/// Writes blocks of pixels into an image.
class BlockWriter {
public:
    BlockWriter(const ResultWriter& results, const isa::BlockGeometry& blocks,
                const isa::Registers& registers)
        : results_(results),
          blocks_(blocks),
          channels_(registers[Register::ActivationColumns] / blocks.pixels()),
          pixel_bytes_(registers[Register::ActivationPixelBytes]) {
        // If lines of blocks follow each other without a gap, they are one line.
        if (blocks.height == 1 && blocks.output_width % blocks.width == 0) {
            blocks_.output_width *= blocks.output_height;
            blocks_.output_height = 1;
        }
    }

    /// Writes blocks [first, first + count) of an image from as many accumulator rows. `out` and
    /// `image_byte`, modulo 2^64, give the place of the image's first pixel.
    void write(const std::int32_t* sums, std::size_t first, std::size_t count, std::uint8_t* out,
               std::size_t image_byte) const {
        for (std::size_t done = 0; done < count;) {
            const std::size_t x = (first + done) % blocks_.across();
            const std::size_t top = (first + done) / blocks_.across() * blocks_.height;
            const std::size_t beside = std::min(blocks_.across() - x, count - done);
            const std::size_t lines = std::min(blocks_.height, blocks_.output_height - top);
            for (std::size_t j = 0; j < lines; ++j) {
                const std::size_t pixel = (top + j) * blocks_.output_width + x * blocks_.width;
                write_line(sums + done * results_.sums_stride, {.first = x, .count = beside},
                           j * blocks_.width * channels_, out + (image_byte + pixel * pixel_bytes_));
            }
            done += beside;
        }
    }

private:
    /// One line of pixels of blocks beside each other; its first pixel has the columns from `column` on.
    void write_line(const std::int32_t* sums, const Columns& blocks, std::size_t column,
                    std::uint8_t* out) const {
        const std::size_t stride = blocks_.width * pixel_bytes_;
        const std::size_t whole = std::min(blocks.count, blocks_.output_width / blocks_.width - blocks.first);
        const std::size_t left = whole == blocks.count ? 0 : blocks_.output_width % blocks_.width;
        const bool packed = pixel_bytes_ == channels_ * bytes_of(results_.output);
        const std::size_t together = packed ? blocks_.width : 1;  // pixels without a byte between them
        for (std::size_t i = 0; whole > 0 && i < blocks_.width; i += together) {
            results_.write(sums, whole, {column + i * channels_, together * channels_},
                           out + i * pixel_bytes_, stride);
        }
        // Of the block that reaches beyond the image, the pixels inside.
        const std::int32_t* const last = sums + whole * results_.sums_stride;
        for (std::size_t i = 0; i < left; ++i) {
            results_.write(last, 1, {column + i * channels_, channels_},
                           out + (whole * stride + i * pixel_bytes_), stride);
        }
    }

    ResultWriter results_;
    isa::BlockGeometry blocks_;
    std::size_t channels_;
    std::size_t pixel_bytes_;
};

}  // namespace

void ActivationUnit::compute_rows(const isa::BoundInstruction& bound, std::uint8_t* written) {
    if (const auto* activate = std::get_if<isa::Activate>(&bound.instruction)) {
        compute_rows(*activate, bound, written);
    } else {
        compute_rows(std::get<isa::Vector>(bound.instruction), bound, written);
    }
}

void ActivationUnit::compute_rows(const isa::Activate& activate, const isa::BoundInstruction& bound,
                                  std::uint8_t* written) {
    const isa::Registers& registers = *bound.registers;
    const std::size_t row_bytes = buffer_.row_bytes();
    const std::size_t columns = registers[Register::ActivationColumns];
    if (activate.load_parameters) {
        const isa::RowRange rows = bound.footprint.read_rows(isa::MemoryId::UnifiedBuffer);
        parameters_.load(buffer_.read(rows.first, rows.last - rows.first), columns, activate.multipliers);
        if (activate.looks_up()) {
            const isa::RowRange table = bound.footprint.read_rows(isa::MemoryId::UnifiedBuffer, 1);
            const std::uint64_t table_rows = table.last - table.first;
            parameters_.load_table({buffer_.read(table.first, table_rows), table_rows * row_bytes},
                                   activate.output);
        }
    }
    if (activate.length == 0) return;  // it only loads, and its rows have no meaning
    const bool is_wide = bytes_of(activate.output) == 2;
    const ResultWriter results{
        .parameters = parameters_.bind(registers, activate.multipliers),
        .table = activate.looks_up() && !is_wide ? &parameters_.table() : nullptr,
        .wide_table = activate.looks_up() && is_wide ? &parameters_.interpolated_table() : nullptr,
        .output = activate.output,
        .sums_stride = accumulators_.columns()};
    const std::int32_t* const sums = accumulators_.read(activate.accumulator_row, activate.length) +
                                     registers[Register::ActivationFirstColumn];
    const auto blocks = isa::block_geometry(registers);
    const std::size_t pixel_bytes = registers[Register::ActivationPixelBytes];
    const std::size_t outputs_per_image = registers[Register::ActivationOutputsPerImage];
    const std::size_t image_rows = registers[Register::ActivationImageRows];
    const std::size_t first_written = bound.footprint.written_rows(isa::MemoryId::UnifiedBuffer).first;

    // Pixels are equidistant only within an image, so each image is computed separately.
    for (std::size_t done = 0; done < activate.length;) {
        const std::size_t output = activate.first_output + done;
        const std::size_t first = output % outputs_per_image;
        const std::size_t count = std::min<std::size_t>(outputs_per_image - first, activate.length - done);
        const std::size_t image_row = activate.unified_buffer_row + output / outputs_per_image * image_rows;
        // An offset, not a pointer: the image's first byte may lie before the written rows.
        const std::size_t image_byte =
            (image_row - first_written) * row_bytes + registers[Register::ActivationChannelOffset];
        const std::int32_t* const in = sums + done * accumulators_.columns();
        if (blocks) {
            BlockWriter(results, *blocks, registers).write(in, first, count, written, image_byte);
        } else {
            results.write(in, count, {.first = 0, .count = columns},
                          written + (image_byte + first * pixel_bytes), pixel_bytes);
        }
        done += count;
    }
}

void ActivationUnit::compute_rows(const isa::Vector& vector, const isa::BoundInstruction& bound,
                                  std::uint8_t* written) {
    if (!vector.is_pooling()) return compute_elementwise(vector, bound, buffer_, written);
    const isa::Registers& registers = *bound.registers;
    const std::size_t row_bytes = buffer_.row_bytes();
    const isa::RowRange read = bound.footprint.read_rows(isa::MemoryId::UnifiedBuffer);
    const std::uint8_t* const source = buffer_.read(read.first, read.last - read.first);
    const auto geometry = isa::window_geometry(registers, row_bytes);
    const math::PoolingRules rules{
        .operation = pooling_of(vector.operation),
        .elements = vector.elements,
        .count_padding = vector.count_padding,
        .pad_value = static_cast<std::uint8_t>(registers[Register::WindowPadValue])};
    // `source` begins at the first image that the lines touch, `written` at the first line's row.
    const std::size_t skipped = vector.first_line / geometry.output_height;
    const std::size_t first_line = vector.first_line - skipped * geometry.output_height;
    const std::size_t image_rows = registers[Register::ActivationImageRows];
    const std::size_t first_image_row = vector.destination_row + skipped * image_rows;
    const isa::PooledPixel pixel = isa::pooled_pixel(registers);
    std::uint8_t* const first_image =
        written -
        (bound.footprint.written_rows(isa::MemoryId::UnifiedBuffer).first - first_image_row) * row_bytes;
    math::pool(source, geometry, rules, first_line, vector.length,
               {.first = first_image + pixel.offset,
                .image_stride = image_rows * row_bytes,
                .pixel_stride = pixel.bytes});
}

}  // namespace systole::hw
