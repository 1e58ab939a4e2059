#pragma once

#ifdef __SANITIZE_ADDRESS__
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>

#include <cstddef>
#endif

namespace systole::hw {

/// For the end of a program that simulated, under AddressSanitizer; elsewhere nothing. The SystemC kernel
/// tells of each switch to the stack of a process, but not of the last one back. So that stack, freed by now,
/// is taken for this thread's, and the search for leaks would read it, which fails where the memory is gone.
inline void return_to_own_stack() {
#ifdef __SANITIZE_ADDRESS__
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    void* bottom = nullptr;
    std::size_t size = 0;
    const bool known = pthread_attr_getstack(&attributes, &bottom, &size) == 0;
    pthread_attr_destroy(&attributes);
    if (!known) return;
    void* fake_stack = nullptr;
    __sanitizer_start_switch_fiber(&fake_stack, bottom, size);
    __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

}  // namespace systole::hw
