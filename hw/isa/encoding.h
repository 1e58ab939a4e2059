#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hw/isa/instruction.h"

namespace systole::isa {

/// Appends the instruction's bytes. Throws ProgramError naming the instruction and the field that
/// does not fit its encoding.
void encode(const Instruction& instruction, std::vector<std::uint8_t>& bytes);

/// The instruction that begins at byte `offset` of `bytes`; moves `offset` behind it. Throws
/// ProgramError naming the byte offset.
Instruction decode(std::span<const std::uint8_t> bytes, std::size_t& offset);

/// Bytes `encode` appends.
std::size_t encoded_size(const Instruction& instruction);

/// The instruction's name in assembly: "matmul", "sync.wait", ...
std::string_view mnemonic(const Instruction& instruction);

}  // namespace systole::isa
