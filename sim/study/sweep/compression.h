#pragma once

#include <string>
#include <string_view>

namespace systole::sweep {

/// The bytes as a zlib stream (RFC 1950), which other languages' standard libraries read.
std::string compressed(std::string_view bytes);

/// The bytes of such a stream. Throws UserError where it is broken.
std::string expanded(std::string_view stream);

}  // namespace systole::sweep
