#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace systole::isa {

/// The memories that instructions read and write.
enum class MemoryId : std::uint8_t {
    UnifiedBuffer,  ///< in rows of Geometry::rows bytes
    Accumulators,   ///< in rows of Geometry::columns sums
    WeightMemory,   ///< in tiles of the program
    HostMemory,     ///< in bytes
    NarrowMemory,   ///< in bytes, at the same address in every tile
    WideMemory,     ///< in units of tile_unit_bytes, through all tiles
    VectorMemory,   ///< in rows of TensorShape::lanes words
    Hbm,            ///< high-bandwidth memory, in rows as vector memory
};

inline constexpr std::size_t memory_count = 8;

constexpr std::size_t index_of(MemoryId memory) {
    return static_cast<std::size_t>(memory);
}

/// One value for each memory.
template <class Value>
class ByMemory {
public:
    Value& operator[](MemoryId memory) { return values_[index_of(memory)]; }
    const Value& operator[](MemoryId memory) const { return values_[index_of(memory)]; }

    auto begin() { return values_.begin(); }
    auto end() { return values_.end(); }
    auto begin() const { return values_.begin(); }
    auto end() const { return values_.end(); }

    bool operator==(const ByMemory&) const = default;

private:
    std::array<Value, memory_count> values_{};
};

/// The memories that a program may begin with values in.
inline constexpr std::array initial_memories = {MemoryId::UnifiedBuffer, MemoryId::Accumulators,
                                                MemoryId::Hbm};

/// The name of the unit that is the memory, in machine files and reports.
constexpr std::string_view name(MemoryId memory) {
    constexpr std::array<std::string_view, memory_count> names = {
        "unified_buffer", "accumulators", "weight_memory", "host_memory",
        "narrow_memory",  "wide_memory",  "vector_memory", "hbm"};
    static_assert(!names.back().empty(), "each memory has a name");
    return names[index_of(memory)];
}

/// The memory that a unit is; none for other units.
constexpr std::optional<MemoryId> memory_named(std::string_view unit) {
    for (std::size_t i = 0; i < memory_count; ++i) {
        if (name(static_cast<MemoryId>(i)) == unit) return static_cast<MemoryId>(i);
    }
    return std::nullopt;
}

/// What messages call a place in the memory: "unified-buffer row", "host byte"; an s makes it plural.
constexpr std::string_view place_name(MemoryId memory) {
    constexpr std::array<std::string_view, memory_count> names = {
        "unified-buffer row", "accumulator row",  "weight tile",       "host byte",
        "narrow-memory byte", "wide-memory unit", "vector-memory row", "high-bandwidth-memory row"};
    static_assert(!names.back().empty(), "each memory has a name");
    return names[index_of(memory)];
}

}  // namespace systole::isa
