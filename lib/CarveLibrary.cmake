set(CARVE_WARNINGS -Wall -Wextra -Wpedantic $<$<BOOL:${CARVE_WERROR}>:-Werror>)
# These report the inside of std::string where a literal is joined to one (GCC's bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  list(APPEND CARVE_WARNINGS -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
       -Wno-stringop-overread)
endif()

# std::stable_sort of GCC 12's library calls what C++17 deprecates, and clang says so to its caller.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  list(APPEND CARVE_WARNINGS -Wno-deprecated-declarations)
endif()

# The two kinds of sanitizers exclude each other. ON is the kind that was there first.
if(CARVE_SANITIZE STREQUAL "thread")
  set(CARVE_SANITIZE_OPTIONS -O1 -fsanitize=thread)
elseif(CARVE_SANITIZE STREQUAL "address" OR CARVE_SANITIZE STREQUAL "ON")
  set(CARVE_SANITIZE_OPTIONS -O0 -fsanitize=address,undefined)
elseif(CARVE_SANITIZE)
  message(FATAL_ERROR "CARVE_SANITIZE is address, thread or OFF, not ${CARVE_SANITIZE}")
endif()

# As g++ does: the runtime is one library for the program and the probe, and pointers to functions
# of other libraries need not have been declared with the same types.
if(CARVE_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  list(APPEND CARVE_SANITIZE_OPTIONS -fno-sanitize=function)
  if(NOT CARVE_SANITIZE STREQUAL "thread")
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libclang_rt.asan-x86_64.so
                    OUTPUT_VARIABLE CARVE_ASAN OUTPUT_STRIP_TRAILING_WHITESPACE)
    cmake_path(GET CARVE_ASAN PARENT_PATH CARVE_ASAN_FOLDER)
    set(CARVE_SANITIZE_LINK_OPTIONS -shared-libasan -Wl,-rpath,${CARVE_ASAN_FOLDER})
  endif()
endif()

# Most of a compile is headers, so the sources of a target in one go take a third of the time: for
# .ci/check and whoever builds everything from nothing. What is compiled so need not include all that
# it uses.
option(CARVE_TOGETHER "Compile the sources of each target in one go" OFF)
set(CMAKE_UNITY_BUILD ${CARVE_TOGETHER})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 0)
# The headers that nearly every source of ours includes, precompiled once for such a build.
set(CARVE_COMMON_HEADERS <llvm/ADT/STLExtras.h> <llvm/ADT/StringExtras.h> <llvm/ADT/StringMap.h>
  <llvm/Support/Error.h> <llvm/Support/FileSystem.h> <llvm/Support/FormatVariadic.h>
  <llvm/Support/JSON.h> <llvm/Support/Path.h> <llvm/Support/raw_ostream.h> <map> <optional> <set>)
# What the sanitizers add makes programs of 200 MB, for which the default linker takes 15 s.
if(CARVE_SANITIZE)
  find_program(CARVE_GOLD ld.gold)
endif()
# Sources that define names which others beside them define as well.
set(CARVE_ALONE
  lib/Explain/LimitsReport.cpp
  lib/Captures/File/RawCapture.cpp
  lib/Search/Carver.cpp
  lib/Explain/LimitFindings.cpp
  lib/Metrics/Counts/ThreadStride.cpp
  lib/Spaces/SearchMemory.cpp
  lib/Probe/Capture/CapturedModules.cpp
  lib/Probe/Entry/ExitHooks.cpp
  lib/Probe/Driver/Hazards.cpp
  lib/Probe/Driver/LoadedHandles.cpp
  lib/Profiles/ProfileDiff.cpp
  test/gpu/TuneTest.cpp
  test/unit/Explain/LimitFindingsTest.cpp
  test/unit/Explain/Modified/ModifiedKernelTest.cpp
  test/unit/Device/OccupancyTest.cpp
  test/unit/Search/VariantEditTest.cpp
  test/unit/Search/VariantModelTest.cpp
  test/unit/Explain/HardwareCountersTest.cpp
  test/unit/Probe/Driver/HazardsTest.cpp
  test/unit/Probe/MemoryDriver.cpp
  test/unit/Probe/ProbeLibraryTest.cpp
  test/unit/Probe/StandIn/NeighbourScenarios.cpp
  test/unit/Probe/StandIn/ProbeKernels.cpp
  test/unit/Probe/StandIn/Scenarios.cpp
  test/unit/Probe/StandInTest.cpp
  test/unit/Probe/StubProfiler.cpp
  test/unit/Ptx/KernelHazardsTest.cpp
  test/unit/Explain/LimitsReportTest.cpp
  test/unit/Profiles/ProfileMergeTest.cpp
  test/unit/Workload/ProbeRecordsTest.cpp
  test/unit/Tune/WholeRuns/SampleRecordTest.cpp
  test/unit/Evaluate/SweepTableTest.cpp)
list(TRANSFORM CARVE_ALONE PREPEND ${PROJECT_SOURCE_DIR}/)

# Flags that every target of ours shares.
function(carve_target Name)
  target_include_directories(${Name} PRIVATE ${PROJECT_SOURCE_DIR}/lib)
  target_compile_options(${Name} PRIVATE ${CARVE_WARNINGS} -fvisibility=hidden
                         -ffunction-sections -fdata-sections)
  get_target_property(Together ${Name} UNITY_BUILD)
  if(Together)
    # Every source is a header there, and the types of its unnamed namespace its own.
    target_compile_options(${Name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
    set_source_files_properties(${CARVE_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  if(CARVE_SANITIZE)
    target_compile_options(${Name} PRIVATE ${CARVE_SANITIZE_OPTIONS} -fno-sanitize-recover=all -g1)
    target_link_options(${Name} PRIVATE ${CARVE_SANITIZE_OPTIONS} ${CARVE_SANITIZE_LINK_OPTIONS}
                        $<$<BOOL:${CARVE_GOLD}>:-fuse-ld=gold>)
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
  if(CARVE_TOGETHER AND NOT Name MATCHES "^(Probe|Protocol)")
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
