#include "tests/support/source_dir.h"

const char* systole::tests::source_dir() {
    return SYSTOLE_SOURCE_DIR;
}
