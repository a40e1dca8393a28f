// glibc 2.34 gave these functions new versions when they moved to libc.so; the old versions are the same
// functions. Files that call them include this, so that the libraries which programs load can be built on a
// newer distribution and loaded on an older one (tested with glibc 2.31). Sanitizers replace the newest
// versions only.
#pragma once

#if defined(URNIC_OLD_SYMBOL_VERSIONS) && defined(__x86_64__)
__asm__(".symver dlclose, dlclose@GLIBC_2.2.5");
__asm__(".symver dlopen, dlopen@GLIBC_2.2.5");
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
__asm__(".symver pthread_attr_setstacksize, pthread_attr_setstacksize@GLIBC_2.2.5");
__asm__(".symver pthread_create, pthread_create@GLIBC_2.2.5");
__asm__(".symver pthread_once, pthread_once@GLIBC_2.2.5");
__asm__(".symver pthread_setname_np, pthread_setname_np@GLIBC_2.12");
__asm__(".symver pthread_sigmask, pthread_sigmask@GLIBC_2.2.5");
// What pthread_cleanup_push and pthread_cleanup_pop call.
__asm__(".symver __pthread_register_cancel, __pthread_register_cancel@GLIBC_2.3.3");
__asm__(".symver __pthread_unregister_cancel, __pthread_unregister_cancel@GLIBC_2.3.3");
__asm__(".symver __pthread_unwind_next, __pthread_unwind_next@GLIBC_2.3.3");
#endif
