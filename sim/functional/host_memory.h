#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>

#include "base/zeroed_memory.h"
#include "hw/isa/program.h"
#include "sim/functional/memory.h"

namespace systole::functional {

/// The host buffers of programs: constants hold their contents, the others begin as zeros.
class HostMemory {
public:
    /// Adds a program's buffers, which do not overlap each other. A buffer at the place of another program's,
    /// with as many bytes, is the same. Throws ProgramError if one overlaps those of another program in any
    /// other way, is constant in one of them, or if the memory for it cannot be had.
    void add(std::span<const isa::HostBuffer> buffers);

    /// The bytes of a buffer. Throws std::logic_error if it is not the program's.
    std::span<std::uint8_t> bytes_of(const isa::HostBuffer& buffer);

    /// Bytes from an address on. Throws ProgramError unless they lie in one buffer.
    std::span<std::uint8_t> range(std::uint64_t address, std::uint64_t bytes);

private:
    /// Whether there is the same buffer already.
    bool shares(const isa::HostBuffer& buffer) const;

    std::map<std::uint64_t, ZeroedMemory<std::uint8_t>> buffers_;  ///< by address
    std::set<std::uint64_t> constants_;                            ///< addresses of constant ones
};

}  // namespace systole::functional
