#pragma once

#include <memory>
#include <systemc>

namespace systole::tests {

/// A SystemC simulation of its own: the kernel elaborates once, so each simulation after the first in
/// one process needs a context of its own. Make it before any module, destroy it after them.
class FreshSimulation {
public:
    FreshSimulation() : context_(std::make_unique<sc_core::sc_simcontext>()) {
        sc_core::sc_curr_simcontext = context_.get();
        sc_core::sc_default_global_context = context_.get();
    }
    /// SystemC creates a context for the next simulation that has none.
    ~FreshSimulation() {
        sc_core::sc_curr_simcontext = nullptr;
        sc_core::sc_default_global_context = nullptr;
    }
    FreshSimulation(const FreshSimulation&) = delete;
    FreshSimulation& operator=(const FreshSimulation&) = delete;

private:
    std::unique_ptr<sc_core::sc_simcontext> context_;
};

}  // namespace systole::tests
