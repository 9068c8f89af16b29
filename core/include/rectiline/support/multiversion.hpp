// One source, several instruction sets. A function marked RECTILINE_MULTIVERSION is compiled for
// AVX-512, AVX2 and baseline x86-64, and the loader picks one; everything it calls must be
// RECTILINE_INLINE (a lambda: RECTILINE_INLINE_LAMBDA) so that it is compiled inside each version:
// a call that is left makes a loop run row by row.
//
// The mechanism needs ifunc, hence glibc: elsewhere (musl, macOS, Windows, ARM) there is one
// version.
#pragma once

#if defined(__linux__)
#include <features.h>
#endif

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && \
    !defined(RECTILINE_NO_MULTIVERSION)
#define RECTILINE_MULTIVERSION \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#define RECTILINE_WIDTHS 1  // for lanes.hpp, which chooses among widths of registers by itself
#else
#define RECTILINE_MULTIVERSION
#endif

#if defined(__GNUC__) || defined(__clang__)
#define RECTILINE_INLINE inline __attribute__((always_inline))
#define RECTILINE_INLINE_LAMBDA __attribute__((always_inline))
#define RECTILINE_PREFETCH(address) __builtin_prefetch(address)
#elif defined(_MSC_VER)
#define RECTILINE_INLINE __forceinline
#define RECTILINE_INLINE_LAMBDA
#define RECTILINE_PREFETCH(address) ((void)0)
#else
#define RECTILINE_INLINE inline
#define RECTILINE_INLINE_LAMBDA
#define RECTILINE_PREFETCH(address) ((void)0)
#endif
