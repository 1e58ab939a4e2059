#pragma once

#include <exception>
#include <functional>
#include <string>
#include <systemc>
#include <utility>

namespace systole::hw {

/// What ended a simulation: the first exception that left one of its processes. SystemC would turn it into
/// a report of its own and lose the type; here it is thrown again by who runs the simulation. Where several
/// processes fail in one cycle, the one that was started first counts, whichever the kernel ran first.
class Failure {
public:
    /// The place of a process among those that were started.
    std::size_t next_rank() { return ranks_++; }
    void capture(std::exception_ptr exception, std::size_t rank) {
        const sc_core::sc_time& now = sc_core::sc_time_stamp();
        if (exception_ && (now != when_ || rank > rank_)) return;
        exception_ = std::move(exception);
        rank_ = rank;
        when_ = now;
    }
    /// Ends the simulation.
    void stop() {
        if (std::exchange(stopped_, true)) return;
        // The kernel would announce it; who rethrows says what happened.
        sc_core::sc_report_handler::set_actions("/OSCI/SystemC", sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
        sc_core::sc_stop();
    }
    void rethrow() const {
        if (exception_) std::rethrow_exception(exception_);
    }

private:
    std::exception_ptr exception_;
    std::size_t ranks_ = 0;
    std::size_t rank_ = 0;
    sc_core::sc_time when_;
    bool stopped_ = false;
};

/// Starts a process of a unit; what it throws ends the simulation, when the instant is over.
inline void spawn(const std::string& name, Failure& failure, std::function<void()> body) {
    sc_core::sc_spawn(
        [&failure, rank = failure.next_rank(), body = std::move(body)] {
            try {
                body();
                return;
            } catch (const sc_core::sc_unwind_exception&) {
                throw;  // the kernel's way to end a process
            } catch (...) {
                failure.capture(std::current_exception(), rank);
            }
            sc_core::wait(sc_core::sc_get_time_resolution());
            failure.stop();
        },
        sc_core::sc_gen_unique_name(name.c_str()));
}

}  // namespace systole::hw
