#include "tests/system/paths.h"

namespace systole::tests {

const char* sim_program() {
    return SYSTOLE_SIM;
}

const char* build_dir() {
    return SYSTOLE_BUILD_DIR;
}

const char* list_of_test_sources() {
    return SYSTOLE_TEST_SOURCES;
}

const char* figures_command() {
    return SYSTOLE_DRAW_FIGURES;
}

}  // namespace systole::tests
