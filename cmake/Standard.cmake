# Language level, warnings and instrumentation: the same for every target of the project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")

option(SYSTOLE_WARNINGS_AS_ERRORS "Warnings are errors" OFF)
option(SYSTOLE_SANITIZE "AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(SYSTOLE_FUZZ "Build the fuzz targets (needs clang)" OFF)
set(SYSTOLE_FILES_AT_ONCE 1 CACHE STRING "So many files of a library, at most, are compiled as one")

# A build without ccache gives the same, only later. What one clone has compiled, another one takes, in whatever
# folder it is. DEPEND: the compiler's own list of what it has read counts, so what is new is not preprocessed first.
# Without SLOPPINESS, ccache leaves out what uses precompiled headers.
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER env "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
        CCACHE_SLOPPINESS=pch_defines,time_macros "${CCACHE}")
endif()

include(GNUInstallDirs)
add_library(systole_options INTERFACE)
set_target_properties(systole_options PROPERTIES EXPORT_NAME options)
target_compile_features(systole_options INTERFACE cxx_std_20)
target_include_directories(systole_options INTERFACE "$<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/systole>")
# Paths in messages start at the project's folder: the clone that has compiled a test may be another one.
target_compile_options(systole_options INTERFACE "$<BUILD_INTERFACE:-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=>")
# Warnings are for this project, not for those that use the installed library.
set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(SYSTOLE_WARNINGS_AS_ERRORS)
    list(APPEND warnings -Werror)
endif()
target_compile_options(systole_options INTERFACE "$<BUILD_INTERFACE:${warnings}>")
if(SYSTOLE_SANITIZE)
    target_compile_options(systole_options INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all
        -fno-omit-frame-pointer)
    target_link_options(systole_options INTERFACE -fsanitize=address,undefined)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # Processes run on stacks of their own that AddressSanitizer does not know; an exception that
        # unwinds one would leave its marks behind and be reported as an overflow.
        target_compile_options(systole_options INTERFACE --param=asan-stack=0)
    endif()
    # Not in the tests' own code, of which these checks, one at each pointer, take a third of the compiler's time.
    set(SYSTOLE_TEST_OPTIONS
        -fno-sanitize=null,alignment,vptr,object-size,nonnull-attribute,returns-nonnull-attribute)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND (SYSTOLE_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Release"))
    # Optimization and instrumentation mislead these warnings of g++ 12's flow analysis, inside the
    # headers of its own library and of fmt; the dev preset keeps them.
    set(misled -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds -Wno-restrict
        -Wno-maybe-uninitialized)
    target_compile_options(systole_options INTERFACE "$<BUILD_INTERFACE:${misled}>")
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release")
    # Tests spend their time in what they test.
    list(APPEND SYSTOLE_TEST_OPTIONS -O1)
endif()
if(SYSTOLE_FUZZ)
    target_compile_options(systole_options INTERFACE -fsanitize=fuzzer-no-link,address,undefined
        -fno-sanitize-recover=all)
    # As above: a simulation's processes run on stacks of their own.
    target_compile_options(systole_options INTERFACE "SHELL:-mllvm -asan-stack=0")
    target_link_options(systole_options INTERFACE -fsanitize=address,undefined)
endif()
