# find_package(CarveNvcc): the tools of carve-nvcc as imported programs, and the functions of
# CarveNvcc.cmake. The tools are those of the tree that has this file, wherever it was moved.
#
#   CarveNvcc_FOUND, CarveNvcc_VERSION
#   CarveNvcc::carve-nvcc   the compiler, for CMAKE_CUDA_COMPILER
#   CarveNvcc::carve        its companion
if(CMAKE_VERSION VERSION_LESS 3.18)
  set(CarveNvcc_FOUND FALSE)
  set(CarveNvcc_NOT_FOUND_MESSAGE "CarveNvcc needs CMake 3.18 or newer, this is ${CMAKE_VERSION}")
  return()
endif()
cmake_policy(VERSION 3.18...3.31)

get_filename_component(_CarveNvcc_Prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
foreach(_CarveNvcc_Tool carve-nvcc carve)
  set(_CarveNvcc_Path "${_CarveNvcc_Prefix}/bin/${_CarveNvcc_Tool}")
  if(NOT EXISTS "${_CarveNvcc_Path}")
    set(CarveNvcc_FOUND FALSE)
    set(CarveNvcc_NOT_FOUND_MESSAGE "${_CarveNvcc_Path} is missing from this installation")
    return()
  endif()
  if(NOT TARGET CarveNvcc::${_CarveNvcc_Tool})
    add_executable(CarveNvcc::${_CarveNvcc_Tool} IMPORTED)
    set_target_properties(CarveNvcc::${_CarveNvcc_Tool} PROPERTIES
                          IMPORTED_LOCATION "${_CarveNvcc_Path}")
  endif()
endforeach()
unset(_CarveNvcc_Prefix)
unset(_CarveNvcc_Path)
unset(_CarveNvcc_Tool)

include("${CMAKE_CURRENT_LIST_DIR}/CarveNvcc.cmake")
if(CMAKE_CUDA_COMPILER_LAUNCHER)
  _carve_prepare_ccache()
endif()
