# What `make install` installs. Component "simulator" is what a user of `sim` needs: the program finds its files
# relative to itself, in ../share/systole. Component "development" is the hardware library.
include(CMakePackageConfigHelpers)

install(TARGETS sim RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT simulator)

set(data "${CMAKE_INSTALL_DATADIR}/systole")
install(DIRECTORY configs DESTINATION "${data}" COMPONENT simulator FILES_MATCHING PATTERN "*.json")
install(DIRECTORY models DESTINATION "${data}" COMPONENT simulator
    FILES_MATCHING PATTERN "*.h5" PATTERN "*.hlo" PATTERN "*.onnx" PATTERN "*.json" PATTERN "*.gz" PATTERN "*.md" PATTERN "__pycache__" EXCLUDE)
# Programs that the help of commands shows, and the page that `sim validate --page` fills.
install(DIRECTORY docs/micro_benchmarks DESTINATION "${data}/docs" COMPONENT simulator)
install(FILES docs/validation.template.md docs/parameters.template.md DESTINATION "${data}/docs" COMPONENT simulator)

# Each shell has its place and its name for a completion script.
set(completions "")
foreach(completion "bash;bash-completion/completions;sim" "zsh;zsh/site-functions;_sim"
        "fish;fish/vendor_completions.d;sim.fish")
    list(GET completion 0 shell)
    list(GET completion 1 folder)
    list(GET completion 2 name)
    set(script_folder "${CMAKE_BINARY_DIR}/completions/${shell}")
    set(script "${script_folder}/${name}")
    add_custom_command(
        OUTPUT "${script}"
        DEPENDS sim
        COMMAND "${CMAKE_COMMAND}" -E make_directory "${script_folder}"
        COMMAND sim completion ${shell} > "${script}"
        VERBATIM)
    list(APPEND completions "${script}")
    install(FILES "${script}" DESTINATION "${CMAKE_INSTALL_DATADIR}/${folder}" COMPONENT simulator)
endforeach()
add_custom_target(completions ALL DEPENDS ${completions})

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/systole")
install(DIRECTORY base hw DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/systole" COMPONENT development
    FILES_MATCHING PATTERN "*.h" PATTERN "zip" EXCLUDE)
install(TARGETS systole_options systole_all_hw EXPORT systole)
install(EXPORT systole NAMESPACE systole:: FILE systole-targets.cmake DESTINATION "${package}" COMPONENT development)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/systole-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES cmake/systole-config.cmake cmake/HardwareDependencies.cmake
    "${CMAKE_BINARY_DIR}/systole-config-version.cmake" DESTINATION "${package}" COMPONENT development)

# All that is installed, and nothing else.
get_property(hardware_libraries GLOBAL PROPERTY SYSTOLE_HARDWARE_LIBRARIES)
add_custom_target(installed)
add_dependencies(installed sim completions ${hardware_libraries})
