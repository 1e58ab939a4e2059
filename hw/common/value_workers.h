#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "hw/common/inplace_function.h"
#include "hw/common/order_checker.h"

namespace systole::hw {

/// Whether a run computes the network's values or only its cycles.
enum class Values : std::uint8_t { Computed, TimingOnly };

/// Computes the units' values beside the simulation, on cores that would idle: timing never depends on
/// values. A unit hands over a job when an instruction begins. It runs when the jobs of all instructions of
/// other units that it comes after are done, as the order checker knows, and those of its own unit that
/// write the same rows. Any other two do not conflict, or the checker would have ended the run: the values
/// are those of the program's order, whatever the threads do.
///
/// All methods are for the simulation's thread; while it has to wait, it runs jobs itself. What a job refers
/// to must last until it has run.
class ValueWorkers {
public:
    static constexpr std::size_t job_bytes = 384;

    /// Memory of the thread that runs a job, for its intermediate results.
    using Scratch = std::vector<std::uint8_t>;
    using Job = InplaceFunction<void(Scratch&), job_bytes>;

    /// Rows [first, last) that a job writes, in numbers of its unit's own.
    struct Rows {
        std::uint64_t first = 0;
        std::uint64_t last = 0;

        bool overlap(const Rows& other) const { return first < other.last && other.first < last; }
    };
    /// Of a job that is to run in its unit's order.
    static constexpr Rows all_rows{0, std::numeric_limits<std::uint64_t>::max()};

    /// Without threads a job runs as it is handed over.
    ValueWorkers(const OrderChecker& order, std::size_t threads) : order_(order), thread_count_(threads) {}
    ~ValueWorkers();
    ValueWorkers(const ValueWorkers&) = delete;
    ValueWorkers& operator=(const ValueWorkers&) = delete;

    /// As many threads as this computer has cores besides the simulation's, but not more than find work.
    static std::size_t idle_cores();

    /// Hands over a job of the unit's instruction that began last. It must not throw.
    void compute(std::size_t unit, InstructionNumber number, const Rows& writes, Job job);

    /// Waits until the instruction of the unit that began last may read and write values at once.
    void wait_for_order(std::size_t unit);
    /// Waits until the unit's jobs are done.
    void wait_for_jobs(std::size_t unit);
    /// Waits until all jobs are done.
    void wait_for_all();
    /// The same, and throws again what a job threw.
    void finish();

private:
    /// Jobs by the place they have, a bit each.
    using Places = std::uint64_t;
    static constexpr std::size_t place_count = std::numeric_limits<Places>::digits;

    struct Place {
        Job job;
        std::size_t unit = 0;
        InstructionNumber number = 0;
        Rows writes;
        std::uint64_t sequence = 0;  ///< in which jobs were handed over
        Places behind = 0;           ///< not done, and to be done before
    };

    static constexpr Places bit(std::size_t place) { return Places{1} << place; }
    /// Jobs not done that a job of the unit must come after.
    Places conflicts(std::size_t unit, const Rows& writes) const;
    Places jobs_of(std::size_t unit) const;
    /// What the simulation's thread waits for: at most so many of these jobs are left.
    struct Goal {
        Places jobs = 0;
        int left = 0;
    };
    bool met(const Goal& goal) const { return std::popcount(taken_ & goal.jobs) <= goal.left; }

    /// A thread's life.
    void work();
    /// Runs jobs, or waits for one, until the goal is met.
    void work_towards(const Goal& goal, std::unique_lock<std::mutex>& lock);
    /// The ready job that was handed over first.
    std::size_t take_ready();
    void run(std::unique_lock<std::mutex>& lock, std::size_t place, Scratch& scratch);
    /// Returns when something may be ready, or a goal met; `sleeping` is where the thread sleeps.
    void wait_for_change(std::unique_lock<std::mutex>& lock, std::condition_variable& sleeping);

    const OrderChecker& order_;
    const std::size_t thread_count_;
    std::vector<std::thread> threads_;  ///< started with the first job
    Scratch scratch_;                   ///< of the simulation's thread

    // Under the lock.
    std::mutex mutex_;
    std::array<Place, place_count> places_;
    Places taken_ = 0;  ///< places of jobs not done
    Places ready_ = 0;  ///< places of jobs that may run and do not yet
    std::uint64_t next_sequence_ = 0;
    Goal goal_;
    bool stopping_ = false;
    std::exception_ptr failure_;

    std::atomic<std::uint64_t> changes_ = 0;  ///< written under the lock
    std::condition_variable simulation_sleeps_;
    std::condition_variable threads_sleep_;
};

}  // namespace systole::hw
