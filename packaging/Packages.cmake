# What `cpack` makes of a build: a package for Debian and Ubuntu (DEB), and an archive whose folder
# can be put anywhere (TGZ). The Python wheel is made by packaging/wheel/build.
set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_PACKAGE_NAME carve-nvcc)
set(CPACK_PACKAGE_VENDOR "carve-nvcc")
set(CPACK_PACKAGE_CONTACT "carve-nvcc maintainers <carve-nvcc@localhost>" CACHE STRING
  "Who is named as the maintainer of packages")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Replacement for nvcc that tunes the kernels of CUDA programs")
set(CPACK_PACKAGE_DESCRIPTION
  "carve-nvcc takes the place of NVIDIA's nvcc. It compiles as nvcc does, runs the
program with its kernels compiled in several ways, and puts the fastest version
of each kernel into the executable. The companion carve reports, explains,
captures and exports what was tuned. It needs NVIDIA's CUDA toolkit, 13.0 to
13.5, which is not part of this package.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_FILE_NAME ${PROJECT_NAME}-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# Of all shared libraries that the programs link, which is the C library.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/DebianPlaces.cmake)
include(CPack)
