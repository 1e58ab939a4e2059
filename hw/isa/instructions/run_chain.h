#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// Computes a chain of the program (Program::chains) for `rows` rows of `columns` elements. source.panel_rows
/// is of the first source, other.panel_rows of the others that have rows, result.panel_rows of the results.
/// Rows of the first source and of the first result may be apart (walk.*, from.* and to.* registers). A
/// result may replace a source in its place.
struct RunChain {
    static constexpr std::string_view mnemonic = "chain";
    static constexpr std::uint8_t opcode = 0x76;
    static constexpr std::size_t encoded_bytes = 29;
    static constexpr bool needs_tensor_core = true;

    static constexpr std::size_t most_sources = 4;
    static constexpr std::size_t most_results = 2;

    std::uint16_t chain = 0;
    std::uint32_t rows = 0;     ///< at least 1
    std::uint32_t columns = 0;  ///< at least 1
    // In vector memory; 3 bytes encoded each. Those that the chain does not have are 0.
    std::array<std::uint32_t, most_results> results{};
    std::array<std::uint32_t, most_sources> sources{};

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::Vector; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const RunChain&) const = default;
};

}  // namespace systole::isa
