#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "hw/common/inplace_function.h"
#include "hw/common/order_checker.h"

namespace systole::hw {

/// Whether a run computes the network's values or only its cycles.
enum class Values : std::uint8_t { Computed, TimingOnly };

/// Computes the units' values on idle processors beside the simulation. This is possible because timing never
/// depends on values. A unit hands over a job when an instruction begins. The job runs after the jobs of all
/// instructions of other units that the instruction comes after, according to the order checker, and after
/// the jobs of its own unit that write the same rows. No other two jobs conflict, otherwise the checker would
/// have ended the run; so the values are those of the program's order, whatever the threads do.
///
/// All methods are for the simulation's thread, which runs jobs itself while it waits. Objects that a job
/// refers to must exist until the job has run.
class ValueWorkers {
public:
    static constexpr std::size_t job_bytes = 384;

    /// Memory for a job's intermediate results; it belongs to the thread that runs the job.
    using Scratch = std::vector<std::uint8_t>;
    using Job = InplaceFunction<void(Scratch&), job_bytes>;

    /// Rows [first, last) that a job writes, in a numbering of its unit.
    struct Rows {
        std::uint64_t first = 0;
        std::uint64_t last = 0;

        bool overlap(const Rows& other) const { return first < other.last && other.first < last; }
    };
    /// For a job that must run in its unit's order.
    static constexpr Rows all_rows{0, std::numeric_limits<std::uint64_t>::max()};

    /// With 0 threads a job runs at once when it is handed over.
    ValueWorkers(const OrderChecker& order, std::size_t threads) : order_(order), thread_count_(threads) {}
    ~ValueWorkers();
    ValueWorkers(const ValueWorkers&) = delete;
    ValueWorkers& operator=(const ValueWorkers&) = delete;

    /// The number of threads that use this computer's other processors, limited to what jobs can keep busy.
    static std::size_t idle_cores();

    /// Hands over a job of the unit's instruction that began last. The job must not throw.
    void compute(std::size_t unit, InstructionNumber number, const Rows& writes, Job job);

    /// The unit's later jobs run after those that another unit has handed over so far, also where the order
    /// checker knows no order.
    void follow(std::size_t unit, std::size_t other) { following_[{unit, other}] = next_sequence_; }

    /// Waits until the unit's instruction that began last may read and write values directly.
    void wait_for_order(std::size_t unit);
    /// Waits until the unit's jobs are done.
    void wait_for_jobs(std::size_t unit);
    /// Waits until all jobs are done.
    void wait_for_all();
    /// The same, and rethrows the exception of a job, if any.
    void finish();

private:
    /// A set of jobs: a bit for each place.
    using Places = std::uint64_t;
    static constexpr std::size_t place_count = std::numeric_limits<Places>::digits;

    struct Place {
        Job job;
        std::size_t unit = 0;
        InstructionNumber number = 0;
        Rows writes;
        std::uint64_t sequence = 0;  ///< the order in which jobs were handed over
        Places behind = 0;           ///< unfinished jobs that must be done before
    };

    static constexpr Places bit(std::size_t place) { return Places{1} << place; }
    /// Unfinished jobs that a new job of the unit must wait for.
    Places conflicts(std::size_t unit, const Rows& writes) const;
    Places jobs_of(std::size_t unit) const;
    /// The condition that the simulation's thread waits for: at most `left` of `jobs` are unfinished.
    struct Goal {
        Places jobs = 0;
        int left = 0;
    };
    bool met(const Goal& goal) const { return std::popcount(taken_ & goal.jobs) <= goal.left; }

    /// The main function of a thread.
    void work();
    /// Runs jobs, or waits for a ready one, until the goal is met.
    void work_towards(const Goal& goal, std::unique_lock<std::mutex>& lock);
    /// The ready job that was handed over first.
    std::size_t take_ready();
    void run(std::unique_lock<std::mutex>& lock, std::size_t place, Scratch& scratch);
    /// Returns when a job may be ready or a goal may be met; `sleeping` is the condition the thread sleeps
    /// on.
    void wait_for_change(std::unique_lock<std::mutex>& lock, std::condition_variable& sleeping);

    const OrderChecker& order_;
    const std::size_t thread_count_;
    std::vector<std::thread> threads_;  ///< started with the first job
    Scratch scratch_;                   ///< for the simulation's thread

    // Guarded by mutex_.
    std::mutex mutex_;
    std::array<Place, place_count> places_;
    Places taken_ = 0;  ///< places of unfinished jobs
    Places ready_ = 0;  ///< places of jobs that may run and are not running
    std::uint64_t next_sequence_ = 0;
    /// By unit and other unit: the first sequence that the unit's jobs need not wait for.
    std::map<std::pair<std::size_t, std::size_t>, std::uint64_t> following_;
    Goal goal_;
    bool stopping_ = false;
    std::exception_ptr failure_;

    std::atomic<std::uint64_t> changes_ = 0;  ///< written with mutex_ held
    std::condition_variable simulation_sleeps_;
    std::condition_variable threads_sleep_;
};

}  // namespace systole::hw
