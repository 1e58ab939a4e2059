#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hw/common/port_arbiter.h"
#include "hw/machine/machine_config.h"

namespace systole::hw {

/// The ports of the on-chip memories, as numbers of PortArbiter.
inline constexpr std::size_t buffer_read_port = 0;
inline constexpr std::size_t buffer_write_port = 1;
/// Accumulator bank b is port first_bank_port + b.
inline constexpr std::size_t first_bank_port = 2;

/// The number of users of each kind of port. The buffer is read by the matrix unit (for its data setup), by
/// the activation unit and for transfers to the host; it is written by the activation unit and for transfers
/// from the host. Where weight memory is writable, the weight writer reads the buffer, too. The matrix unit
/// writes the accumulators and the activation unit reads them.
inline constexpr std::uint32_t buffer_readers = 3;
inline constexpr std::uint32_t buffer_readers_with_weight_writer = 4;
inline constexpr std::uint32_t buffer_writers = 2;
inline constexpr std::uint32_t bank_users = 2;

/// The users of ports, in the order in which requests of one cycle are served. The matrix unit is first
/// because the array cannot stop once a stream has entered.
inline constexpr std::size_t matrix_user = 0;
inline constexpr std::size_t activation_user = 1;
inline constexpr std::size_t host_read_user = 2;
inline constexpr std::size_t host_write_user = 3;
inline constexpr std::size_t weight_write_user = 4;

/// The ports of a machine's memories by number, each with its places and its users.
inline std::vector<PortArbiter::Places> port_places(const machine::MachineConfig& machine) {
    std::vector<PortArbiter::Places> ports(first_bank_port + machine.accumulators.banks,
                                           {machine.accumulators.ports, bank_users});
    ports[buffer_read_port] = {machine.unified_buffer.read_ports, machine.weight_memory.writable
                                                                      ? buffer_readers_with_weight_writer
                                                                      : buffer_readers};
    ports[buffer_write_port] = {machine.unified_buffer.write_ports, buffer_writers};
    return ports;
}

}  // namespace systole::hw
