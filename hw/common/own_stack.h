#pragma once

#ifdef __SANITIZE_ADDRESS__
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>

#include <cstddef>
#endif

namespace systole::hw {

/// To be called after a simulation, before its context or the program ends; has an effect under
/// AddressSanitizer only. The SystemC kernel reports each switch to the stack of a process to the sanitizer,
/// but not the last switch back. The sanitizer then takes that stack, freed by now, for the thread's own, and
/// its leak search would read it and crash.
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
