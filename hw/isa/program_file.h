#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <span>
#include <string_view>
#include <vector>

#include "hw/isa/program.h"

namespace systole::isa {

/// Writes the program as a `.tpu` file (layout: docs/isa.md). Throws ProgramError if the program
/// breaks a rule (see `validate`) or writing fails.
void write_program(const Program& program, std::ostream& stream);
void write_program(const Program& program, const std::filesystem::path& path);

/// The program of a `.tpu` file. Throws ProgramError "name: byte N: ..." at the first thing wrong;
/// what was returned keeps the rules of `validate`. `name` is what messages call the file.
Program read_program(std::span<const std::uint8_t> file, std::string_view name);
Program read_program(const std::filesystem::path& path);

}  // namespace systole::isa
