#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace systole::isa {

/// The queues of instructions, one for each unit that has any. A unit executes its queue in program order;
/// between two queues only `sync` makes an order.
enum class QueueId : std::uint8_t {
    HostRead,     ///< host memory to the chip
    HostWrite,    ///< the chip to host memory, interrupts
    Weights,      ///< weights to the array
    Matrix,       ///< systolic data setup and matrix unit
    Activation,   ///< accumulators to unified buffer, vector work
    Host,         ///< the host's processor: segments of the network that the chip cannot compute
    Ring,         ///< wide memory, or the link's stream, to the tiles; vectors to all tiles
    Mesh,         ///< between neighbouring tiles
    Tiles,        ///< the tiles' lanes
    DmaIn,        ///< high-bandwidth memory to vector memory
    DmaOut,       ///< vector memory to high-bandwidth memory
    Vector,       ///< vector memory to vector memory, element by element
    CrossLane,    ///< the same, between lanes
    Collective,   ///< between the vector memories of all cores
    WeightWrite,  ///< unified buffer to weight memory
};

inline constexpr std::size_t queue_count = 15;

/// In a system of several cores, the semaphores from this number on are the system's: all cores share them.
inline constexpr std::uint8_t first_shared_semaphore = 128;

/// The name of the queue and its unit, used in assembly, reports and messages: "host_read", "matrix", ...
std::string_view name(QueueId queue);

/// All names, in the order of the queues.
std::span<const std::string_view> queue_names();

/// The queue of that name, if there is one.
std::optional<QueueId> find_queue(std::string_view name);

}  // namespace systole::isa
