#pragma once

#include <array>
#include <cstddef>
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

// The constants that reader and writer of program files share; docs/isa.md describes the layout.
namespace systole::isa::file_format {

/// As PNG's: a byte above 127, a name, both kinds of line end, and the end-of-file of old terminals.
inline constexpr std::array<std::uint8_t, 8> magic = {0x89, 'T', 'P', 'U', '\r', '\n', 0x1a, '\n'};
inline constexpr std::uint32_t version = 1;

/// Magic, version, CRC-32 of the content, length of the content.
inline constexpr std::size_t header_bytes = magic.size() + 4 + 4 + 8;

/// Sections of the content, in their order. Each is a tag, its length (8 bytes) and so many bytes.
using Tag = std::array<char, 4>;
inline constexpr Tag array_section = {'A', 'R', 'R', 'Y'};
inline constexpr Tag network_section = {'N', 'E', 'T', 'W'};
inline constexpr Tag buffer_section = {'B', 'U', 'F', 'S'};
inline constexpr Tag tile_section = {'T', 'I', 'L', 'E'};
inline constexpr Tag code_section = {'C', 'O', 'D', 'E'};

}  // namespace systole::isa::file_format
