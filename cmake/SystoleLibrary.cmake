# systole_library(NAME SOURCES file... [LINKS target...])
#
# A library of the project: target systole_NAME, alias systole::NAME. Each folder of the design is one.
# Header-only folders give no SOURCES. The libraries outside tests/ are together the target systole::all.
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
    set(tests_folder "${CMAKE_SOURCE_DIR}/tests")
    cmake_path(IS_PREFIX tests_folder "${CMAKE_CURRENT_SOURCE_DIR}" is_for_tests)
    if(NOT TARGET systole_all)
        add_library(systole_all INTERFACE)
        add_library(systole::all ALIAS systole_all)
    endif()
    if(NOT is_for_tests)
        target_link_libraries(systole_all INTERFACE systole_${name})
    endif()
endfunction()

# systole_tests(NAME DIRECTORY folder [LINKS target...])
#
# One Catch2 program of all *_test.cpp directly in tests/DIRECTORY; every test case is a CTest test and
# a process of its own. The files are globbed, so none can be forgotten; a test that says SKIPPED is
# counted as skipped. Tests may use every library of the project: archives add only what is called.
function(systole_tests name)
    cmake_parse_arguments(PARSE_ARGV 1 tests "" "DIRECTORY" "LINKS")
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/${tests_DIRECTORY}/*_test.cpp")
    if(NOT sources)
        return()
    endif()
    add_executable(${name} ${sources})
    target_link_libraries(${name} PRIVATE systole::test_support systole::random_program systole::all ${tests_LINKS})
    catch_discover_tests(${name} TEST_PREFIX "${tests_DIRECTORY}: " PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED")
    set_property(GLOBAL APPEND PROPERTY SYSTOLE_TEST_SOURCES ${sources})
endfunction()
