// How the stand-in defines the C library's entry points.
//
// The functions have C++ names of their own and get the symbol's name by an assembler label. Defining `stat`
// or `open` as such would have to repeat glibc's noexcept, nonnull and redirection attributes, which differ
// between releases, and nonnull would let the compiler drop the checks for a null path that a program may
// well pass.
#pragma once

// The function is what the dynamic linker finds under `symbol`.
#define URNIC_ENTRY_POINT(symbol) __asm__(symbol) __attribute__((visibility("default")))

// The function is another name of the entry point `target`, which the same file defines.
#define URNIC_ENTRY_ALIAS(symbol, target) \
  __asm__(symbol) __attribute__((visibility("default"), alias(target)))
