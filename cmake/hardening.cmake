# What compiler and linker do so that an error in the code is harder to use (docs/security.md).
# tests/security/test_hardening.py looks at the installed files. Sets URNIC_HARDENED, URNIC_HARDENING_OPTIONS,
# URNIC_FORTIFYING_OPTIONS and URNIC_HARDENING_LINK_OPTIONS.
#
# Builds with a sanitizer have none of it: sanitizers find more, fortified calls would hide what they look for, and
# their reports need the debug information in place.
include(CheckCXXCompilerFlag)
include(CheckLinkerFlag)
include(CheckPIESupported)

if(URNIC_SANITIZE OR URNIC_FUZZ)
  set(URNIC_HARDENED OFF)
else()
  set(URNIC_HARDENED ON)
endif()
set(URNIC_HARDENING_OPTIONS)
set(URNIC_FORTIFYING_OPTIONS)
set(URNIC_HARDENING_LINK_OPTIONS)

# Adds `flag` if the compiler knows it, which is kept in the cache variable `result`.
function(urnic_harden_if_known flag result)
  check_cxx_compiler_flag(${flag} ${result})
  if(${result})
    set(URNIC_HARDENING_OPTIONS ${URNIC_HARDENING_OPTIONS} ${flag} PARENT_SCOPE)
  endif()
endfunction()

if(URNIC_HARDENED)
  # Calls of the C library that write more than the compiler knows to fit end the program. It needs an optimising
  # compiler, and some distributions' compilers have it set to another value.
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    list(APPEND URNIC_FORTIFYING_OPTIONS -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  endif()

  # Control-flow enforcement by the processor.
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    # Returns alone (shadow stack). Landing pads for indirect branches cost the data path 1.3 % to 1.5 % of its
    # instructions (tests/perf) and protect nothing: Linux has no indirect branch tracking for programs, and a file
    # whose start code lacks them, as Debian's crt1.o and crti.o do, is not marked as having them.
    urnic_harden_if_known(-fcf-protection=return URNIC_KNOWS_CF_PROTECTION)
    # Those two lack the mark for the shadow stack, too, without doing anything that it forbids. Without this, the
    # linker marks only what is made of marked objects alone, and the loader would leave the shadow stack off.
    check_linker_flag(CXX -Wl,-z,shstk URNIC_KNOWS_SHADOW_STACK)
    if(URNIC_KNOWS_SHADOW_STACK)
      list(APPEND URNIC_HARDENING_LINK_OPTIONS -Wl,-z,shstk)
    endif()
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    urnic_harden_if_known(-mbranch-protection=standard URNIC_KNOWS_BRANCH_PROTECTION)
  endif()

  # Programs have no fixed address (all code is position-independent anyway).
  check_pie_supported()

  # All addresses of functions are resolved at the start, and cannot be written from then on. No stack is executable,
  # whatever an object file asks for.
  list(APPEND URNIC_HARDENING_LINK_OPTIONS -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
endif()
