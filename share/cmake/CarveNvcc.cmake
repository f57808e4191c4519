# Functions for projects that are tuned by carve-nvcc. Included by find_package(CarveNvcc).
#
# carve_add_tune_target(
#   [TARGET <name>]                        default: carve-tune
#   COMMAND <program> [<argument>...]      the workload; an executable target, defined before, or a
#                                          program
#   | TEST <test>...                       or tests of this project, by name, run by ctest
#   [DEPENDS <target>...]                  built before; a COMMAND's target is anyway, a TEST's not
#   [WORKING_DIRECTORY <directory>]        for a COMMAND; default: CMAKE_CURRENT_BINARY_DIR
#   [PROFILE <file>]                       decisions go there too; relative to the source directory
#   [OPTIONS <option>...])                 for `carve tune`, such as --output=result.bin
#
# Adds a target that times the kernels of the workload on the GPU and remembers what was fastest. It
# is not a part of `all`. The next build puts the decisions in:
#
#   cmake --build b && cmake --build b --target carve-tune && cmake --build b
#
# carve_target_profile(<target> <file>)
#
# Compiles the CUDA sources of a target with the decisions of a profile, and anew when the profile
# changes, appears or disappears. Does nothing if the compiler is not carve-nvcc, so that a project
# can be built by plain nvcc too, and does nothing as long as there is no such file.
#
# find_package(CarveNvcc) also prepares CMAKE_CUDA_COMPILER_LAUNCHER, for the targets made after it:
# it tells ccache how to ask carve-nvcc what an object depends on, unless the environment or the
# launcher sets CCACHE_COMPILERCHECK. Without that ccache is right as well, but slower.
cmake_policy(VERSION 3.18...3.31)

# _carve_is_carve_nvcc(<variable> <compiler>): whether a compiler is carve-nvcc, under any name.
function(_carve_is_carve_nvcc Result Compiler)
  get_property(Known GLOBAL PROPERTY "_CARVE_IS_${Compiler}" SET)
  if(NOT Known)
    # nvcc itself reports the option as an error.
    execute_process(COMMAND "${Compiler}" --carve-version
                    RESULT_VARIABLE Status OUTPUT_VARIABLE Output ERROR_QUIET)
    set(Is FALSE)
    if(Status STREQUAL "0" AND Output MATCHES "^carve-nvcc ")
      set(Is TRUE)
    endif()
    set_property(GLOBAL PROPERTY "_CARVE_IS_${Compiler}" ${Is})
  endif()
  get_property(Is GLOBAL PROPERTY "_CARVE_IS_${Compiler}")
  set(${Result} ${Is} PARENT_SCOPE)
endfunction()

# The compiler of the project, in a variable: CMake's own, or that of the old FindCUDA.
macro(_carve_compiler Result)
  set(${Result} "${CMAKE_CUDA_COMPILER}")
  if(NOT ${Result} AND CUDA_NVCC_EXECUTABLE)
    set(${Result} "${CUDA_NVCC_EXECUTABLE}")
  endif()
endmacro()

# Warns once if a cache runs nvcc's steps by itself, so that nothing is ever tuned.
function(_carve_check_launcher)
  get_property(Done GLOBAL PROPERTY _CARVE_LAUNCHER_CHECKED)
  if(NOT Done AND CMAKE_CUDA_COMPILER_LAUNCHER MATCHES "sccache")
    set_property(GLOBAL PROPERTY _CARVE_LAUNCHER_CHECKED TRUE)
    message(WARNING "CarveNvcc: CMAKE_CUDA_COMPILER_LAUNCHER is '${CMAKE_CUDA_COMPILER_LAUNCHER}': "
                    "sccache runs nvcc's steps by itself, so that no kernel is tuned. Use ccache, "
                    "or no cache")
  endif()
endfunction()

# Makes ccache ask carve-nvcc what objects depend on.
macro(_carve_prepare_ccache)
  _carve_compiler(_CarveNvcc_Compiler)
  list(GET CMAKE_CUDA_COMPILER_LAUNCHER -1 _CarveNvcc_Cache)
  get_filename_component(_CarveNvcc_Cache "${_CarveNvcc_Cache}" NAME)
  if(_CarveNvcc_Compiler AND _CarveNvcc_Cache STREQUAL "ccache" AND NOT DEFINED ENV{CCACHE_COMPILERCHECK}
     AND NOT CMAKE_CUDA_COMPILER_LAUNCHER MATCHES "CCACHE_COMPILERCHECK")
    _carve_is_carve_nvcc(_CarveNvcc_Is "${_CarveNvcc_Compiler}")
    if(_CarveNvcc_Is)
      list(PREPEND CMAKE_CUDA_COMPILER_LAUNCHER
           env "CCACHE_COMPILERCHECK=%compiler% --carve-cache-key")
    endif()
    unset(_CarveNvcc_Is)
  endif()
  unset(_CarveNvcc_Compiler)
  unset(_CarveNvcc_Cache)
endmacro()

