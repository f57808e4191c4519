# carve_install_layout(<target>): tells Installation.cpp in the target where the build installs what
# the tools look for, as seen from the folder of the tools, so that the installed tree can be moved.
function(carve_install_layout Target)
  foreach(Folder LIB DATA)
    file(RELATIVE_PATH ${Folder} ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_${Folder}DIR})
    # Apart from the prefix it stays where it is.
    if(IS_ABSOLUTE ${CMAKE_INSTALL_${Folder}DIR})
      set(${Folder} ${CMAKE_INSTALL_${Folder}DIR})
    endif()
  endforeach()
  target_compile_definitions(${Target} PRIVATE
    "CARVE_LIBRARIES=\"${LIB}\"" "CARVE_DATA=\"${DATA}\"")
endfunction()
