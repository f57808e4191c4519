# carve-re2: the static re2, and the libraries of Abseil that a re2 of 2023-06 or newer needs.
# re2's pkg-config file names them; its CMake package does as well, but may lead to a shared re2.
find_path(RE2_INCLUDE re2/re2.h REQUIRED)
find_library(RE2_A libre2.a)
add_library(carve-re2 INTERFACE)
target_include_directories(carve-re2 SYSTEM INTERFACE ${RE2_INCLUDE})

# carve_static_libraries(<variable> <name>...): the static library of each name, where there is one.
function(carve_static_libraries Result)
  set(Found "")
  foreach(Name ${ARGN})
    find_library(Static_${Name} lib${Name}.a HINTS ${RE2_LIBRARY_DIRS} ${RE2_STATIC_LIBRARY_DIRS})
    mark_as_advanced(Static_${Name})
    if(Static_${Name})
      list(APPEND Found ${Static_${Name}})
    endif()
  endforeach()
  set(${Result} ${Found} PARENT_SCOPE)
endfunction()

find_package(re2 CONFIG QUIET)
if(TARGET re2::re2)
  get_target_property(Re2Kind re2::re2 TYPE)
endif()
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(RE2 QUIET re2)
endif()

if(Re2Kind STREQUAL "STATIC_LIBRARY")
  set(Re2Link re2::re2)
elseif(NOT RE2_A)
  message(FATAL_ERROR "no static re2 (libre2.a) was found: install libre2-dev")
else()
  set(Re2Libraries "")
  if(RE2_STATIC_LIBRARIES)
    carve_static_libraries(Re2Libraries ${RE2_STATIC_LIBRARIES})
    list(REMOVE_ITEM Re2Libraries ${RE2_A})
  endif()
  # Abseil's libraries need each other in both directions.
  set(Re2Link ${RE2_A} -Wl,--start-group ${Re2Libraries} -Wl,--end-group Threads::Threads)
endif()
target_link_libraries(carve-re2 INTERFACE ${Re2Link})

# A libre2.a that lacks Abseil is found out here, and not by the last link.
set(CMAKE_REQUIRED_LIBRARIES ${Re2Link})
set(CMAKE_REQUIRED_INCLUDES ${RE2_INCLUDE})
include(CheckCXXSourceCompiles)
check_cxx_source_compiles("
  #include <re2/re2.h>
  int main() { return re2::RE2::PartialMatch(\"a\", re2::RE2(\"a\")) ? 0 : 1; }" CARVE_RE2_LINKS)
unset(CMAKE_REQUIRED_LIBRARIES)
unset(CMAKE_REQUIRED_INCLUDES)
if(NOT CARVE_RE2_LINKS)
  unset(CARVE_RE2_LINKS CACHE)
  message(FATAL_ERROR "re2 (${RE2_A}) does not link: a re2 of 2023-06 or newer needs Abseil's static "
    "libraries. Install them (libabsl-dev) and pkg-config, which reads their names from re2.pc")
endif()
