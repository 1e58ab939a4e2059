# find_package(systole): the hardware library. systole::hw is all of it, systole::system the machine, systole::isa
# programs, and so on: a target for each folder of hw/, and systole::base. Headers are included as "hw/system/system.h".
include("${CMAKE_CURRENT_LIST_DIR}/HardwareDependencies.cmake")
if(systole_missing)
    set(systole_FOUND FALSE)
    set(systole_NOT_FOUND_MESSAGE "these packages, which it uses, are not found: ${systole_missing}")
    return()
endif()
include("${CMAKE_CURRENT_LIST_DIR}/systole-targets.cmake")
