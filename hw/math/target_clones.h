#pragma once

// Functions that exist in a version for AVX-512, one for AVX2 and one for any x86-64; the dynamic loader
// picks the best the processor has. So the project needs no -march flag and its binaries run everywhere.
//
// Only gcc's versions are used. The loader picks before a sanitizer's runtime is up, so instrumented
// builds get the plain function, and so does clang, which only builds fuzz targets here.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define SYSTOLE_HAS_TARGET_VERSIONS

/// Put before the definition of a function with hot loops: the compiler makes all versions of it.
#define SYSTOLE_TARGET_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))

// Put before definitions that are a version each, where one source does not fit all; the first two only
// where there are versions.
#define SYSTOLE_TARGET_AVX512 __attribute__((target("arch=x86-64-v4")))
#define SYSTOLE_TARGET_AVX2 __attribute__((target("arch=x86-64-v3")))
#define SYSTOLE_TARGET_DEFAULT __attribute__((target("default")))
#else
#define SYSTOLE_TARGET_CLONES
#define SYSTOLE_TARGET_DEFAULT
#endif

/// Put before a helper of such functions, so that each version gets its own copy of the helper.
#define SYSTOLE_ALWAYS_INLINE [[gnu::always_inline]] inline
