#pragma once

#include <memory>
#include <systemc>

#include "hw/common/own_stack.h"

namespace systole::hw {

/// A SystemC simulation of its own: the kernel elaborates once, so each simulation after the first in
/// one process needs a context of its own. Make it before any module, destroy it after them; from then on
/// the context before it is in force again.
class FreshSimulation {
public:
    FreshSimulation()
        : context_(std::make_unique<sc_core::sc_simcontext>()),
          outer_(sc_core::sc_curr_simcontext),
          outer_default_(sc_core::sc_default_global_context) {
        sc_core::sc_curr_simcontext = context_.get();
        sc_core::sc_default_global_context = context_.get();
    }
    /// Where there was no context, SystemC creates one for the next simulation.
    ~FreshSimulation() {
        return_to_own_stack();  // before the context frees the stacks of its processes
        sc_core::sc_curr_simcontext = outer_;
        sc_core::sc_default_global_context = outer_default_;
    }
    FreshSimulation(const FreshSimulation&) = delete;
    FreshSimulation& operator=(const FreshSimulation&) = delete;

private:
    std::unique_ptr<sc_core::sc_simcontext> context_;
    sc_core::sc_simcontext* outer_;
    sc_core::sc_simcontext* outer_default_;
};

}  // namespace systole::hw
