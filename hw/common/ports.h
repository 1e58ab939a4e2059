#pragma once

#include <cstddef>
#include <cstdint>

namespace systole::hw {

/// The ports of the on-chip memories, as numbers of PortArbiter.
inline constexpr std::size_t buffer_read_port = 0;
inline constexpr std::size_t buffer_write_port = 1;
/// Accumulator bank b is port first_bank_port + b.
inline constexpr std::size_t first_bank_port = 2;

/// How many of the users below there are for each: the matrix unit (for its data setup), the activation
/// unit and the host's writes read the buffer; the activation unit and the host's reads write it; the
/// matrix unit writes the accumulators and the activation unit reads them.
inline constexpr std::uint32_t buffer_readers = 3;
inline constexpr std::uint32_t buffer_writers = 2;
inline constexpr std::uint32_t bank_users = 2;

/// Who asks for ports, in the order in which requests of one cycle are served. The array cannot stop
/// once a stream has entered, and every other unit works for it or behind it.
inline constexpr std::size_t matrix_user = 0;
inline constexpr std::size_t activation_user = 1;
inline constexpr std::size_t host_read_user = 2;
inline constexpr std::size_t host_write_user = 3;

}  // namespace systole::hw
