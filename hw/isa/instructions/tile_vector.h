#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"
#include "hw/isa/scaling.h"

namespace systole::isa {

enum class TileOperation : std::uint8_t {
    Add,                ///< scale(a) + scale(b), requantized
    Subtract,           ///< scale(a) - scale(b), requantized
    Multiply,           ///< a * b, requantized
    Maximum,            ///< the larger of two elements
    Minimum,            ///< the smaller of two elements
    Requantize,         ///< a, requantized
    MaxPool,            ///< the largest element of each window, by channel
    AveragePool,        ///< the mean of each window, by channel
    SumPool,            ///< the sum of each window, by channel, requantized
    Lookup,             ///< the entry of a table of 256 bytes
    Softmax,            ///< of the channels of each pixel, by a table of 256 words
    Interpolate,        ///< the image with other extents, by channel from four pixels around a place
    SquaredDifference,  ///< (scale(a) - scale(b))^2, requantized
    BiasedSumPool,      ///< the sum of each window, by channel, scaled in float32 with a bias
    Normalize,          ///< the channels of each pixel, divided by the root of the sum of their squares
};

inline constexpr std::size_t tile_operation_count = static_cast<std::size_t>(TileOperation::Normalize) + 1;

/// Work without weights on the image that the result.* registers describe. Element-wise work reads the same
/// image as source.* (whose lines, columns and channels must be those of the result) and, for two operands,
/// other.*; it may replace an operand at its place. Pooling reads windows (window.* registers) of the
/// source's image; pixels outside of it do not count. Tables lie in each tile's own wide memory.
struct TileVector {
    static constexpr std::string_view mnemonic = "tile_vector";
    static constexpr std::uint8_t opcode = 0x61;
    static constexpr std::size_t encoded_bytes = 13;
    static constexpr bool needs_tiles = true;

    TileOperation operation = TileOperation::Add;
    Scaling scaling = Scaling::FixedPoint;
    bool is_signed = false;     ///< elements are int8, else uint8
    bool with_margins = false;  ///< as in `tile_multiply`
    // Of `Interpolate`, where the result's pixels lie in the source; at most one of them.
    bool half_pixel = false;     ///< centres of pixels are half a pixel from their borders
    bool align_corners = false;  ///< the first pixels lie on each other, and the last ones
    std::uint32_t result = 0;    ///< in narrow memory; 3 bytes encoded
    std::uint32_t source = 0;    ///< in narrow memory; 3 bytes encoded
    /// 3 bytes encoded: the second operand in narrow memory, or the first unit of the table in each tile's
    /// own wide memory.
    std::uint32_t other = 0;

    /// Whether `other` is read.
    bool has_other() const;
    /// Whether `other` is a table, and how many units it has in each tile; 0: there is none.
    std::uint32_t table_units() const;
    /// Whether results are computed from windows.
    bool is_pooling() const;
    /// Whether each result comes from the same element of its operands, which it may replace.
    bool is_element_wise() const;
    /// Whether results are scaled by multipliers.
    bool scales() const;

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::Tiles; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const TileVector&) const = default;
};

}  // namespace systole::isa
