// How the stand-in defines the C library's entry points.
//
// Each function has a C++ name of its own and gets the symbol's name by an assembler label. A function named
// `stat` or `open` would have to repeat glibc's noexcept, nonnull and redirection attributes, which differ
// between releases. With nonnull, the compiler could drop the check for a null path, which programs may pass.
#pragma once

// Exports the function under the name `symbol`.
#define URNIC_ENTRY_POINT(symbol) __asm__(symbol) __attribute__((visibility("default")))

// Exports the entry point `target`, which the same file defines, under the name `symbol` too.
#define URNIC_ENTRY_ALIAS(symbol, target) \
  __asm__(symbol) __attribute__((visibility("default"), alias(target)))
