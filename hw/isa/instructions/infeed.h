#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Copies a matrix of 32-bit words from host memory, where its rows lie packed, into panels of high-bandwidth
/// memory. Lanes behind the last column become zeros. result.panel_rows: rows from a panel to the next. With
/// `packed`, the numbers of words are rounded to bfloat16 on the host and sent as such, and two rows share
/// one; of an odd number of rows, the last one's other half becomes zeros.
struct Infeed {
    static constexpr std::string_view mnemonic = "infeed";
    static constexpr std::uint8_t opcode = 0x70;
    static constexpr std::size_t encoded_bytes = 18;
    static constexpr bool needs_tensor_core = true;

    std::uint64_t host_address = 0;  ///< byte; 5 bytes encoded
    std::uint32_t hbm_row = 0;
    std::uint32_t rows = 0;     ///< at least 1
    std::uint32_t columns = 0;  ///< at least 1; 3 bytes encoded
    bool packed = false;        ///< they become bfloat16, two rows in one

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::HostRead; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    /// What goes over the link.
    std::uint64_t bytes_sent() const;

    bool operator==(const Infeed&) const = default;
};

}  // namespace systole::isa
