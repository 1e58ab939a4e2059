#include "hw/common/value_workers.h"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace systole::hw {

namespace {

/// Calls `visit` with the number of each bit that is set.
template <class Visit>
void for_each_bit(std::uint64_t bits, const Visit& visit) {
    for (; bits != 0; bits &= bits - 1) visit(static_cast<std::size_t>(std::countr_zero(bits)));
}

/// Pauses for a moment in a loop that waits for another thread.
void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

}  // namespace

std::size_t ValueWorkers::idle_cores() {
    // At most four jobs are independent: a stream, the activation of the previous one, and two host
    // transfers.
    constexpr std::size_t useful = 3;
    cpu_set_t allowed;  // to this process, which may be bound to some of the processors
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return 0;
    const auto cores = static_cast<std::size_t>(CPU_COUNT(&allowed));
    return cores > 1 ? std::min(cores - 1, useful) : 0;
}

ValueWorkers::~ValueWorkers() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        changes_.fetch_add(1, std::memory_order_relaxed);
    }
    threads_sleep_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void ValueWorkers::compute(std::size_t unit, InstructionNumber number, const Rows& writes, Job job) {
    if (thread_count_ == 0) {
        job(scratch_);
        return;
    }
    while (threads_.size() < thread_count_) threads_.emplace_back([this] { work(); });
    std::unique_lock lock(mutex_);
    // When all places are taken, wait until half of them are free: fewer waits than one for each job.
    if (~taken_ == 0) work_towards({.jobs = ~Places{0}, .left = place_count / 2}, lock);
    const auto free = static_cast<std::size_t>(std::countr_one(taken_));
    Place& place = places_[free];
    place.job = std::move(job);
    place.unit = unit;
    place.number = number;
    place.writes = writes;
    place.sequence = next_sequence_++;
    place.behind = conflicts(unit, writes);
    taken_ |= bit(free);
    if (place.behind != 0) return;
    ready_ |= bit(free);
    changes_.fetch_add(1, std::memory_order_relaxed);
    threads_sleep_.notify_one();
}

ValueWorkers::Places ValueWorkers::conflicts(std::size_t unit, const Rows& writes) const {
    const VectorClock& comes_after = order_.vector_clock(unit);
    Places found = 0;
    for_each_bit(taken_, [&](std::size_t other) {
        const Place& place = places_[other];
        const bool before =
            place.unit == unit ? place.writes.overlap(writes) : place.number < comes_after[place.unit];
        const auto follows = following_.find({unit, place.unit});
        const bool is_followed = follows != following_.end() && place.sequence < follows->second;
        if (before || is_followed) found |= bit(other);
    });
    return found;
}

ValueWorkers::Places ValueWorkers::jobs_of(std::size_t unit) const {
    Places found = 0;
    for_each_bit(taken_, [&](std::size_t place) {
        if (places_[place].unit == unit) found |= bit(place);
    });
    return found;
}

void ValueWorkers::wait_for_order(std::size_t unit) {
    std::unique_lock lock(mutex_);
    const Places jobs = conflicts(unit, all_rows);
    work_towards({.jobs = jobs}, lock);
}

void ValueWorkers::wait_for_jobs(std::size_t unit) {
    std::unique_lock lock(mutex_);
    const Places jobs = jobs_of(unit);
    work_towards({.jobs = jobs}, lock);
}

void ValueWorkers::wait_for_all() {
    std::unique_lock lock(mutex_);
    work_towards({.jobs = ~Places{0}}, lock);
}

void ValueWorkers::finish() {
    wait_for_all();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ValueWorkers::work() {
    Scratch scratch;
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        if (ready_ != 0) {
            run(lock, take_ready(), scratch);
        } else {
            wait_for_change(lock, threads_sleep_);
        }
    }
}

void ValueWorkers::work_towards(const Goal& goal, std::unique_lock<std::mutex>& lock) {
    goal_ = goal;
    while (!met(goal_)) {
        if (ready_ != 0) {
            run(lock, take_ready(), scratch_);
        } else {
            wait_for_change(lock, simulation_sleeps_);
        }
    }
    if (ready_ != 0) threads_sleep_.notify_one();  // the simulation's thread does not take it now
}

std::size_t ValueWorkers::take_ready() {
    std::size_t first = place_count;
    for_each_bit(ready_, [&](std::size_t place) {
        if (first == place_count || places_[place].sequence < places_[first].sequence) first = place;
    });
    ready_ &= ~bit(first);
    return first;
}

void ValueWorkers::run(std::unique_lock<std::mutex>& lock, std::size_t place, Scratch& scratch) {
    lock.unlock();
    std::exception_ptr thrown;
    try {
        places_[place].job(scratch);
    } catch (...) {
        thrown = std::current_exception();
    }
    places_[place].job.reset();
    lock.lock();
    if (thrown && !failure_) failure_ = std::move(thrown);
    taken_ &= ~bit(place);
    for_each_bit(taken_, [&](std::size_t other) {
        Places& behind = places_[other].behind;
        if (behind == bit(place)) ready_ |= bit(other);
        behind &= ~bit(place);
    });
    // This thread takes a ready job itself or has reached its goal.
    changes_.fetch_add(1, std::memory_order_relaxed);
    const bool more_than_one = std::popcount(ready_) > 1;
    if (more_than_one) threads_sleep_.notify_one();
    if (more_than_one || met(goal_)) simulation_sleeps_.notify_one();
}

void ValueWorkers::wait_for_change(std::unique_lock<std::mutex>& lock, std::condition_variable& sleeping) {
    // Jobs take some microseconds each: sleeping at once would cost more than most waits.
    constexpr int moments = 50;
    const std::uint64_t seen = changes_.load(std::memory_order_relaxed);
    lock.unlock();
    for (int i = 0; i < moments && changes_.load(std::memory_order_relaxed) == seen; ++i) relax();
    lock.lock();
    if (changes_.load(std::memory_order_relaxed) == seen) sleeping.wait(lock);
}

}  // namespace systole::hw
