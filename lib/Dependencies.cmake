# What the project is built on. Everything but the C library is linked statically, so that the
# installed tree runs on any Linux of the same or a newer glibc.
find_package(Threads REQUIRED)
find_package(LLVM 19.1 REQUIRED CONFIG)
find_library(ZLIB_A libz.a REQUIRED)
find_library(ZSTD_A libzstd.a REQUIRED)
find_library(RE2_A libre2.a REQUIRED)
find_path(XXHASH_INCLUDE xxhash.h REQUIRED)
find_path(SPDLOG_INCLUDE spdlog/spdlog.h REQUIRED)
# LLVM's own interface libraries name the shared zlib, zstd and terminfo.
set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES
                      "rt;dl;m;${ZLIB_A};${ZSTD_A};LLVMDemangle")

add_library(carve-llvm INTERFACE)
target_include_directories(carve-llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_compile_definitions(carve-llvm INTERFACE ${LLVM_DEFINITIONS})
target_link_libraries(carve-llvm INTERFACE LLVMObject LLVMSupport LLVMDemangle Threads::Threads)

add_library(carve-re2 INTERFACE)
target_link_libraries(carve-re2 INTERFACE ${RE2_A} Threads::Threads)

add_library(carve-spdlog INTERFACE)
target_include_directories(carve-spdlog SYSTEM INTERFACE ${SPDLOG_INCLUDE})
target_compile_definitions(carve-spdlog INTERFACE SPDLOG_FMT_EXTERNAL FMT_HEADER_ONLY)

# cuda_occupancy.h and the CUPTI headers come from the toolkit; none of it is linked or shipped.
find_package(CUDAToolkit 13.0 REQUIRED)
add_library(carve-cuda-headers INTERFACE)
target_include_directories(carve-cuda-headers SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
