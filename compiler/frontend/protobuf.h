#pragma once

#include <google/protobuf/stubs/logging.h>

#include <cstdint>
#include <limits>

/// What the readers of protobuf's messages share.
namespace systole::frontend {

/// protobuf reads no larger messages.
inline constexpr std::uint64_t most_message_bytes = std::numeric_limits<std::int32_t>::max();

/// Keeps protobuf from writing to the terminal.
inline void silence_protobuf() {
    google::protobuf::SetLogHandler(nullptr);
}

}  // namespace systole::frontend
