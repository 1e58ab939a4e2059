#pragma once

#include <cstddef>

namespace systole::hw {

/// The ports of the on-chip memories, as numbers of PortArbiter.
inline constexpr std::size_t buffer_read_port = 0;
inline constexpr std::size_t buffer_write_port = 1;
/// Accumulator bank b is port first_bank_port + b.
inline constexpr std::size_t first_bank_port = 2;

/// Who asks for ports, in the order in which requests of one cycle are served. The array cannot stop
/// once a stream has entered, and every other unit works for it or behind it.
inline constexpr std::size_t matrix_user = 0;
inline constexpr std::size_t activation_user = 1;
inline constexpr std::size_t host_read_user = 2;
inline constexpr std::size_t host_write_user = 3;

}  // namespace systole::hw
