# What the project is built on. Everything but the C library is linked statically, so that the
# installed tree runs on any Linux of the same or a newer glibc.
find_package(Threads REQUIRED)
find_library(ZLIB_A libz.a REQUIRED)
find_library(ZSTD_A libzstd.a REQUIRED)
find_path(XXHASH_INCLUDE xxhash.h REQUIRED)
find_path(SPDLOG_INCLUDE spdlog/spdlog.h REQUIRED)

# The LLVM of LLVM_DIR if that is set. Else 19.1, because that is what we test with, or whichever
# CMake finds. LLVM's own version file accepts no range of versions.
if(NOT LLVM_DIR)
  find_package(LLVM 19.1 CONFIG QUIET)
endif()
if(NOT LLVM_FOUND)
  find_package(LLVM CONFIG QUIET)
endif()
if(NOT LLVM_FOUND)
  message(FATAL_ERROR "LLVM 19.1 or newer is needed, and none was found: install it (llvm-19-dev on "
    "Debian and Ubuntu), or set LLVM_DIR to the folder of its LLVMConfig.cmake")
elseif(LLVM_PACKAGE_VERSION VERSION_LESS 19.1)
  message(FATAL_ERROR "LLVM 19.1 or newer is needed, but LLVM_DIR is ${LLVM_DIR}, which is "
    "${LLVM_PACKAGE_VERSION}: set LLVM_DIR to the folder of a newer LLVMConfig.cmake")
endif()
# LLVM's own interface libraries name the shared zlib, zstd and terminfo.
set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES
                      "rt;dl;m;${ZLIB_A};${ZSTD_A};LLVMDemangle")

add_library(carve-llvm INTERFACE)
target_include_directories(carve-llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_compile_definitions(carve-llvm INTERFACE ${LLVM_DEFINITIONS})
target_link_libraries(carve-llvm INTERFACE LLVMObject LLVMSupport LLVMDemangle Threads::Threads)

include(${CMAKE_CURRENT_LIST_DIR}/Re2.cmake)

add_library(carve-spdlog INTERFACE)
target_include_directories(carve-spdlog SYSTEM INTERFACE ${SPDLOG_INCLUDE})
target_compile_definitions(carve-spdlog INTERFACE SPDLOG_FMT_EXTERNAL FMT_HEADER_ONLY)

include(${CMAKE_CURRENT_LIST_DIR}/Cuda.cmake)
