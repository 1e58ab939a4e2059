#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"
#include "hw/isa/scaling.h"

namespace systole::isa {

enum class TileProduct : std::uint8_t {
    Convolve,   ///< every output channel of a window from all channels of its pixels
    Depthwise,  ///< output channel n from channel n / (output channels / channels) alone
    /// A vector times a matrix: group g is computed by tile g mod tiles, with weights of its own wide memory.
    Dense,
};

/// Multiplies elements by weights, adds up, and requantizes the sums (docs/isa.md). The image that the
/// result.* registers describe is computed from the one of the source.* registers, with the windows of the
/// window.* registers; Dense multiplies a vector that is in every tile.
///
/// A result is clamp(zero_point + scale(bias[n] + sum of (a - source.zero_point) * (w -
/// multiply.weight_zero_point), multiplier[n])), the sum of 32 bits. Parameters are blocks, one for each
/// group of as many output channels as a tile has lanes: a row of int32 biases, with `by_channel` rows of
/// multipliers, then rows of weights, tile_word elements for each lane.
struct TileMultiply {
    static constexpr std::string_view mnemonic = "tile_multiply";
    static constexpr std::uint8_t opcode = 0x60;
    static constexpr std::size_t encoded_bytes = 15;
    static constexpr bool needs_tiles = true;

    TileProduct product = TileProduct::Convolve;
    Scaling scaling = Scaling::FixedPoint;
    bool is_signed = false;           ///< elements and results are int8, else uint8
    bool has_signed_weights = false;  ///< weights are int8, else uint8
    /// Each output channel has a multiplier of its own, in its group's block. Otherwise all have
    /// vector.multiplier and vector.shift.
    bool by_channel = false;
    bool streamed = false;  ///< the blocks come from host memory; see `multicast`
    /// Every tile computes all pixels that it stores of the result, those in margins too; pixels outside the
    /// image become output.zero_point. Not for Dense.
    bool with_margins = false;
    std::uint32_t result = 0;  ///< in narrow memory; 3 bytes encoded
    std::uint32_t source = 0;  ///< in narrow memory; 3 bytes encoded
    /// A unit of wide memory, of Dense in each tile, or a byte of host memory; 5 bytes encoded.
    std::uint64_t parameters = 0;

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::Tiles; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const TileMultiply&) const = default;
};

}  // namespace systole::isa
