# For CMake (CMAKE_TOOLCHAIN_FILE): g++ of this machine, with the C library, the C++ library and all other libraries of an
# older distribution, whose files are in URNIC_SYSROOT. What it makes runs there, and on everything newer.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES URNIC_SYSROOT)
set(CMAKE_SYSROOT ${URNIC_SYSROOT})
foreach(mode LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${mode} ONLY)
endforeach()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${URNIC_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${URNIC_SYSROOT}/usr/lib/x86_64-linux-gnu/pkgconfig:${URNIC_SYSROOT}/usr/share/pkgconfig)

# The compiler would take its own C++ library, which needs a newer C library.
file(GLOB runtime ${URNIC_SYSROOT}/usr/lib/gcc/x86_64-linux-gnu/*)
cmake_path(GET runtime FILENAME release)
set(headers ${URNIC_SYSROOT}/usr/include/c++/${release})
# g++ sees values without an initialisation in that library's std::function, where there are none.
set(CMAKE_CXX_FLAGS_INIT
  "-nostdinc++ -isystem ${headers} -isystem ${URNIC_SYSROOT}/usr/include/x86_64-linux-gnu/c++/${release} \
-Wno-maybe-uninitialized -Wno-uninitialized")
# -B: the code in front of main must be that C library's, too. Newer one would not call the constructors.
set(libraries ${URNIC_SYSROOT}/usr/lib/x86_64-linux-gnu)
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-B${libraries} -L${libraries} -L${URNIC_SYSROOT}/lib/x86_64-linux-gnu -L${runtime} \
-static-libstdc++ -static-libgcc")
endforeach()
