# SPDX-License-Identifier: BSD-2-Clause
# Programs of one's own with CMake, outside this tree (docs/write-a-program.md). To be included before project(), since
# it chooses the compilers; BOARD is set. Then:
#
#   cobnut_payload(NAME SOURCES...)   a program that root starts in a space of its own
#   cobnut_server(NAME SOURCES...)    a root server
#
# Either makes build/bin/NAME, by the target program-NAME, and the target run-NAME, which boots it; `run` boots all.
# COBNUT_ARGUMENTS is what it finds on its command line then.
set(COBNUT_BOARD ${BOARD})
set(cobnut_root ${CMAKE_CURRENT_LIST_DIR}/..)
include(${cobnut_root}/cmake/boards.cmake)
if(NOT BOARD IN_LIST COBNUT_BOARDS)
  message(FATAL_ERROR "unknown BOARD '${BOARD}' (known: ${COBNUT_BOARDS})")
endif()
if(COBNUT_ARM_CORE)
  set(CMAKE_TOOLCHAIN_FILE ${cobnut_root}/cmake/arm.cmake)
else()
  set(CMAKE_TOOLCHAIN_FILE ${cobnut_root}/cmake/ia32.cmake)
endif()
set(COBNUT_ARGUMENTS "" CACHE STRING "what the program finds on its command line")

function(cobnut_link_program name base kind)
  include(${cobnut_root}/user/flags.cmake)
  set(built ${cobnut_root}/build/${BOARD}/user)
  set(library ${built}/libcobnut_user.a)
  if(NOT TARGET cobnut_library)
    add_custom_command(OUTPUT ${library} COMMAND ${cobnut_root}/cobnut build --board ${BOARD})
    add_custom_target(cobnut_library DEPENDS ${library})
    add_custom_target(run)
  endif()
  add_executable(program-${name} ${ARGN})
  add_dependencies(program-${name} cobnut_library)
  target_link_libraries(program-${name} PRIVATE
    cobnut_user_flags ${built}/start-${kind}.o ${library} ${processor_libraries})
  target_compile_definitions(program-${name} PRIVATE COBNUT_PROGRAM="${name}")
  target_link_options(program-${name} PRIVATE -Wl,--defsym=COBNUT_BASE=${${base}})
  set_target_properties(program-${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin
    LINK_DEPENDS "${cobnut_root}/user/program.ld;${library}")
  if(kind STREQUAL "server")
    set(option --root)
  endif()
  add_custom_target(run-${name} USES_TERMINAL VERBATIM DEPENDS program-${name}
    WORKING_DIRECTORY ${CMAKE_BINARY_DIR}/bin
    COMMAND ${cobnut_root}/cobnut boot --board ${BOARD} ${option} "./${name} ${COBNUT_ARGUMENTS}")
  add_dependencies(run run-${name})
endfunction()

function(cobnut_payload name)
  cobnut_link_program(${name} payload_base payload ${ARGN})
endfunction()

function(cobnut_server name)
  cobnut_link_program(${name} server_base server ${ARGN})
endfunction()
