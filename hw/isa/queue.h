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
    HostRead,    ///< host memory to unified buffer
    HostWrite,   ///< unified buffer to host memory, interrupts
    Weights,     ///< weight memory to weight FIFO
    Matrix,      ///< systolic data setup and matrix unit
    Activation,  ///< accumulators to unified buffer, vector work
    Host,        ///< the host's processor: segments of the network that the chip cannot compute
    Ring,        ///< wide memory, or the link's stream, to the tiles; vectors to all tiles
    Mesh,        ///< between neighbouring tiles
    Tiles,       ///< the tiles' lanes
};

inline constexpr std::size_t queue_count = 9;

/// In a system of several cores, the semaphores from this number on are the system's: all cores share them.
inline constexpr std::uint8_t first_shared_semaphore = 128;

/// The name of the queue and its unit, used in assembly, reports and messages: "host_read", "matrix", ...
std::string_view name(QueueId queue);

/// All names, in the order of the queues.
std::span<const std::string_view> queue_names();

/// The queue of that name, if there is one.
std::optional<QueueId> find_queue(std::string_view name);

}  // namespace systole::isa
