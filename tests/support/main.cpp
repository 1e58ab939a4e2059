// libsystemc owns `main` and calls `sc_main`; a test program runs its Catch session there.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#include <systemc>

#include "hw/common/own_stack.h"

#ifdef __SANITIZE_ADDRESS__
/// The SystemC kernel keeps what it allocates until the process ends.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
    return "leak:libsystemc";
}
#endif

int sc_main(int argc, char* argv[]) {
    sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_THROW);
    const int result = Catch::Session().run(argc, argv);
    systole::hw::return_to_own_stack();
    return result;
}
