// Any bytes are decisions that make a machine and a program, on which engines, process orders and
// sim/functional agree.
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <systemc>

#include "tests/support/random_program/judge.h"
#include "tests/support/random_program/shrink.h"

/// Where processes have stacks of their own, LeakSanitizer does not find all that is reachable.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
    return "detect_leaks=0";
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace systole::tests;
    sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_THROW);
    Choices choices(std::span(data, size));
    const Case random = random_case(choices);
    if (const auto failure = judge(random)) {
        const FailingCase small = shrink({random, *failure}, judge);
        fmt::print(stderr, "{}\nshrunk to: {}\n", failure->text, describe(small.failing, small.failure));
        std::abort();
    }
    return 0;
}
