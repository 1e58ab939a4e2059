#pragma once

#include <cstdint>

// Limits that follow from the widths of instruction fields and of the datapath.
namespace systole {

/// Row addresses of the unified buffer take 3 bytes, those of the accumulators 2.
inline constexpr std::uint64_t buffer_row_limit = std::uint64_t{1} << 24;
inline constexpr std::uint64_t accumulator_row_limit = std::uint64_t{1} << 16;

/// Byte addresses of a tile's narrow memory take 3 bytes, and so do those of wide memory's units.
inline constexpr std::uint64_t narrow_address_limit = std::uint64_t{1} << 24;
inline constexpr std::uint64_t wide_unit_limit = std::uint64_t{1} << 24;

/// Row addresses of vector memory take 3 bytes, those of high-bandwidth memory 4.
inline constexpr std::uint64_t vector_row_limit = std::uint64_t{1} << 24;
inline constexpr std::uint64_t hbm_row_limit = std::uint64_t{1} << 32;

/// Largest pooling window in pixels: the sum over a larger one could exceed 32 bits.
inline constexpr std::uint64_t largest_pooling_window = std::uint64_t{1} << 23;

}  // namespace systole
