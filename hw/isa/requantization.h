#pragma once

#include <cstdint>

#include "hw/isa/registers.h"

namespace systole::isa {

/// Bytes of the requantization parameters of a column: int32 bias, int32 multiplier, int8 shift.
inline constexpr std::uint64_t parameter_bytes = 9;

/// Bytes of the lookup table.
inline constexpr std::uint64_t table_bytes = 256;

/// Throws ProgramError if output.minimum is above output.maximum.
void check_output_range(const Registers& registers);

}  // namespace systole::isa
