#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hw/math/target_clones.h"

namespace systole::math {

/// Copies a short row whose length is only roughly known at compile time, without memcpy's branches inside
/// the caller's loop. Moves `Piece` bytes at a time; the last move overlaps the previous one, so exactly
/// `bytes` bytes are read and written. Piece <= bytes.
template <std::size_t Piece>
SYSTOLE_ALWAYS_INLINE void copy_by_pieces(const std::uint8_t* from, std::size_t bytes, std::uint8_t* to) {
    struct Move {
        std::uint8_t bytes[Piece];
    };
    const auto move = [&](std::size_t offset) {
        Move piece;
        std::memcpy(&piece, from + offset, Piece);
        std::memcpy(to + offset, &piece, Piece);
    };
    for (std::size_t offset = 0; offset + Piece < bytes; offset += Piece) move(offset);
    move(bytes - Piece);
}

/// Two moves of `Piece` bytes; Piece <= bytes <= 2 * Piece.
template <std::size_t Piece>
SYSTOLE_ALWAYS_INLINE void copy_in_two(const std::uint8_t* from, std::size_t bytes, std::uint8_t* to) {
    struct Move {
        std::uint8_t bytes[Piece];
    };
    Move head;
    Move tail;
    std::memcpy(&head, from, Piece);
    std::memcpy(&tail, from + bytes - Piece, Piece);
    std::memcpy(to, &head, Piece);
    std::memcpy(to + bytes - Piece, &tail, Piece);
}

/// Copies `rows` short rows of `bytes` bytes each (at least 1). The way to copy is chosen once for all rows.
SYSTOLE_ALWAYS_INLINE void copy_rows(const std::uint8_t* from, std::size_t from_stride, std::size_t bytes,
                                     std::size_t rows, std::uint8_t* to, std::size_t to_stride) {
    const auto each = [&](const auto& copy) {
        for (std::size_t row = 0; row < rows; ++row) copy(from + row * from_stride, to + row * to_stride);
    };
    if (bytes == 1) {
        each([](const std::uint8_t* in, std::uint8_t* out) { *out = *in; });
    } else if (bytes <= 4) {
        each([bytes](const std::uint8_t* in, std::uint8_t* out) { copy_in_two<2>(in, bytes, out); });
    } else if (bytes <= 8) {
        each([bytes](const std::uint8_t* in, std::uint8_t* out) { copy_in_two<4>(in, bytes, out); });
    } else if (bytes <= 16) {
        each([bytes](const std::uint8_t* in, std::uint8_t* out) { copy_in_two<8>(in, bytes, out); });
    } else if (bytes <= 32) {
        each([bytes](const std::uint8_t* in, std::uint8_t* out) { copy_in_two<16>(in, bytes, out); });
    } else if (bytes <= 64) {
        each([bytes](const std::uint8_t* in, std::uint8_t* out) { copy_in_two<32>(in, bytes, out); });
    } else {
        each([bytes](const std::uint8_t* in, std::uint8_t* out) { copy_by_pieces<32>(in, bytes, out); });
    }
}

}  // namespace systole::math
