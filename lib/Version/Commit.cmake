# Writes Header, which defines CARVE_COMMIT: the commit of the checkout Source as git names it, with
# -dirty if tracked files differ from it. Empty if Source is no checkout of its own, as in an
# unpacked archive, even where that lies inside of another project's checkout.
set(Commit "")
if(Git)
  execute_process(COMMAND ${Git} -C ${Source} rev-parse --show-prefix
                  RESULT_VARIABLE Status OUTPUT_VARIABLE Prefix
                  ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(Status STREQUAL "0" AND Prefix STREQUAL "")
    execute_process(COMMAND ${Git} -C ${Source} rev-parse --short=12 HEAD
                    OUTPUT_VARIABLE Commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    # Without the lock, so that a build never disturbs the user's own git commands.
    execute_process(COMMAND ${CMAKE_COMMAND} -E env GIT_OPTIONAL_LOCKS=0
                      ${Git} -C ${Source} status --porcelain --untracked-files=no
                    OUTPUT_VARIABLE Changes ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(Commit AND Changes)
      string(APPEND Commit "-dirty")
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${Header} CONTENT "#define CARVE_COMMIT \"${Commit}\"\n")
