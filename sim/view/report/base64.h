#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace systole::report {

/// Bytes as text (RFC 4648, section 4), padded with "=".
std::string to_base64(std::span<const std::uint8_t> bytes);

}  // namespace systole::report
