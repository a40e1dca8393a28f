# How programs and libraries are installed. Components: runtime, web, systemd, wireshark, lessons, documentation, and on request
# debug-information; the tests have apps and device_fuzz.

# Installs a program or a shared library in a folder relative to the prefix. With URNIC_STRIP_INSTALLED it has no debug
# information and no symbols that only debuggers read: those are in a file in .debug beside it, where gdb looks, which
# `cmake --install BUILD --component debug-information` installs. What is in the build tree keeps its own. A third argument
# is the component, instead of runtime. With URNIC_BRINGS_LIBRARIES a program looks for its libraries where the package has
# them.
function(urnic_install target folder)
  set(component runtime)
  if(ARGC GREATER 2)
    set(component ${ARGV2})
  endif()
  install(TARGETS ${target} RUNTIME DESTINATION ${folder} COMPONENT ${component}
    LIBRARY DESTINATION ${folder} COMPONENT ${component})
  get_target_property(kind ${target} TYPE)
  if(URNIC_BRINGS_LIBRARIES AND kind STREQUAL "EXECUTABLE")
    file(RELATIVE_PATH libraries /${folder} /${URNIC_PLUGINDIR}/libraries)
    # DT_RPATH, which the libraries' own libraries are looked for in, too.
    target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries}")
  endif()
  if(NOT URNIC_STRIP_INSTALLED OR NOT URNIC_HARDENED)
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
      COMMAND \"${CMAKE_OBJCOPY}\" \"--add-gnu-debuglink=${debug_file}\" \"\${installed}\")" COMPONENT ${component})
  install(FILES ${debug_file} DESTINATION ${folder}/.debug COMPONENT debug-information EXCLUDE_FROM_ALL)
endfunction()

# Installs a unit of a user's service. It names the program by its whole path, which is known when it is installed:
# `cmake --install BUILD --prefix DIR` takes another prefix than the build's.
function(urnic_install_unit template)
  cmake_path(GET template STEM LAST_ONLY name)
  install(CODE "
    cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX NORMALIZE OUTPUT_VARIABLE prefix)
    cmake_path(APPEND prefix \"${URNIC_LIBEXECDIR}\" OUTPUT_VARIABLE URNIC_PROGRAMS)
    set(installed \"\${prefix}/lib/systemd/user/${name}\")
    message(STATUS \"Installing: \$ENV{DESTDIR}\${installed}\")
    configure_file(\"${PROJECT_SOURCE_DIR}/${template}\" \"\$ENV{DESTDIR}\${installed}\" @ONLY
      FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
    list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${installed}\")" COMPONENT systemd)
endfunction()
