# What compiler and linker do so that an error in the code is harder to use (docs/security.md), and how programs
# and libraries are installed. tests/security/test_hardening.py looks at the installed files.
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

# Compiles with `flag` if the compiler knows it, which is kept in the cache variable `result`.
function(urnic_compile_if_known flag result)
  check_cxx_compiler_flag(${flag} ${result})
  if(${result})
    add_compile_options(${flag})
  endif()
endfunction()

if(URNIC_HARDENED)
  # A write past the end of an array on the stack is noticed before the function returns. The data path has the
  # weaker form (urnic_on_data_path).
  add_compile_options(-fstack-protector-strong)

  # Calls of the C library that write more than the compiler knows to fit end the program. It needs an optimising
  # compiler, and some distributions' compilers have it set to another value.
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  endif()

  # Control-flow enforcement by the processor.
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    # Returns alone (shadow stack). Landing pads for indirect branches cost the data path 1.3 % to 1.5 % of its
    # instructions (tests/perf) and protect nothing: Linux has no indirect branch tracking for programs, and a file
    # whose start code lacks them, as Debian's crt1.o and crti.o do, is not marked as having them.
    urnic_compile_if_known(-fcf-protection=return URNIC_KNOWS_CF_PROTECTION)
    # Those two lack the mark for the shadow stack, too, without doing anything that it forbids. Without this, the
    # linker marks only what is made of marked objects alone, and the loader would leave the shadow stack off.
    check_linker_flag(CXX -Wl,-z,shstk URNIC_KNOWS_SHADOW_STACK)
    if(URNIC_KNOWS_SHADOW_STACK)
      add_link_options(-Wl,-z,shstk)
    endif()
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    urnic_compile_if_known(-mbranch-protection=standard URNIC_KNOWS_BRANCH_PROTECTION)
  endif()

  # Programs have no fixed address (all code is position-independent anyway).
  check_pie_supported()

  # All addresses of functions are resolved at the start, and cannot be written from then on. No stack is executable,
  # whatever an object file asks for.
  add_link_options(-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
endif()

# Called in the folder of a library whose code runs for each packet, or with the names of such files of this folder.
# Functions with arrays of bytes are guarded there; those with other arrays, or with variables whose address is taken, are
# not: a guard in each of them costs the device process 3.1 % to 4.2 % of the instructions (tests/perf), this 0.3 % to
# 0.4 %.
function(urnic_on_data_path)
  if(NOT URNIC_HARDENED)
    return()
  endif()
  set(weaker -fstack-protector)  # it comes behind -fstack-protector-strong, and takes its place
  if(ARGN)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS ${weaker})
  else()
    add_compile_options(${weaker})
  endif()
endfunction()

# Installs a program or a shared library in a folder relative to the prefix, without debug information and symbols that
# only debuggers read. Those are in a file in .debug beside it, where gdb looks; it is installed by
# `cmake --install BUILD --component debug-information` only. What is in the build tree has its debug information itself.
function(urnic_install target folder)
  install(TARGETS ${target} RUNTIME DESTINATION ${folder} LIBRARY DESTINATION ${folder})
  if(NOT URNIC_HARDENED)
    return()
  endif()
  set(debug_file ${CMAKE_BINARY_DIR}/debug-information/$<TARGET_FILE_NAME:${target}>.debug)
  add_custom_command(TARGET ${target} POST_BUILD VERBATIM
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/debug-information
    COMMAND ${CMAKE_OBJCOPY} --only-keep-debug $<TARGET_FILE:${target}> ${debug_file})
  # In two steps: a file that was installed before, and is up to date, has a link already.
  install(CODE "
    set(installed \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${folder}/$<TARGET_FILE_NAME:${target}>\")
    execute_process(COMMAND_ERROR_IS_FATAL ANY
      COMMAND \"${CMAKE_OBJCOPY}\" --strip-unneeded --remove-section=.gnu_debuglink \"\${installed}\")
    execute_process(COMMAND_ERROR_IS_FATAL ANY
      COMMAND \"${CMAKE_OBJCOPY}\" \"--add-gnu-debuglink=${debug_file}\" \"\${installed}\")")
  install(FILES ${debug_file} DESTINATION ${folder}/.debug COMPONENT debug-information EXCLUDE_FROM_ALL)
endfunction()
