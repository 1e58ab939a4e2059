#pragma once

#include <cstdint>
#include <optional>

#include "hw/isa/instructions/move.h"
#include "hw/isa/registers.h"

// Which pixel each pixel of a moved image comes from (docs/isa.md, "move").
namespace systole::isa {

/// One direction of a move.
struct MovedAxis {
    std::int64_t stride = 1;
    std::int64_t dilation = 1;
    std::int64_t pad = 0;
    bool repeats = false;

    /// The line, or column, of the source that one of the result comes from; none if there is none among so
    /// many.
    std::optional<std::uint64_t> source_of(std::uint64_t result, std::uint64_t sources) const {
        const std::int64_t place = static_cast<std::int64_t>(result) * stride - pad;
        if (place < 0 || (!repeats && place % dilation != 0)) return std::nullopt;
        const auto source = static_cast<std::uint64_t>(place / dilation);
        return source < sources ? std::optional(source) : std::nullopt;
    }

    bool operator==(const MovedAxis&) const = default;
};

struct MovedPixels {
    MovedAxis lines;
    MovedAxis columns;
};
/// Throws ProgramError if a stride or a dilation is 0 or above 65535.
MovedPixels moved_pixels(const Move& move, const Registers& registers);

}  // namespace systole::isa
