#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/isa/forward.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// What cores do together with rows of their vector memories.
enum class CollectiveKind : std::uint8_t { AllReduce, AllGather, ReduceScatter, Broadcast };

inline constexpr std::array<std::string_view, 4> collective_names{"all_reduce", "all_gather",
                                                                  "reduce_scatter", "broadcast"};

constexpr const auto& names_of(CollectiveKind) {
    return collective_names;
}

/// All cores of the machine take part with the same instruction. Sums are of float32, in the order of the
/// cores' numbers.
///
/// all_reduce: every core gets the sum of the rows of all. all_gather: every core gets the rows of all, one
/// core behind the other. reduce_scatter: of `rows` rows for each core, every core gets the sum of its own.
/// broadcast: every core gets the rows of core 0.
struct Collective {
    static constexpr std::string_view mnemonic = "collective";
    static constexpr std::uint8_t opcode = 0x7b;
    static constexpr std::size_t encoded_bytes = 12;
    static constexpr bool needs_tensor_core = true;

    CollectiveKind kind = CollectiveKind::AllReduce;
    std::uint8_t cores = 0;    ///< of the machine; at least 1
    std::uint32_t result = 0;  ///< in vector memory; 3 bytes encoded
    std::uint32_t source = 0;  ///< in vector memory; 3 bytes encoded
    std::uint32_t rows = 0;    ///< of a core; at least 1; 3 bytes encoded

    /// Rows that each core gives, and that each core gets.
    std::uint64_t rows_read() const {
        return std::uint64_t{rows} * (kind == CollectiveKind::ReduceScatter ? cores : 1U);
    }
    std::uint64_t rows_written() const {
        return std::uint64_t{rows} * (kind == CollectiveKind::AllGather ? cores : 1U);
    }

    /// Visits every field, in the order of the encoding.
    void fields(FieldVisitor& visitor);
    /// The unit whose queue takes it; nullopt: the sequencer executes it.
    std::optional<QueueId> queue() const { return QueueId::Collective; }
    /// See hw/isa/footprint.h; error messages do not contain the instruction.
    Footprint footprint(const Registers& registers, const Geometry& geometry) const;

    bool operator==(const Collective&) const = default;
};

}  // namespace systole::isa
