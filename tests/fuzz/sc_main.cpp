// libsystemc calls `sc_main` from a `main` of its own. A fuzz program has another `main`, so this is never
// called; the library must find it wherever it is linked.
#include <systemc>  // declares it with C linkage

int sc_main(int /*argc*/, char* /*argv*/[]) {
    return 1;
}
