# What the hardware library (hw/) uses from outside: included by this project, and by systole-config.cmake for
# projects that use the installed library. Sets systole_missing to what is not found, for the includer to report.
# The targets are imported, so that an installed target can name them.
set(systole_missing "")
if(TARGET systole_systemc)
    return()
endif()

foreach(package fmt nlohmann_json ZLIB PkgConfig)
    find_package(${package} QUIET)
    if(NOT ${package}_FOUND)
        list(APPEND systole_missing ${package})
    endif()
endforeach()
find_package(OpenMP QUIET COMPONENTS CXX)
if(NOT OpenMP_CXX_FOUND)
    list(APPEND systole_missing OpenMP)
endif()
# Debian's dnnl-config.cmake asks for OpenCL's development files, which a CPU build never uses.
find_library(DNNL_LIBRARY dnnl)
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.h)
if(NOT DNNL_LIBRARY OR NOT DNNL_INCLUDE_DIR)
    list(APPEND systole_missing oneDNN)
endif()
# SystemC 2.3.4 has no CMake package.
if(PkgConfig_FOUND)
    pkg_check_modules(systemc QUIET IMPORTED_TARGET systemc>=2.3.4)
endif()
if(NOT systemc_FOUND)
    list(APPEND systole_missing "SystemC 2.3.4")
endif()
list(JOIN systole_missing ", " systole_missing)
if(systole_missing)
    return()
endif()

add_library(systole_dnnl INTERFACE IMPORTED)
target_link_libraries(systole_dnnl INTERFACE "${DNNL_LIBRARY}")
target_include_directories(systole_dnnl SYSTEM INTERFACE "${DNNL_INCLUDE_DIR}")

# Debian's SystemC is built as C++17: its API check must be told so by every user of the headers.
add_library(systole_systemc INTERFACE IMPORTED)
target_link_libraries(systole_systemc INTERFACE PkgConfig::systemc)
target_compile_definitions(systole_systemc INTERFACE SC_CPLUSPLUS=201703L SC_INCLUDE_DYNAMIC_PROCESSES)

# Headers of libraries are not ours to warn about.
get_target_property(systemc_directories PkgConfig::systemc INTERFACE_INCLUDE_DIRECTORIES)
if(systemc_directories)
    target_include_directories(systole_systemc SYSTEM INTERFACE ${systemc_directories})
endif()
