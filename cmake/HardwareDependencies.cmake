# What the hardware library (hw/) uses from outside: included by this project, and by systole-config.cmake for
# projects that use the installed library. The targets are imported, so that an installed target can name them.
include_guard(DIRECTORY)

find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(ZLIB REQUIRED)

# Debian's dnnl-config.cmake asks for OpenCL's development files, which a CPU build never uses.
find_library(DNNL_LIBRARY dnnl REQUIRED)
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.h REQUIRED)
add_library(systole_dnnl INTERFACE IMPORTED)
target_link_libraries(systole_dnnl INTERFACE "${DNNL_LIBRARY}")
target_include_directories(systole_dnnl SYSTEM INTERFACE "${DNNL_INCLUDE_DIR}")

# SystemC 2.3.4 has no CMake package, and Debian's library is built as C++17: its API check must be
# told so by every user of the headers.
pkg_check_modules(systemc REQUIRED IMPORTED_TARGET systemc>=2.3.4)
add_library(systole_systemc INTERFACE IMPORTED)
target_link_libraries(systole_systemc INTERFACE PkgConfig::systemc)
target_compile_definitions(systole_systemc INTERFACE SC_CPLUSPLUS=201703L SC_INCLUDE_DYNAMIC_PROCESSES)

# Headers of libraries are not ours to warn about.
get_target_property(systemc_directories PkgConfig::systemc INTERFACE_INCLUDE_DIRECTORIES)
if(systemc_directories)
    target_include_directories(systole_systemc SYSTEM INTERFACE ${systemc_directories})
endif()
