# The manual pages, made from Markdown by pandoc where there is one; otherwise they are left out. docs/configuration.md is
# a page, too, so that each setting is described once.
find_program(URNIC_PANDOC pandoc)
if(NOT URNIC_PANDOC)
  message(STATUS "No pandoc: there will be no manual pages")
  return()
endif()

set(manual_filters ${PROJECT_SOURCE_DIR}/packaging/man)
set(make_manual_page ${URNIC_PANDOC} --standalone --from markdown-smart --to man
  --metadata "footer=urnic ${PROJECT_VERSION}" --lua-filter ${manual_filters}/definition_lists.lua)
function(urnic_manual_page name section source)
  set(page ${CMAKE_BINARY_DIR}/man/${name}.${section})
  add_custom_command(OUTPUT ${page} VERBATIM
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/man
    COMMAND ${make_manual_page} ${ARGN} --metadata title=${name} --metadata section=${section} --output ${page}
      ${PROJECT_SOURCE_DIR}/${source}
    DEPENDS ${source} ${manual_filters}/definition_lists.lua ${manual_filters}/name_section.lua)
  set_property(GLOBAL APPEND PROPERTY URNIC_MANUAL_PAGES ${page})
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section} COMPONENT documentation)
endfunction()

urnic_manual_page(urnicd 8 docs/man/urnicd.md)
urnic_manual_page(urnic-configuration 5 docs/configuration.md --lua-filter ${manual_filters}/name_section.lua)

# A page for each command, whose options are as the command itself describes them (command_files.cmake).
if(command_description)
  file(GLOB prose CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/urnic*.md)
  set(made ${CMAKE_BINARY_DIR}/man/commands.made)
  add_custom_command(OUTPUT ${made} VERBATIM
    COMMAND ${URNIC_PYTHON} -B ${command_scripts}/manual_pages.py ${command_description} ${PROJECT_SOURCE_DIR}/docs/man
      ${CMAKE_BINARY_DIR}/man/commands ${make_manual_page}
    COMMAND ${CMAKE_COMMAND} -E touch ${made}
    DEPENDS ${command_description} ${prose} ${command_scripts}/manual_pages.py ${command_scripts}/description.py
      ${manual_filters}/definition_lists.lua)
  set_property(GLOBAL APPEND PROPERTY URNIC_MANUAL_PAGES ${made})
  install(DIRECTORY ${CMAKE_BINARY_DIR}/man/commands/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT documentation)
endif()
get_property(manual_pages GLOBAL PROPERTY URNIC_MANUAL_PAGES)
add_custom_target(manual ALL DEPENDS ${manual_pages})
add_dependencies(product manual)
