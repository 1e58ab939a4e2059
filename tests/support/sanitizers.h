#pragma once

namespace systole::tests {

/// Whether AddressSanitizer watches, which makes a program ten times as slow: what shows no more with it than
/// without does less then, or is skipped.
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool is_instrumented = true;
#else
inline constexpr bool is_instrumented = false;
#endif

}  // namespace systole::tests
