#pragma once

#include <cstdint>
#include <string_view>

#include "hw/base/data_type.h"
#include "hw/isa/forward.h"
#include "hw/isa/registers.h"

namespace systole::isa {

/// What `matrix_multiply` and `convolve` have in common: the flags byte.
struct MatrixFlags {
    /// Add to the accumulators instead of overwriting them. Repetitions after the first always add.
    bool accumulate = false;
    /// Use the weights already in the array instead of switching to the next tile.
    bool keep_weights = false;
    /// Number format of the streamed elements.
    DataType activations = DataType::Uint8;
    /// Number format of the weights: that of the tiles it meets.
    DataType weights = DataType::Int8;

    bool operator==(const MatrixFlags&) const = default;
};

/// The rule of the activation unit's instructions: its datapath has elements of these formats alone.
void check_vector_format(FieldVisitor& visitor, std::string_view field, DataType format);

/// Shows the flags byte.
void visit_flags(FieldVisitor& visitor, MatrixFlags& flags);

/// Bytes of the requantization parameters of a column: int32 bias, int32 multiplier, int8 shift.
inline constexpr std::uint64_t parameter_bytes = 9;

/// Bytes of the lookup table for elements of a format: an entry for each byte, or 513 of 16 bits that 16-bit
/// values lie between.
constexpr std::uint64_t table_bytes(DataType elements) {
    constexpr std::uint64_t table_of_bytes = 256;
    constexpr std::uint64_t interpolated_table = 1026;
    return bytes_of(elements) == 1 ? table_of_bytes : interpolated_table;
}

/// Throws ProgramError if output.minimum is above output.maximum.
void check_output_range(const Registers& registers);

}  // namespace systole::isa
