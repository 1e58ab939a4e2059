# systole_node_modules(SOURCE DESTINATION)
#
# What the package-lock.json in the folder SOURCE names, in DESTINATION/node_modules: in the build, never in
# the source tree. Fetched only where the lock file has changed since; scripts of packages are not run.
# Whatever needs them depends on the file DESTINATION/installed.
function(systole_node_modules source destination)
    add_custom_command(
        OUTPUT "${destination}/installed"
        DEPENDS "${source}/package.json" "${source}/package-lock.json"
        COMMAND "${CMAKE_COMMAND}" -E make_directory "${destination}"
        COMMAND "${CMAKE_COMMAND}" -E copy "${source}/package.json" "${source}/package-lock.json" "${destination}"
        COMMAND "${CMAKE_COMMAND}" -E chdir "${destination}"
            "${NPM}" ci --ignore-scripts --prefer-offline --no-audit --no-fund --loglevel=error
        COMMAND "${CMAKE_COMMAND}" -E touch "${destination}/installed"
        COMMENT "Fetching the packages of ${source}/package-lock.json"
        VERBATIM)
endfunction()
