set(CARVE_WARNINGS -Wall -Wextra -Wpedantic -Werror)

# The two kinds of sanitizers exclude each other. ON is the kind that was there first.
if(CARVE_SANITIZE STREQUAL "thread")
  set(CARVE_SANITIZE_OPTIONS -O1 -fsanitize=thread)
elseif(CARVE_SANITIZE STREQUAL "address" OR CARVE_SANITIZE STREQUAL "ON")
  set(CARVE_SANITIZE_OPTIONS -O0 -fsanitize=address,undefined)
elseif(CARVE_SANITIZE)
  message(FATAL_ERROR "CARVE_SANITIZE is address, thread or OFF, not ${CARVE_SANITIZE}")
endif()

# Flags that every target of ours shares.
function(carve_target Name)
  target_include_directories(${Name} PRIVATE ${PROJECT_SOURCE_DIR}/lib)
  target_compile_options(${Name} PRIVATE ${CARVE_WARNINGS} -fvisibility=hidden
                         -ffunction-sections -fdata-sections)
  if(CARVE_SANITIZE)
    target_compile_options(${Name} PRIVATE ${CARVE_SANITIZE_OPTIONS} -fno-sanitize-recover=all -g1)
    target_link_options(${Name} PRIVATE ${CARVE_SANITIZE_OPTIONS})
  endif()
endfunction()

# carve_library(<Folder> DEPS <target>...): the folder's sources as one static library.
function(carve_library Name)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  file(GLOB Sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(carve${Name} STATIC ${Sources})
  carve_target(carve${Name})
  target_link_libraries(carve${Name} PUBLIC ${ARG_DEPS})
endfunction()

# carve_tool(<name> DEPS <target>...): a program that needs only the C library at run time.
function(carve_tool Name)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  file(GLOB Sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_executable(${Name} ${Sources})
  carve_target(${Name})
  target_link_libraries(${Name} PRIVATE ${ARG_DEPS})
  target_link_options(${Name} PRIVATE -static-libstdc++ -static-libgcc -Wl,--gc-sections)
  set_target_properties(${Name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  install(TARGETS ${Name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()
