#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hw/isa/instruction.h"

namespace systole::isa {

/// Appends the instruction's bytes. Throws ProgramError with the instruction and the field if a field does
/// not fit its encoding.
void encode(const Instruction& instruction, std::vector<std::uint8_t>& bytes);

/// Decodes the instruction that begins at byte `offset` of `bytes` and moves `offset` behind it. Throws
/// ProgramError with the byte offset.
Instruction decode(std::span<const std::uint8_t> bytes, std::size_t& offset);

/// The number of bytes that `encode` appends.
std::size_t encoded_size(const Instruction& instruction);

/// The instruction's name in assembly: "matmul", "sync.wait", ...
std::string_view mnemonic(const Instruction& instruction);

}  // namespace systole::isa
