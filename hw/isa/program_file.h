#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <ostream>
#include <span>
#include <string_view>
#include <vector>

#include "hw/isa/program.h"

namespace systole::isa {

/// Writes the program as a `.tpu` file (layout: docs/isa.md). Throws ProgramError if the program
/// breaks a rule (see `validate`) or writing fails.
void write_program(const Program& program, std::ostream& stream);
/// Writes a whole file; throws OutputError if that fails (see base/whole_file.h).
void write_program(const Program& program, const std::filesystem::path& path);

/// Reads the program of a `.tpu` file; it passes `validate`. Throws ProgramError "name: byte N: ..." at the
/// first error. `name` is the file's name in messages.
Program read_program(std::span<const std::uint8_t> file, std::string_view name);
Program read_program(const std::filesystem::path& path);

}  // namespace systole::isa

// The constants that reader and writer of program files share; docs/isa.md describes the layout.
namespace systole::isa::file_format {

/// Like PNG's: a byte above 127, a name, both kinds of line end, and the DOS end-of-file character.
inline constexpr std::array<std::uint8_t, 8> magic = {0x89, 'T', 'P', 'U', '\r', '\n', 0x1a, '\n'};
inline constexpr std::uint32_t version = 1;
/// Of a program with initial rows, which go into a section of their own at the end.
inline constexpr std::uint32_t version_with_rows = 2;
/// Of a program with host segments, exchange buffers, or tensors at its border of other formats than 8 and 16
/// bits. The section of initial rows, which may be empty, is followed by one of host segments.
inline constexpr std::uint32_t version_with_host = 3;

/// Of a program with tiles that have MACs for each pixel of a block. The sections of version 3, in which all
/// may be empty, are followed by one of blocks.
inline constexpr std::uint32_t version_with_blocks = 4;
inline constexpr std::uint32_t version_with_host_macs = 5;
/// Of a program with an input whose real numbers are converted by the rule of a network's file.
inline constexpr std::uint32_t version_with_conversions = 6;
/// Of a program for a machine with tiles.
inline constexpr std::uint32_t version_with_tiles = 7;
/// Of a program for a machine with a tensor core. It has no grid of tiles: the section of conversions is
/// followed by one of the core.
inline constexpr std::uint32_t version_with_tensor_core = 8;
/// The same with state: the section of the core is followed by one of state.
inline constexpr std::uint32_t version_with_state = 9;
/// The same, of a program whose inputs and outputs are arrays in files: the section of state, which may be
/// empty, is followed by one of arrays.
inline constexpr std::uint32_t version_with_arrays = 10;
/// The same, of a program with tensors that stay in memory: the section of arrays, of 0 replicas where there
/// are no arrays, is followed by one of these tensors.
inline constexpr std::uint32_t version_with_residents = 11;
inline constexpr std::uint32_t newest_version = version_with_residents;

/// Magic, version, CRC-32 of the content, length of the content.
inline constexpr std::size_t header_bytes = magic.size() + 4 + 4 + 8;

/// The sections of the content, in order. Each is a tag, a length (8 bytes) and that number of bytes.
using Tag = std::array<char, 4>;
inline constexpr Tag array_section = {'A', 'R', 'R', 'Y'};
inline constexpr Tag network_section = {'N', 'E', 'T', 'W'};
inline constexpr Tag buffer_section = {'B', 'U', 'F', 'S'};
inline constexpr Tag tile_section = {'T', 'I', 'L', 'E'};
inline constexpr Tag code_section = {'C', 'O', 'D', 'E'};
inline constexpr Tag rows_section = {'R', 'O', 'W', 'S'};
/// Those of initial_memories whose rows are in that section.
inline constexpr std::array rows_section_memories = {MemoryId::UnifiedBuffer, MemoryId::Accumulators};
inline constexpr Tag host_section = {'H', 'O', 'S', 'T'};
inline constexpr Tag block_section = {'B', 'L', 'C', 'K'};
inline constexpr Tag host_macs_section = {'H', 'M', 'A', 'C'};
inline constexpr Tag conversion_section = {'C', 'O', 'N', 'V'};
inline constexpr Tag grid_section = {'G', 'R', 'I', 'D'};
inline constexpr Tag core_section = {'C', 'O', 'R', 'E'};
inline constexpr Tag state_section = {'S', 'T', 'A', 'T'};
inline constexpr Tag arrays_section = {'F', 'A', 'R', 'R'};
inline constexpr Tag resident_section = {'R', 'E', 'S', 'I'};

/// The version of the program's file: the lowest that can hold it.
std::uint32_t version_of(const Program& program);

}  // namespace systole::isa::file_format
