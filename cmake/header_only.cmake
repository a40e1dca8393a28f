# The libraries that can be headers only, as URNIC_HEADER_ONLY has them: URNIC_FMT, URNIC_SPDLOG, URNIC_TOML and URNIC_HTTPLIB
# name what to link.
if(NOT URNIC_HEADER_ONLY)
  set(URNIC_FMT fmt::fmt)
  set(URNIC_SPDLOG spdlog::spdlog)
  set(URNIC_TOML tomlplusplus::tomlplusplus)
  if(URNIC_WEB)
    pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
    set(URNIC_HTTPLIB PkgConfig::HTTPLIB)
    # With OpenSSL the header itself calls libcrypto in newer releases (Debian 13's); pkg-config names only the library's own.
    if("-DCPPHTTPLIB_OPENSSL_SUPPORT" IN_LIST HTTPLIB_CFLAGS)
      find_package(OpenSSL REQUIRED COMPONENTS Crypto)
      list(APPEND URNIC_HTTPLIB OpenSSL::Crypto)
    endif()
  endif()
  return()
endif()

set(URNIC_FMT fmt::fmt-header-only)
set(URNIC_SPDLOG spdlog::spdlog_header_only)
# spdlog's own target names fmt's library.
set_target_properties(spdlog::spdlog_header_only PROPERTIES INTERFACE_LINK_LIBRARIES "Threads::Threads;fmt::fmt-header-only")
# toml++'s target is the library, where a distribution has one.
set(URNIC_TOML urnic_toml)
add_library(urnic_toml INTERFACE)
target_include_directories(urnic_toml SYSTEM INTERFACE
  $<TARGET_PROPERTY:tomlplusplus::tomlplusplus,INTERFACE_INCLUDE_DIRECTORIES>)
if(URNIC_WEB)
  # pkg-config would name the library, and OpenSSL's: the page is not encrypted.
  find_path(URNIC_HTTPLIB_FOLDER httplib.h REQUIRED)
  set(URNIC_HTTPLIB urnic_httplib)
  add_library(urnic_httplib INTERFACE)
  target_include_directories(urnic_httplib SYSTEM INTERFACE ${URNIC_HTTPLIB_FOLDER})
endif()
