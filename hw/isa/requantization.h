#pragma once

#include <cstdint>

#include "hw/isa/registers.h"

namespace systole::isa {

/// Bytes of the requantization parameters of a column: int32 bias, int32 multiplier, int8 shift.
inline constexpr std::uint64_t parameter_bytes = 9;

/// Bytes of the lookup table: an entry for each byte, or 513 of 16 bits that 16-bit values lie between.
inline constexpr std::uint64_t narrow_table_bytes = 256;
inline constexpr std::uint64_t wide_table_bytes = 1026;

constexpr std::uint64_t table_bytes(bool wide) {
    return wide ? wide_table_bytes : narrow_table_bytes;
}

/// Throws ProgramError if output.minimum is above output.maximum.
void check_output_range(const Registers& registers);

}  // namespace systole::isa
