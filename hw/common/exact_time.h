#pragma once

#include <cstdint>
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

    /// The end of a transfer of this many bytes that begins at `begin`.
    ExactTime after(ExactTime begin, std::uint64_t transfer_bytes) const {
        std::uint64_t parts = 0;
        if (__builtin_mul_overflow(transfer_bytes, cycles_, &parts) || parts > UINT64_MAX - bytes_) {
            throw std::logic_error("a transfer's length does not fit 64 bits");
        }
        parts += begin.parts;
        return {begin.whole + parts / bytes_, parts % bytes_};
    }

private:
    std::uint64_t bytes_;
    std::uint64_t cycles_;
};

}  // namespace systole::hw
