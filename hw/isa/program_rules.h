#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hw/isa/program.h"

// The rules a program keeps, whether it was read from a file, from text or is about to be written.
namespace systole::isa {

/// Rows and columns of the largest array programs are made for.
inline constexpr std::uint32_t largest_array_side = 4096;

/// The first rule broken, naming field and value, or nothing.
std::optional<std::string> broken_rule(const Geometry& geometry);
std::optional<std::string> broken_rule(const WeightTile& tile, const Geometry& geometry);
std::optional<std::string> broken_rule(const HostBuffer& buffer);
std::optional<std::string> broken_rule(const BorderTensor& tensor);
std::optional<std::string> broken_rule(const Instruction& instruction, const Program& program);

/// Holds a program's parts, instructions among them, against their rules, and the program against
/// those between parts: host buffers have names of their own and do not overlap, `read_weights` finds
/// its tiles, a tag its layer where layers are given. Throws ProgramError naming the part, the value
/// and the rule.
void validate(const Program& program);

}  // namespace systole::isa
