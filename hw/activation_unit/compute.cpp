// What the activation unit computes; its timing is in activation_unit.cpp.
#include <algorithm>
#include <cstring>
#include <span>

#include "hw/activation_unit/activation_unit.h"
#include "hw/isa/window_geometry.h"
#include "hw/math/elementwise.h"
#include "hw/math/lookup_table.h"
#include "hw/math/pooling.h"
#include "hw/math/requantize.h"

namespace systole::hw {

namespace {

using isa::Register;

math::Elementwise elementwise(const isa::Registers& registers, bool signed_elements) {
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
            .signed_elements = signed_elements};
}

}  // namespace

void ActivationUnit::compute(const isa::BoundInstruction& bound, std::uint8_t* written) {
    if (const auto* activate = std::get_if<isa::Activate>(&bound.instruction)) {
        compute(*activate, bound, written);
    } else {
        compute(std::get<isa::Vector>(bound.instruction), bound, written);
    }
}

void ActivationUnit::compute(const isa::Activate& activate, const isa::BoundInstruction& bound,
                             std::uint8_t* written) {
    const isa::Registers& registers = *bound.registers;
    const std::size_t row_bytes = buffer_.row_bytes();
    const std::size_t columns = registers[Register::ActivationColumns];
    if (activate.load_parameters) {
        const isa::RowRange& rows = bound.footprint.buffer_read_other;
        parameters_.load(buffer_.read(rows.first, rows.last - rows.first), columns);
        if (activate.function == isa::ActivationFunction::Lookup) {
            const isa::RowRange& table = bound.footprint.buffer_read_table;
            parameters_.load_table(buffer_.read(table.first, table.last - table.first));
        }
    }
    const math::Requantization requantization = parameters_.bind(registers);
    const std::int32_t* sums = accumulators_.read(activate.accumulator_row, activate.length);
    const std::size_t pixel_bytes = registers[Register::ActivationPixelBytes];
    const std::size_t outputs_per_image = registers[Register::ActivationOutputsPerImage];
    const std::size_t image_rows = registers[Register::ActivationImageRows];
    const std::size_t first_written = bound.footprint.buffer_write.first;

    // Pixels of one image lie at equal distances: an image at a time.
    for (std::size_t done = 0; done < activate.length;) {
        const std::size_t output = activate.first_output + done;
        const std::size_t pixel = output % outputs_per_image;
        const std::size_t pixels = std::min<std::size_t>(outputs_per_image - pixel, activate.length - done);
        const std::size_t image_row = activate.unified_buffer_row + output / outputs_per_image * image_rows;
        // The first written byte may lie rows behind the image's first: no pointer to that.
        const std::size_t byte =
            image_row * row_bytes + pixel * pixel_bytes + registers[Register::ActivationChannelOffset];
        std::uint8_t* const out = written + (byte - first_written * row_bytes);
        const std::int32_t* const in = sums + done * accumulators_.columns();
        if (activate.wide_output) {
            math::requantize_rows_wide(in, accumulators_.columns(), pixels, columns, requantization, out,
                                       pixel_bytes);
        } else {
            math::requantize_rows(in, accumulators_.columns(), pixels, columns, requantization, out,
                                  pixel_bytes);
        }
        if (activate.function == isa::ActivationFunction::Lookup) {
            for (std::size_t p = 0; p < pixels; ++p) {
                const std::span<std::uint8_t> row(out + p * pixel_bytes, columns);
                math::lookup(row, row, parameters_.table());
            }
        }
        done += pixels;
    }
}

void ActivationUnit::compute(const isa::Vector& vector, const isa::BoundInstruction& bound,
                             std::uint8_t* written) {
    const isa::Registers& registers = *bound.registers;
    const std::size_t row_bytes = buffer_.row_bytes();
    const isa::RowRange& read = bound.footprint.buffer_read;
    const std::uint8_t* const source = buffer_.read(read.first, read.last - read.first);
    const std::size_t bytes = vector.length * row_bytes;
    const auto other = [&] {
        const isa::RowRange& rows = bound.footprint.buffer_read_other;
        return std::span(buffer_.read(rows.first, rows.last - rows.first), bytes);
    };
    switch (vector.operation) {
        case isa::VectorOperation::Add:
            math::add({source, bytes}, other(), elementwise(registers, vector.signed_elements),
                      {written, bytes});
            return;
        case isa::VectorOperation::Multiply:
            math::multiply({source, bytes}, other(), elementwise(registers, vector.signed_elements),
                           {written, bytes});
            return;
        case isa::VectorOperation::Lookup: {
            math::LookupTable table;
            const isa::RowRange& rows = bound.footprint.buffer_read_table;
            std::copy_n(buffer_.read(rows.first, rows.last - rows.first), table.size(), table.begin());
            math::lookup({source, bytes}, {written, bytes}, table);
            return;
        }
        case isa::VectorOperation::MaxPool:
        case isa::VectorOperation::AveragePool: {
            const auto geometry = isa::window_geometry<math::WindowGeometry>(registers, row_bytes);
            const math::PoolingRules rules{
                .operation = vector.operation == isa::VectorOperation::MaxPool ? math::Pooling::Max
                                                                               : math::Pooling::Average,
                .signed_elements = vector.signed_elements,
                .count_padding = vector.count_padding,
                .pad_value = static_cast<std::uint8_t>(registers[Register::WindowPadValue])};
            // `source` begins at the first image the lines touch, `written` at the first line's row.
            const std::size_t skipped = vector.first_line / geometry.output_height;
            const std::size_t first_line = vector.first_line - skipped * geometry.output_height;
            const std::size_t image_rows = registers[Register::ActivationImageRows];
            const std::size_t first_image_row = vector.destination_row + skipped * image_rows;
            std::uint8_t* const out =
                written - (bound.footprint.buffer_write.first - first_image_row) * row_bytes;
            math::pool(source, geometry, rules, first_line, vector.length, out, image_rows * row_bytes);
            return;
        }
    }
    throw std::logic_error("a vector operation without a case");
}

}  // namespace systole::hw
