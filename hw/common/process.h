#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

namespace systole::hw {

/// The first exception that left a process of the simulation. SystemC would turn it into a report of its own
/// and lose the type; here the code that runs the simulation rethrows it. If several processes fail in one
/// cycle, the process that was started first counts, independent of the order in which the kernel ran them.
class Failure {
public:
    /// The processes that are started from now on are those of the next core.
    void begin_core() { cores_.push_back(ranks_); }
    /// The number of the core whose process failed. Without `begin_core`, it is 0.
    std::size_t failed_core() const {
        const auto behind = std::upper_bound(cores_.begin(), cores_.end(), rank_);
        return behind == cores_.begin() ? 0 : static_cast<std::size_t>(behind - cores_.begin()) - 1;
    }
    /// The rank of the next process, in the order in which processes are started.
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
        // Suppresses the kernel's message; the rethrown exception says what happened.
        sc_core::sc_report_handler::set_actions("/OSCI/SystemC", sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
        sc_core::sc_stop();
    }
    void rethrow() const {
        if (exception_) std::rethrow_exception(exception_);
    }

private:
    std::exception_ptr exception_;
    std::vector<std::size_t> cores_;  ///< the rank of the first process of each
    std::size_t ranks_ = 0;
    std::size_t rank_ = 0;
    sc_core::sc_time when_;
    bool stopped_ = false;
};

/// Starts a process of a unit. An exception from it ends the simulation after the current instant.
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
