set(CARVE_WARNINGS -Wall -Wextra -Wpedantic $<$<BOOL:${CARVE_WERROR}>:-Werror>)
# These report the inside of std::string where a literal is joined to one (GCC's bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  list(APPEND CARVE_WARNINGS -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
       -Wno-stringop-overread)
endif()

# The two kinds of sanitizers exclude each other. ON is the kind that was there first.
if(CARVE_SANITIZE STREQUAL "thread")
  set(CARVE_SANITIZE_OPTIONS -O1 -fsanitize=thread)
elseif(CARVE_SANITIZE STREQUAL "address" OR CARVE_SANITIZE STREQUAL "ON")
  set(CARVE_SANITIZE_OPTIONS -O0 -fsanitize=address,undefined)
elseif(CARVE_SANITIZE)
  message(FATAL_ERROR "CARVE_SANITIZE is address, thread or OFF, not ${CARVE_SANITIZE}")
endif()

# Most of a compile is headers. These are compiled once, for all sources that include LLVM's. What is
# compiled so need not include all that it uses; with OFF, a missing include is an error.
option(CARVE_PRECOMPILE "Precompile the headers that most sources include" ON)
set(CARVE_COMMON_HEADERS <llvm/ADT/STLExtras.h> <llvm/ADT/StringExtras.h> <llvm/ADT/StringMap.h>
  <llvm/Support/Error.h> <llvm/Support/FileSystem.h> <llvm/Support/FormatVariadic.h>
  <llvm/Support/JSON.h> <llvm/Support/Path.h> <llvm/Support/raw_ostream.h> <map> <optional> <set>)
# What the sanitizers add makes programs of 200 MB, for which the default linker takes 15 s.
if(CARVE_SANITIZE)
  find_program(CARVE_GOLD ld.gold)
endif()

# Flags that every target of ours shares.
function(carve_target Name)
  target_include_directories(${Name} PRIVATE ${PROJECT_SOURCE_DIR}/lib)
  target_compile_options(${Name} PRIVATE ${CARVE_WARNINGS} -fvisibility=hidden
                         -ffunction-sections -fdata-sections)
  if(CARVE_SANITIZE)
    target_compile_options(${Name} PRIVATE ${CARVE_SANITIZE_OPTIONS} -fno-sanitize-recover=all -g1)
    target_link_options(${Name} PRIVATE ${CARVE_SANITIZE_OPTIONS} $<$<BOOL:${CARVE_GOLD}>:-fuse-ld=gold>)
  endif()
endfunction()

# carve_library(<Room> [OBJECT] DEPS <target>...): the folder's sources as one static library, or as
# one of objects. A room below another has both names: that of lib/Tune/Job is TuneJob.
function(carve_library Name)
  cmake_parse_arguments(ARG "OBJECT" "" "DEPS" ${ARGN})
  file(GLOB Sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(NOT Sources)
    add_library(carve${Name} INTERFACE)
    target_link_libraries(carve${Name} INTERFACE ${ARG_DEPS})
    return()
  endif()
  if(ARG_OBJECT)
    add_library(carve${Name} OBJECT ${Sources})
  else()
    add_library(carve${Name} STATIC ${Sources})
  endif()
  carve_target(carve${Name})
  target_link_libraries(carve${Name} PUBLIC ${ARG_DEPS})
  # The probe knows nothing of LLVM.
  if(CARVE_PRECOMPILE AND NOT Name MATCHES "^(Probe|Protocol)")
    target_precompile_headers(carve${Name} REUSE_FROM carve-common-headers)
  endif()
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
