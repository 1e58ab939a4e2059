# systole_library(NAME SOURCES file... [LINKS target...])
#
# A library of the project: target systole_NAME, alias systole::NAME. Each folder of the design is one.
# Header-only folders give no SOURCES.
function(systole_library name)
    cmake_parse_arguments(PARSE_ARGV 1 library "" "" "SOURCES;LINKS")
    if(library_SOURCES)
        add_library(systole_${name} STATIC ${library_SOURCES})
        target_link_libraries(systole_${name} PUBLIC systole_options ${library_LINKS})
    else()
        add_library(systole_${name} INTERFACE)
        target_link_libraries(systole_${name} INTERFACE systole_options ${library_LINKS})
    endif()
    add_library(systole::${name} ALIAS systole_${name})
endfunction()

# systole_tests(NAME DIRECTORY folder LINKS target...)
#
# One Catch2 program of all *_test.cpp directly in tests/DIRECTORY; every test case is a CTest test and
# a process of its own. The files are globbed, so none can be forgotten; a test that says SKIPPED is
# counted as skipped. Libraries that the files include are linked without being named.
function(systole_tests name)
    cmake_parse_arguments(PARSE_ARGV 1 tests "" "DIRECTORY" "LINKS")
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/${tests_DIRECTORY}/*_test.cpp")
    if(NOT sources)
        return()
    endif()
    add_executable(${name} ${sources})
    set(libraries systole::test_support ${tests_LINKS})
    foreach(source ${sources})
        systole_libraries_of("${source}" included)
        if(included)
            list(APPEND libraries ${included})
        endif()
    endforeach()
    list(REMOVE_DUPLICATES libraries)
    target_link_libraries(${name} PRIVATE ${libraries})
    catch_discover_tests(${name} TEST_PREFIX "${tests_DIRECTORY}: " PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED")
    set_property(GLOBAL APPEND PROPERTY SYSTOLE_TEST_SOURCES ${sources})
endfunction()

# systole_libraries_of(SOURCE RESULT)
#
# The libraries whose headers SOURCE includes: "hw/math/gemm.h" stands for systole::math, and
# "sim/run/record/spec.h" for systole::run_record. Configures anew when SOURCE changes. RESULT holds NOTFOUND
# where a library is not built.
function(systole_libraries_of source result)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
    file(STRINGS "${source}" includes REGEX "^#include \"(hw|compiler|sim|tests/support)/[a-z0-9_]+/")
    set(libraries "")
    foreach(include ${includes})
        string(REGEX REPLACE "^#include \"(hw|compiler|sim|tests/support)/([a-z0-9_]+)/.*" "\\2" folder "${include}")
        if(include MATCHES "/${folder}/([a-z0-9_]+)/")
            if(TARGET systole_${folder}_${CMAKE_MATCH_1})
                set(folder "${folder}_${CMAKE_MATCH_1}")
            endif()
        endif()
        if(NOT TARGET systole_${folder})
            set(${result} NOTFOUND PARENT_SCOPE)
            return()
        endif()
        list(APPEND libraries systole::${folder})
    endforeach()
    list(REMOVE_DUPLICATES libraries)
    set(${result} "${libraries}" PARENT_SCOPE)
endfunction()
