#pragma once

#include <exception>
#include <functional>
#include <string>
#include <systemc>
#include <utility>

namespace systole::hw {

/// The first exception that left a process of a simulation. SystemC would turn it into a report of its
/// own and lose the type; here it ends the simulation and is thrown again by who runs it.
class Failure {
public:
    void capture(std::exception_ptr exception) {
        if (!exception_) exception_ = std::move(exception);
        // The kernel would announce it; who rethrows says what happened.
        sc_core::sc_report_handler::set_actions("/OSCI/SystemC", sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
        sc_core::sc_stop();
    }
    void rethrow() const {
        if (exception_) std::rethrow_exception(exception_);
    }

private:
    std::exception_ptr exception_;
};

/// Starts a process of a unit; what it throws ends the simulation.
inline void spawn(const std::string& name, Failure& failure, std::function<void()> body) {
    sc_core::sc_spawn(
        [&failure, body = std::move(body)] {
            try {
                body();
            } catch (const sc_core::sc_unwind_exception&) {
                throw;  // the kernel's way to end a process
            } catch (...) {
                failure.capture(std::current_exception());
            }
        },
        sc_core::sc_gen_unique_name(name.c_str()));
}

}  // namespace systole::hw
