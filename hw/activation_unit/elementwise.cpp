#include "hw/activation_unit/elementwise.h"

#include <algorithm>
#include <span>
#include <stdexcept>

#include "hw/isa/image_slices.h"
#include "hw/math/elementwise.h"
#include "hw/math/interpolated_table.h"
#include "hw/math/lookup_table.h"

namespace systole::hw {

namespace {

using isa::Register;

math::Elementwise parameters_of(const isa::Registers& registers, DataType elements) {
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
            .elements = elements};
}

/// The bytes of some images' rows of an operand or result, image by image.
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

}  // namespace

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
                        bytes_in(bound.footprint.buffer_read).data(), row_bytes);
    const auto look_up = [&](const auto& table) {
        for (std::uint64_t i = 0; i < results.images(); ++i) math::lookup(source[i], out[i], table);
    };
    const auto combine = [&](const auto& function) {
        const Images other(slices_of(Register::VectorOtherImageRows, vector.other_row),
                           bytes_in(bound.footprint.buffer_read_other).data(), row_bytes);
        const math::Elementwise parameters = parameters_of(registers, vector.elements);
        for (std::uint64_t i = 0; i < results.images(); ++i)
            function(source[i], other[i], parameters, out[i]);
    };
    switch (vector.operation) {
        case isa::VectorOperation::Add:
            return combine(math::add);
        case isa::VectorOperation::Multiply:
            return combine(math::multiply);
        case isa::VectorOperation::Lookup: {
            const auto bytes = bytes_in(bound.footprint.buffer_read_table);
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

}  // namespace systole::hw
