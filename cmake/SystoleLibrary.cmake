# systole_compiled(RESULT NAME file...)
#
# What is compiled of the files of the target NAME: files that include SYSTOLE_FILES_AT_ONCE of them at most. The paths
# in them start at the project's folder: with CMAKE_UNITY_BUILD they would start at /, and ccache would take nothing
# that another clone has compiled.
function(systole_compiled result name)
    list(LENGTH ARGN count)
    if(SYSTOLE_FILES_AT_ONCE LESS_EQUAL 1 OR count LESS_EQUAL 1)
        set(${result} ${ARGN} PARENT_SCOPE)
        return()
    endif()
    set(size "${SYSTOLE_FILES_AT_ONCE}")
    math(EXPR parts "(${count} + ${size} - 1) / ${size}")
    set(compiled "")
    foreach(part RANGE 1 ${parts})
        math(EXPR begin "(${part} - 1) * ${size}")
        list(SUBLIST ARGN ${begin} ${size} files)
        set(content "")
        foreach(file ${files})
            cmake_path(ABSOLUTE_PATH file)
            cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${CMAKE_SOURCE_DIR}")
            string(APPEND content "#include \"${file}\"\n")
        endforeach()
        set(together "${CMAKE_CURRENT_BINARY_DIR}/Unity/${name}_${part}.cpp")
        file(CONFIGURE OUTPUT "${together}" CONTENT "${content}" @ONLY)
        list(APPEND compiled "${together}")
    endforeach()
    set(${result} ${compiled} PARENT_SCOPE)
endfunction()

# What most sources include, read once: two of the three seconds that a compilation needs before it comes to the
# project's own headers. The sources include what they use all the same (scripts/missing_includes.py). Targets with
# another optimization or with -fopenmp have DISABLE_PRECOMPILE_HEADERS: g++ 12 takes headers that were precompiled with
# -Og into a compilation with -O3, and then breaks down.
function(systole_precompile name)
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/${name}.cpp" CONTENT "")
    add_library(systole_${name} OBJECT "${CMAKE_BINARY_DIR}/${name}.cpp")
    target_link_libraries(systole_${name} PRIVATE systole_options fmt::fmt nlohmann_json::nlohmann_json)
    target_compile_options(systole_${name} PRIVATE ${ARGN})
    target_precompile_headers(systole_${name} PRIVATE <algorithm> <array> <cmath> <cstdint> <deque> <filesystem>
        <fstream> <functional> <limits> <map> <memory> <numeric> <optional> <set> <span> <sstream> <stdexcept> <string>
        <string_view> <utility> <variant> <vector> <fmt/format.h> <nlohmann/json.hpp>)
endfunction()
systole_precompile(headers)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
    systole_precompile(cold_headers -O1)
endif()

# systole_library(NAME [COLD] SOURCES file... [ALONE file...] [LINKS target...])
#
# A library of the project: target systole_NAME, alias systole::NAME. Each folder of the design is one. Files that
# are compiled in a way of their own are given as ALONE. COLD: a run spends no time here worth naming; in the preset
# release, it is compiled with -O1, which takes the compiler two thirds of the time of -O3.
# Header-only folders give no SOURCES. The libraries below base/, hw/, compiler/ and sim/ are together the
# targets systole::all_base, systole::all_hw and so on; what one of these uses below it comes along. Those below hw/,
# and base, which they use, are installed (cmake/Install.cmake), all together as systole::hw.
function(systole_library name)
    cmake_parse_arguments(PARSE_ARGV 1 library "COLD" "" "SOURCES;ALONE;LINKS")
    if(library_SOURCES)
        systole_compiled(compiled systole_${name} ${library_SOURCES})
        add_library(systole_${name} STATIC ${compiled} ${library_ALONE})
        target_link_libraries(systole_${name} PUBLIC systole_options ${library_LINKS}
            PRIVATE fmt::fmt nlohmann_json::nlohmann_json)
        if(library_COLD AND CMAKE_BUILD_TYPE STREQUAL "Release")
            target_compile_options(systole_${name} PRIVATE -O1)
            target_precompile_headers(systole_${name} REUSE_FROM systole_cold_headers)
        else()
            target_precompile_headers(systole_${name} REUSE_FROM systole_headers)
        endif()
    else()
        add_library(systole_${name} INTERFACE)
        target_link_libraries(systole_${name} INTERFACE systole_options ${library_LINKS})
    endif()
    add_library(systole::${name} ALIAS systole_${name})
    cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY "${CMAKE_SOURCE_DIR}" OUTPUT_VARIABLE folder)
    string(REGEX REPLACE "/.*" "" top "${folder}")
    if(NOT TARGET systole_all_${top})
        add_library(systole_all_${top} INTERFACE)
        add_library(systole::all_${top} ALIAS systole_all_${top})
        set_target_properties(systole_all_${top} PROPERTIES EXPORT_NAME ${top})
    endif()
    target_link_libraries(systole_all_${top} INTERFACE systole_${name})
    if(top STREQUAL "hw" OR name STREQUAL "base")
        set_target_properties(systole_${name} PROPERTIES EXPORT_NAME ${name})
        install(TARGETS systole_${name} EXPORT systole
            ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
        if(library_SOURCES)
            set_property(GLOBAL APPEND PROPERTY SYSTOLE_HARDWARE_LIBRARIES systole_${name})
        endif()
    endif()
endfunction()

# systole_optimized(NAME)
#
# The loops of this library are so long that debug builds optimize them too; instrumented builds keep the level their
# reports are made for.
function(systole_optimized name)
    if(NOT SYSTOLE_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL "Release")
        target_compile_options(systole_${name} PRIVATE -O3)
        set_target_properties(systole_${name} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
    endif()
endfunction()

# systole_tests(NAME DIRECTORY folder [ALONE])
#
# One Catch2 program of all *_test.cpp directly in tests/DIRECTORY; every test case is a CTest test and
# a process of its own. The files are globbed, so none can be forgotten; a test that says SKIPPED is
# counted as skipped. ALONE: each file is compiled by itself. Tests of base/ and hw/ may use all of both, those
# of compiler/ also all of compiler/, and the others everything: archives add only what is called.
function(systole_tests name)
    cmake_parse_arguments(PARSE_ARGV 1 tests "ALONE" "DIRECTORY" "")
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/${tests_DIRECTORY}/*_test.cpp")
    if(NOT sources)
        return()
    endif()
    set(compiled ${sources})
    if(NOT tests_ALONE)
        systole_compiled(compiled ${name} ${sources})
    endif()
    add_executable(${name} ${compiled})
    target_compile_options(${name} PRIVATE ${SYSTOLE_TEST_OPTIONS})
    target_precompile_headers(${name} REUSE_FROM systole_test_headers)
    set(libraries systole::all_hw systole::all_base)
    if(NOT tests_DIRECTORY MATCHES "^unit/(base|hw)")
        list(PREPEND libraries systole::all_compiler)
    endif()
    if(NOT tests_DIRECTORY MATCHES "^unit/(base|hw|compiler)")
        list(PREPEND libraries systole::all_sim)
    endif()
    target_link_libraries(${name} PRIVATE systole::test_support systole::random_program systole::random_tensor systole::random_tiles ${libraries})
    catch_discover_tests(${name} TEST_PREFIX "${tests_DIRECTORY}: " PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED")
    set_property(GLOBAL APPEND PROPERTY SYSTOLE_TEST_SOURCES ${sources})
endfunction()
