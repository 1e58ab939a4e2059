#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace systole::isa {

/// The units with an instruction queue. Each executes its queue in program order; between two units only
/// `sync` creates an order.
enum class Unit : std::uint8_t {
    HostRead,    ///< host memory to unified buffer
    HostWrite,   ///< unified buffer to host memory, interrupts
    Weights,     ///< weight memory to weight FIFO
    Matrix,      ///< systolic data setup and matrix unit
    Activation,  ///< accumulators to unified buffer, vector work
    Host,        ///< the host's processor: segments of the network that the chip cannot compute
};

inline constexpr std::size_t unit_count = 6;

/// The name used in assembly, reports and messages: "host_read", "matrix", ...
std::string_view name(Unit unit);

/// All names, in the order of the units.
std::span<const std::string_view> unit_names();

/// The unit of that name, if there is one.
std::optional<Unit> find_unit(std::string_view name);

}  // namespace systole::isa
