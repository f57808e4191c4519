# carve-cuda-headers: cuda.h, cuda_occupancy.h and the headers of CUPTI. They come from a toolkit;
# nothing of it is linked or shipped. The probe's few kernels need an nvcc as well, or a file that
# one made before (CARVE_HELPER_FATBIN).
set(CARVE_HELPER_FATBIN "" CACHE FILEPATH
  "The probe's kernels as compiled before (Helper.fatbin of another build folder), in nvcc's place")
set(CARVE_CUDA_INCLUDE "" CACHE PATH
  "The folder with cuda.h, cuda_occupancy.h and cupti.h of CUDA 13.0 or newer; empty: the toolkit's")

if(NOT CARVE_CUDA_INCLUDE)
  find_package(CUDAToolkit 13.0 QUIET)
endif()
if(CARVE_CUDA_INCLUDE)
  set(CudaInclude ${CARVE_CUDA_INCLUDE})
elseif(CUDAToolkit_FOUND)
  set(CudaInclude ${CUDAToolkit_INCLUDE_DIRS})
else()
  set(Seen "none was found")
  if(CUDAToolkit_VERSION)
    set(Seen "the one found is ${CUDAToolkit_VERSION} (${CUDAToolkit_BIN_DIR})")
  endif()
  message(FATAL_ERROR "A CUDA toolkit of 13.0 or newer is needed, and ${Seen}: put its nvcc into PATH, "
    "or set CUDAToolkit_ROOT to its folder. Without nvcc, set CARVE_CUDA_INCLUDE to a folder with "
    "cuda.h, cuda_occupancy.h and cupti.h, and CARVE_HELPER_FATBIN to the file Helper.fatbin that "
    "another build has made")
endif()

foreach(Header cuda.h cuda_occupancy.h cupti.h)
  find_file(CARVE_HEADER_${Header} ${Header} PATHS ${CudaInclude} NO_DEFAULT_PATH NO_CACHE)
  if(NOT CARVE_HEADER_${Header})
    message(FATAL_ERROR "${Header} is not in ${CudaInclude}: install this part of the CUDA toolkit")
  endif()
endforeach()
file(STRINGS ${CARVE_HEADER_cuda.h} Line REGEX "^#define CUDA_VERSION +[0-9]+")
if(NOT Line MATCHES "([0-9]+)$" OR CMAKE_MATCH_1 LESS 13000)
  message(FATAL_ERROR "CUDA_VERSION is '${CMAKE_MATCH_1}' in ${CARVE_HEADER_cuda.h}, expected at least 13000")
endif()

add_library(carve-cuda-headers INTERFACE)
target_include_directories(carve-cuda-headers SYSTEM INTERFACE ${CudaInclude})
set(CARVE_CUDA_INCLUDE_DIRS ${CudaInclude})
