#pragma once

#include <cstdint>
#include <string_view>

#include "base/data_type.h"
#include "hw/isa/forward.h"
#include "hw/isa/registers.h"

namespace systole::isa {

/// The flags byte of `matrix_multiply` and `convolve`.
struct MatrixFlags {
    /// Add to the accumulators instead of overwriting them. Repetitions after the first always add.
    bool accumulate = false;
    /// Use the weights already in the array instead of switching to the next tile.
    bool keep_weights = false;
    /// Number format of the streamed elements.
    DataType activations = DataType::Uint8;
    /// Number format of the weights; it must be that of the tiles.
    DataType weights = DataType::Int8;

    bool operator==(const MatrixFlags&) const = default;
};

/// Checks that the activation unit's datapath supports the format: uint8, int8 or int16.
void check_vector_format(FieldVisitor& visitor, std::string_view field, DataType format);

/// Visits the flags byte.
void visit_flags(FieldVisitor& visitor, MatrixFlags& flags);

/// Bytes of the lookup table for elements of a format. 8-bit elements have an entry for each value; 16-bit
/// elements have 513 entries of 16 bits and are interpolated between two of them.
constexpr std::uint64_t table_bytes(DataType elements) {
    constexpr std::uint64_t table_of_bytes = 256;
    constexpr std::uint64_t interpolated_table = 1026;
    return bytes_of(elements) == 1 ? table_of_bytes : interpolated_table;
}

/// Throws ProgramError unless multiply.weight_zero_point is a number of int8, and 0 for other weights.
void check_weight_zero_point(const Registers& registers, const MatrixFlags& flags);
/// Throws ProgramError unless it is a number of int8.
void check_weight_zero_point(const Registers& registers);

/// Throws ProgramError if output.minimum is above output.maximum.
void check_output_range(const Registers& registers);

}  // namespace systole::isa
