// What the activation unit computes; its timing is in activation_unit.cpp.
#include <algorithm>
#include <cstring>
#include <span>

#include "hw/activation_unit/activation_unit.h"
#include "hw/activation_unit/elementwise.h"
#include "hw/isa/window.h"
#include "hw/math/interpolated_table.h"
#include "hw/math/lookup_table.h"
#include "hw/math/pooling.h"
#include "hw/math/requantize.h"

namespace systole::hw {

using isa::Register;

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
            const std::uint64_t table_rows = table.last - table.first;
            parameters_.load_table({buffer_.read(table.first, table_rows), table_rows * row_bytes},
                                   activate.output);
        }
    }
    const math::Requantization requantization = parameters_.bind(registers);
    const std::int32_t* const sums = accumulators_.read(activate.accumulator_row, activate.length) +
                                     registers[Register::ActivationFirstColumn];
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
        math::requantize_rows(in, accumulators_.columns(), pixels, columns, requantization, activate.output,
                              out, pixel_bytes);
        if (activate.function == isa::ActivationFunction::Lookup) {
            for (std::size_t p = 0; p < pixels; ++p) {
                const std::span results(out + p * pixel_bytes, columns * bytes_of(activate.output));
                if (bytes_of(activate.output) == 2) {
                    math::lookup(results, results, parameters_.interpolated_table());
                } else {
                    math::lookup(results, results, parameters_.table());
                }
            }
        }
        done += pixels;
    }
}

void ActivationUnit::compute(const isa::Vector& vector, const isa::BoundInstruction& bound,
                             std::uint8_t* written) {
    if (!vector.is_pooling()) return compute_elementwise(vector, bound, buffer_, written);
    const isa::Registers& registers = *bound.registers;
    const std::size_t row_bytes = buffer_.row_bytes();
    const isa::RowRange& read = bound.footprint.buffer_read;
    const std::uint8_t* const source = buffer_.read(read.first, read.last - read.first);
    const auto geometry = isa::window_geometry(registers, row_bytes);
    const math::PoolingRules rules{
        .operation =
            vector.operation == isa::VectorOperation::MaxPool ? math::Pooling::Max : math::Pooling::Average,
        .elements = vector.elements,
        .count_padding = vector.count_padding,
        .pad_value = static_cast<std::uint8_t>(registers[Register::WindowPadValue])};
    // `source` begins at the first image the lines touch, `written` at the first line's row.
    const std::size_t skipped = vector.first_line / geometry.output_height;
    const std::size_t first_line = vector.first_line - skipped * geometry.output_height;
    const std::size_t image_rows = registers[Register::ActivationImageRows];
    const std::size_t first_image_row = vector.destination_row + skipped * image_rows;
    const isa::PooledPixel pixel = isa::pooled_pixel(registers);
    std::uint8_t* const first_image =
        written - (bound.footprint.buffer_write.first - first_image_row) * row_bytes;
    math::pool(source, geometry, rules, first_line, vector.length,
               {.first = first_image + pixel.offset,
                .image_stride = image_rows * row_bytes,
                .pixel_stride = pixel.bytes});
}

}  // namespace systole::hw
