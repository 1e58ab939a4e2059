#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// The order in which the source's lines, columns and channels are those of the result: with
/// ColumnsLinesChannels, the source's columns are the result's lines.
enum class AxisOrder : std::uint8_t {
    LinesColumnsChannels,
    LinesChannelsColumns,
    ColumnsLinesChannels,
    ColumnsChannelsLines,
    ChannelsLinesColumns,
    ChannelsColumnsLines,
};

/// For lines, columns and channels of the result: which of the source's they are, counted from 0.
std::array<std::size_t, 3> source_axes(AxisOrder order);
/// The order with these axes of the source.
AxisOrder order_of(const std::array<std::size_t, 3>& source_axes);

/// Moves the elements of an image (source.* registers) to one with its axes in another order (result.*
/// registers), from the tiles that own their pixels to those that own the result's.
struct Permute {
    static constexpr std::string_view mnemonic = "permute";
    static constexpr std::uint8_t opcode = 0x5a;
    static constexpr std::size_t encoded_bytes = 8;
    static constexpr bool needs_tiles = true;

    AxisOrder order = AxisOrder::LinesColumnsChannels;
    std::uint32_t result = 0;  ///< in narrow memory; 3 bytes encoded
    std::uint32_t source = 0;  ///< in narrow memory; 3 bytes encoded

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::Mesh; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const Permute&) const = default;
};

}  // namespace systole::isa
