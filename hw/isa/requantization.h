#pragma once

#include <cstdint>

#include "hw/base/data_type.h"
#include "hw/isa/registers.h"

namespace systole::isa {

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
