# Run by cpack on the staged files of each package. Debian has places and forms of its own for the
# licence, man pages, and completion for zsh, whose site-functions are the administrator's there.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
set(Share ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share)
file(RENAME ${Share}/doc/carve-nvcc/LICENSE ${Share}/doc/carve-nvcc/copyright)
file(MAKE_DIRECTORY ${Share}/zsh/vendor-completions)
file(RENAME ${Share}/zsh/site-functions/_carve ${Share}/zsh/vendor-completions/_carve)
file(REMOVE_RECURSE ${Share}/zsh/site-functions)
file(GLOB Pages ${Share}/man/man1/*.1)
execute_process(COMMAND gzip -9n ${Pages} COMMAND_ERROR_IS_FATAL ANY)
