# Completion for bash, zsh and fish, made of what the built command says of itself (`urnic --describe`). Where it cannot run,
# because it is for another machine, URNIC_COMMANDS is a file with what another build of the same sources has said.
set(URNIC_COMMANDS "" CACHE FILEPATH "What 'urnic --describe' of another build has printed, where the command of this one cannot run")
set(URNIC_ZSHDIR ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING "Where zsh looks for completion")
find_program(URNIC_PYTHON python3 PATHS /usr/bin REQUIRED)
set(command_scripts ${PROJECT_SOURCE_DIR}/packaging/commands)

set(command_description ${URNIC_COMMANDS})
if(NOT command_description AND CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR
    AND NOT CMAKE_SYSTEM_PROCESSOR STREQUAL CMAKE_HOST_SYSTEM_PROCESSOR)
  message(STATUS "The command cannot run here and URNIC_COMMANDS is not set: there will be no completion and no pages of commands")
  return()
endif()
if(NOT command_description)
  set(command_description ${CMAKE_BINARY_DIR}/commands/description.json)
  # Written only if it is another one, so that a change of code alone renders no pages. By the file's name: of a program that is
  # made for an older distribution CMake does not know that it runs here.
  add_custom_command(OUTPUT ${command_description} VERBATIM
    COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:urnic> --describe > ${command_description}.new
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${command_description}.new ${command_description}
    DEPENDS urnic)
endif()

file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/commands)
function(urnic_completion shell file folder)
  set(made ${CMAKE_BINARY_DIR}/commands/${shell}/${file})
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/commands/${shell})
  add_custom_command(OUTPUT ${made} VERBATIM
    COMMAND ${URNIC_PYTHON} -B ${command_scripts}/${shell}_completion.py ${command_description} > ${made}
    DEPENDS ${command_description} ${command_scripts}/${shell}_completion.py ${command_scripts}/completion.${shell}
      ${command_scripts}/description.py)
  set_property(GLOBAL APPEND PROPERTY URNIC_COMPLETIONS ${made})
  install(FILES ${made} DESTINATION ${folder})
endfunction()

urnic_completion(bash urnic ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
urnic_completion(fish urnic.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
urnic_completion(zsh _urnic ${URNIC_ZSHDIR})
get_property(completions GLOBAL PROPERTY URNIC_COMPLETIONS)
add_custom_target(completion ALL DEPENDS ${completions})
add_dependencies(product completion)
