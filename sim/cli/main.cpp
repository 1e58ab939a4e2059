#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <systemc>

#include "base/interruption.h"
#include "hw/common/own_stack.h"
#include "sim/cli/app.h"

#ifdef __SANITIZE_ADDRESS__
/// The SystemC kernel keeps what it allocates until the process ends.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
    return "leak:libsystemc";
}
/// Only messages of this program appear on stderr.
extern "C" const char* __lsan_default_options();
extern "C" const char* __lsan_default_options() {
    return "print_suppressions=0";
}
#endif

namespace {

/// Opens standard streams that are closed, so that no file of the run takes their place; reading and writing
/// them then fails.
void occupy_standard_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) != -1) continue;
        // The lowest free number is that of the stream.
        if (::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) != stream) _exit(EXIT_FAILURE);
    }
}

}  // namespace

int sc_main(int argc, char* argv[]) {
    sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_THROW);
    const int exit_code = systole::cli::run_app(argc, argv);
    systole::hw::return_to_own_stack();
    return exit_code;
}

/// libsystemc has a `main` for programs without one. It prints a banner on stderr; this `main` does not, and
/// `sim --version` names SystemC instead.
int main(int argc, char* argv[]) {
    occupy_standard_streams();
    // A write beyond the limit on the size of files (ulimit -f) then fails as on a full disk, instead of
    // ending the process in the middle of a file.
    std::signal(SIGXFSZ, SIG_IGN);
    systole::end_cleanly_on_interruption();
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
    return sc_core::sc_elab_and_sim(argc, argv);
}
