# The manual pages, made from Markdown by pandoc where there is one; otherwise they are left out. docs/configuration.md is
# a page, too, so that each setting is described once.
find_program(URNIC_PANDOC pandoc)
if(NOT URNIC_PANDOC)
  message(STATUS "No pandoc: there will be no manual pages")
  return()
endif()

set(manual_filters ${PROJECT_SOURCE_DIR}/packaging/man)
function(urnic_manual_page name section source)
  set(page ${CMAKE_BINARY_DIR}/man/${name}.${section})
  add_custom_command(OUTPUT ${page} VERBATIM
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/man
    COMMAND ${URNIC_PANDOC} --standalone --from markdown-smart --to man ${ARGN}
      --metadata title=${name} --metadata section=${section} --metadata "footer=urnic ${PROJECT_VERSION}"
      --lua-filter ${manual_filters}/definition_lists.lua --output ${page} ${PROJECT_SOURCE_DIR}/${source}
    DEPENDS ${source} ${manual_filters}/definition_lists.lua ${manual_filters}/name_section.lua)
  set_property(GLOBAL APPEND PROPERTY URNIC_MANUAL_PAGES ${page})
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section} COMPONENT documentation)
endfunction()

urnic_manual_page(urnic 1 docs/man/urnic.md)
urnic_manual_page(urnicd 8 docs/man/urnicd.md)
urnic_manual_page(urnic-configuration 5 docs/configuration.md --lua-filter ${manual_filters}/name_section.lua)
get_property(manual_pages GLOBAL PROPERTY URNIC_MANUAL_PAGES)
add_custom_target(manual ALL DEPENDS ${manual_pages})
add_dependencies(product manual)
