# Everything the project uses from outside, found once. docs/dependencies.md says what for.
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Catch2 2 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
pkg_check_modules(hdf5 REQUIRED IMPORTED_TARGET hdf5)
pkg_check_modules(isal REQUIRED IMPORTED_TARGET libisal)
find_program(NODE NAMES node nodejs REQUIRED)
find_program(NPM npm REQUIRED)

# Debian's dnnl-config.cmake asks for OpenCL's development files, which a CPU build never uses.
find_library(DNNL_LIBRARY dnnl REQUIRED)
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.h REQUIRED)
add_library(systole_dnnl INTERFACE)
target_link_libraries(systole_dnnl INTERFACE "${DNNL_LIBRARY}")
target_include_directories(systole_dnnl SYSTEM INTERFACE "${DNNL_INCLUDE_DIR}")

# SystemC 2.3.4 has no CMake package, and Debian's library is built as C++17: its API check must be
# told so by every user of the headers.
pkg_check_modules(systemc REQUIRED IMPORTED_TARGET systemc>=2.3.4)
add_library(systole_systemc INTERFACE)
target_link_libraries(systole_systemc INTERFACE PkgConfig::systemc)
target_compile_definitions(systole_systemc INTERFACE SC_CPLUSPLUS=201703L SC_INCLUDE_DYNAMIC_PROCESSES)

# Headers of libraries are not ours to warn about.
foreach(library systemc)
    get_target_property(directories PkgConfig::${library} INTERFACE_INCLUDE_DIRECTORIES)
    if(directories)
        target_include_directories(systole_systemc SYSTEM INTERFACE ${directories})
    endif()
endforeach()
