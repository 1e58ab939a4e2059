#pragma once

// Macros for functions that are compiled for AVX-512, for AVX2 and for any x86-64; the dynamic loader picks
// the best version for the processor. So the project needs no -march flag and its binaries run everywhere.
//
// Only gcc builds use versions. The loader picks a version before a sanitizer's runtime is ready, so
// instrumented builds get the plain function; so does clang, which only builds fuzz targets here.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define SYSTOLE_HAS_TARGET_VERSIONS

/// Put before the definition of a function with hot loops: the compiler makes all versions of it.
#define SYSTOLE_TARGET_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))

// Put before the definition of one version, if one source does not fit all. The first two exist only if
// SYSTOLE_HAS_TARGET_VERSIONS is defined.
#define SYSTOLE_TARGET_AVX512 __attribute__((target("arch=x86-64-v4")))
#define SYSTOLE_TARGET_AVX2 __attribute__((target("arch=x86-64-v3")))
#define SYSTOLE_TARGET_DEFAULT __attribute__((target("default")))
#else
#define SYSTOLE_TARGET_CLONES
#define SYSTOLE_TARGET_DEFAULT
#endif

/// Put before a helper of such functions, so that each version gets its own copy of the helper.
#define SYSTOLE_ALWAYS_INLINE [[gnu::always_inline]] inline
