#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Modules in gzip: programs of many layers repeat themselves, and are a tenth of their size so.
namespace systole::hlo {

/// Whether a file that begins like this is gzip.
bool is_gzip(std::string_view head);

/// What a gzip file of one member, below 4 GiB, holds. Throws ModelError if it is damaged, or holds more than
/// `most` bytes.
std::string gunzip(std::string_view bytes, std::uint64_t most);

}  // namespace systole::hlo
