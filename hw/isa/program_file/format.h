#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// What reader and writer of program files agree on; docs/isa.md says it in full.
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
