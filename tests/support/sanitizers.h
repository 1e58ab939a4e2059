#pragma once

namespace systole::tests {

/// Whether AddressSanitizer watches, which makes a program ten times as slow. Tests that it makes no stronger
/// run fewer cases then, or are skipped.
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool is_instrumented = true;
#else
inline constexpr bool is_instrumented = false;
#endif

}  // namespace systole::tests
