# The libraries that can be headers only, as URNIC_HEADER_ONLY has them: URNIC_FMT, URNIC_SPDLOG and URNIC_TOML name what
# to link.
if(NOT URNIC_HEADER_ONLY)
  set(URNIC_FMT fmt::fmt)
  set(URNIC_SPDLOG spdlog::spdlog)
  set(URNIC_TOML tomlplusplus::tomlplusplus)
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
