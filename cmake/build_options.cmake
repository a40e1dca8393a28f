# `urnic_build` is what all of urnic's own code is compiled and linked with: the include folder, warnings, sanitizers,
# hardening, link-time optimisation. Libraries that link no other library of urnic link it publicly, so that whatever
# links them has it too. Programs that must be ordinary ones (tests/unit/kernel) do without it.
#
# Properties of a target that change it:
#   URNIC_DATA_PATH      its code runs for each packet (urnic_on_data_path)
#   URNIC_AS_A_WHOLE     a program that is optimised as a whole when it is linked (urnic_optimise_as_a_whole)
#   URNIC_NOT_SANITIZED  has no sanitizer in any build
#   URNIC_NOT_OPTIMIZED  compiled as fast as can be (urnic_compile_fast)
include(${CMAKE_CURRENT_LIST_DIR}/hardening.cmake)

add_library(urnic_build INTERFACE)
target_include_directories(urnic_build INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_features(urnic_build INTERFACE cxx_std_20)
target_compile_options(urnic_build INTERFACE
  # Errors in the presets only (CMAKE_COMPILE_WARNING_AS_ERROR): other compilers warn of other things.
  -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
  # Nobody replaces a function of ours by another library's. Unless it is told so, g++ inlines no function of
  # position-independent code that another file can call, not even within its own file.
  -fno-semantic-interposition)

set(on_data_path $<BOOL:$<TARGET_PROPERTY:URNIC_DATA_PATH>>)
set(as_a_whole $<BOOL:$<TARGET_PROPERTY:URNIC_AS_A_WHOLE>>)
set(optimized $<NOT:$<BOOL:$<TARGET_PROPERTY:URNIC_NOT_OPTIMIZED>>>)
set(sanitized $<NOT:$<BOOL:$<TARGET_PROPERTY:URNIC_NOT_SANITIZED>>>)

if(URNIC_SANITIZE)
  target_compile_options(urnic_build INTERFACE
    "$<${sanitized}:-fsanitize=${URNIC_SANITIZE};-fno-sanitize-recover=all;-fno-omit-frame-pointer>"
    # GCC takes a sanitizer's own checks for reads of members that may not be there; a real one fails in the run.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(urnic_build INTERFACE "$<${sanitized}:-fsanitize=${URNIC_SANITIZE}>")
  if(URNIC_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC says that it does not follow fences. Ours order a store before a load (going to sleep, arming a CQ);
    # no data is handed over by them.
    target_compile_options(urnic_build INTERFACE -Wno-tsan)
  endif()
endif()
if(URNIC_FUZZ)
  target_compile_options(urnic_build INTERFACE $<${sanitized}:-fsanitize=fuzzer-no-link>)
endif()

if(URNIC_HARDENED)
  # Functions of the data path with arrays of bytes are guarded; those with other arrays, or with variables whose address
  # is taken, are not: a guard in each of them costs the device process 3.1 % to 4.2 % of the instructions (tests/perf),
  # this 0.3 % to 0.4 %.
  target_compile_options(urnic_build INTERFACE
    "$<${optimized}:${URNIC_FORTIFYING_OPTIONS}>" ${URNIC_HARDENING_OPTIONS}
    $<IF:${on_data_path},-fstack-protector,-fstack-protector-strong>)
  target_link_options(urnic_build INTERFACE ${URNIC_HARDENING_LINK_OPTIONS})
endif()

# The data path is small functions in many files, so the device process is optimised as a whole when it is linked. The
# data path's object files hold ordinary code, too: everything else links as fast as ever.
if(URNIC_WHOLE_PROGRAM AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT URNIC_SANITIZE)
  set(URNIC_OPTIMISES_AS_A_WHOLE ON)
  target_compile_options(urnic_build INTERFACE "$<${on_data_path}:-flto=auto;-ffat-lto-objects>")
  target_link_options(urnic_build INTERFACE $<IF:${as_a_whole},-flto=auto,-fno-lto>)
else()
  set(URNIC_OPTIMISES_AS_A_WHOLE OFF)
endif()

# With names of sources, only those: their functions are guarded as the data path's are. Otherwise all of the target, which
# is optimised with the rest of the device process, too.
function(urnic_on_data_path target)
  if(NOT ARGN)
    set_target_properties(${target} PROPERTIES URNIC_DATA_PATH ON)
  elseif(URNIC_HARDENED)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -fstack-protector)
  endif()
endfunction()

# For tests, which run for a moment. With -O1 three large files took a third longer to compile, and one of them three times
# as long with a sanitizer.
function(urnic_compile_fast target)
  set_target_properties(${target} PROPERTIES URNIC_NOT_OPTIMIZED ON)
  target_compile_options(${target} PRIVATE -O0)
endfunction()

# The options of what is in no hurry: all that runs at the start, or for people.
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(URNIC_UNHURRIED_OPTIONS)
elseif(URNIC_SANITIZE)
  set(URNIC_UNHURRIED_OPTIONS -O0)
else()
  set(URNIC_UNHURRIED_OPTIONS -O1)
endif()

function(urnic_optimise_as_a_whole target)
  set_target_properties(${target} PROPERTIES URNIC_AS_A_WHOLE ON)
endfunction()