# Warns once of everything that would make a tuning useless.
function(_carve_check_project Name)
  get_property(Done GLOBAL PROPERTY _CARVE_PROJECT_CHECKED)
  if(Done)
    return()
  endif()
  set_property(GLOBAL PROPERTY _CARVE_PROJECT_CHECKED TRUE)
  get_target_property(CarveNvcc CarveNvcc::carve-nvcc IMPORTED_LOCATION)
  _carve_compiler(Compiler)
  set(Is TRUE)
  if(Compiler)
    _carve_is_carve_nvcc(Is "${Compiler}")
  endif()
  if(NOT Is)
    message(WARNING "CarveNvcc: CUDA sources are compiled by ${Compiler}, which is not carve-nvcc: "
                    "'${Name}' will know none of their kernels. Configure a new build directory "
                    "with -DCMAKE_CUDA_COMPILER=${CarveNvcc}")
  endif()
  _carve_check_launcher()
endfunction()

# The command that runs tests by name. It prints their output, which carve compares.
function(_carve_test_command Result)
  set(Names "")
  foreach(Test ${ARGN})
    string(REGEX REPLACE "([][+.*()^$?|\\\\])" "\\\\\\1" Test "${Test}")
    list(APPEND Names "${Test}")
  endforeach()
  list(JOIN Names "|" Names)
  set(${Result} "${CMAKE_CTEST_COMMAND}" -V --no-tests=error -R "^(${Names})$"
      "$<$<BOOL:$<CONFIG>>:--build-config$<SEMICOLON>$<CONFIG>>" PARENT_SCOPE)
endfunction()

function(carve_add_tune_target)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "TARGET;WORKING_DIRECTORY;PROFILE"
                        "COMMAND;TEST;DEPENDS;OPTIONS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "carve_add_tune_target: unknown '${ARG_UNPARSED_ARGUMENTS}'")
  endif()
  if((ARG_COMMAND AND ARG_TEST) OR NOT (ARG_COMMAND OR ARG_TEST))
    message(FATAL_ERROR "carve_add_tune_target: expected either COMMAND or TEST")
  endif()
  if(ARG_TEST AND ARG_WORKING_DIRECTORY)
    message(FATAL_ERROR "carve_add_tune_target: a TEST has a WORKING_DIRECTORY of its own")
  endif()
  if(NOT ARG_TARGET)
    set(ARG_TARGET carve-tune)
  endif()
  _carve_check_project(${ARG_TARGET})

  set(Workload ${ARG_COMMAND})
  set(Directory "${CMAKE_CURRENT_BINARY_DIR}")
  if(ARG_WORKING_DIRECTORY)
    get_filename_component(Directory "${ARG_WORKING_DIRECTORY}" ABSOLUTE
                           BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  endif()
  if(ARG_TEST)
    _carve_test_command(Workload ${ARG_TEST})
    set(Directory "${CMAKE_BINARY_DIR}")
  endif()
  list(GET Workload 0 Program)
  if(TARGET "${Program}")
    list(REMOVE_AT Workload 0)
    list(INSERT Workload 0 "$<TARGET_FILE:${Program}>")
    list(APPEND ARG_DEPENDS "${Program}")
  endif()
  set(Options ${ARG_OPTIONS})
  if(ARG_PROFILE)
    get_filename_component(Profile "${ARG_PROFILE}" ABSOLUTE)
    list(APPEND Options "--profile=${Profile}")
  endif()
  # This command works with every generator.
  set(Next "cmake --build ${CMAKE_BINARY_DIR}$<$<BOOL:${CMAKE_CONFIGURATION_TYPES}>: --config $<CONFIG>>")
  add_custom_target(${ARG_TARGET}
    COMMAND CarveNvcc::carve tune ${Options} -- ${Workload}
    COMMAND "${CMAKE_COMMAND}" -E echo "The decisions are kept. Build again to put them in: ${Next}"
    WORKING_DIRECTORY "${Directory}"
    COMMENT "Tuning kernels"
    COMMAND_EXPAND_LISTS USES_TERMINAL VERBATIM)
  if(ARG_DEPENDS)
    add_dependencies(${ARG_TARGET} ${ARG_DEPENDS})
  endif()
endfunction()

function(carve_target_profile Target File)
  get_filename_component(File "${File}" ABSOLUTE)
  _carve_compiler(Compiler)
  set(Is FALSE)
  if(Compiler)
    _carve_is_carve_nvcc(Is "${Compiler}")
  endif()
  if(NOT Is)
    return()
  endif()
  _carve_check_launcher()
  # CMake looks for the file again before each build. Its name may contain characters that have a
  # meaning in a pattern.
  string(REGEX REPLACE "([][?*])" "[\\1]" Pattern "${File}")
  file(GLOB Found CONFIGURE_DEPENDS "${Pattern}")
  if(NOT Found)
    return()
  endif()
  target_compile_options(${Target} PRIVATE
                         "$<$<COMPILE_LANGUAGE:CUDA>:--carve-profile=${File}>")
  get_target_property(Sources ${Target} SOURCES)
  foreach(Source ${Sources})
    if(NOT Source MATCHES "\\.cu$")
      continue()
    endif()
    set_property(SOURCE "${Source}" TARGET_DIRECTORY ${Target} APPEND PROPERTY
                 OBJECT_DEPENDS "${File}")
  endforeach()
endfunction()
