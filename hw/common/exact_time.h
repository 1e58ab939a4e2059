#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>

#include "hw/common/clock.h"

namespace systole::hw {

/// An instant between cycles: whole cycles and a fraction counted in parts of a cycle. How many parts
/// a cycle has is the owner's to know; one owner uses one number.
struct ExactTime {
    Cycle whole = 0;
    std::uint64_t parts = 0;

    auto operator<=>(const ExactTime&) const = default;
};

/// How long transfers take at `bytes` bytes in every `cycles` cycles, exactly: a cycle has `bytes`
/// parts, and a byte takes `cycles` of them.
class TransferRate {
public:
    TransferRate(std::uint64_t bytes, std::uint64_t cycles) : bytes_(bytes), cycles_(cycles) {}

    /// The end of a transfer of this many bytes that begins at `begin`. Throws std::overflow_error
    /// where that is no 64-bit cycle.
    ExactTime after(ExactTime begin, std::uint64_t transfer_bytes) const {
        const Wide parts = Wide{transfer_bytes} * cycles_ + begin.parts;
        const Wide whole = begin.whole + parts / bytes_;
        if (whole > std::numeric_limits<Cycle>::max()) {
            throw std::overflow_error("a transfer ends later than 64 bits of cycles hold");
        }
        return {static_cast<Cycle>(whole), static_cast<std::uint64_t>(parts % bytes_)};
    }

private:
    // NOLINTNEXTLINE(modernize-use-using): __extension__ goes with typedef alone.
    __extension__ typedef unsigned __int128 Wide;  // a product of two 64-bit numbers

    std::uint64_t bytes_;
    std::uint64_t cycles_;
};

}  // namespace systole::hw
