#include "hw/common/value_workers.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "hw/isa/queue.h"

using namespace systole;

namespace {

using namespace systole::hw;
using Scratch = ValueWorkers::Scratch;

/// Instructions as the units would begin them, in program order.
class Program {
public:
    explicit Program(std::size_t threads) : workers(order_, threads) {}

    /// Begins the next instruction, on this unit, which comes after the given instructions.
    InstructionNumber begin(std::size_t unit, const VectorClock& behind = VectorClock()) {
        order_.merge(unit, behind);
        order_.issue(unit, next_, {});
        order_.begin(unit, next_);
        return next_++;
    }
    const VectorClock& vector_clock(std::size_t unit) const { return order_.vector_clock(unit); }

private:
    OrderChecker order_;
    InstructionNumber next_ = 0;

public:
    ValueWorkers workers;  // ends before what it refers to
};

/// A job that keeps a thread busy until it is let go.
class Busy {
public:
    /// Hands over the first job, which a thread takes when it starts.
    void start(Program& program, std::size_t unit, const ValueWorkers::Rows& rows) {
        program.workers.compute(unit, program.begin(unit), rows, [this](Scratch&) {
            started_ = true;
            while (!let_go_) std::this_thread::yield();
            done_ = true;
        });
        while (!started_) std::this_thread::yield();
    }
    void let_go() { let_go_ = true; }
    bool done() const { return done_; }

private:
    std::atomic<bool> started_ = false;
    std::atomic<bool> let_go_ = false;
    std::atomic<bool> done_ = false;
};

/// Waits long enough that every job that may run has run.
void let_others_run() {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

}  // namespace

TEST_CASE("Without threads, a job has run when it has been handed over", "[hw][value_workers]") {
    Program program(0);
    int value = 0;
    program.workers.compute(0, program.begin(0), ValueWorkers::all_rows, [&](Scratch&) { value = 7; });
    CHECK(value == 7);
}

TEST_CASE("The jobs of a unit run in its order, however many there are", "[hw][value_workers]") {
    const std::size_t threads = GENERATE(0U, 1U, 3U);
    constexpr int jobs = 1000;  // many times the places there are
    Program program(threads);
    std::vector<int> order;
    for (int job = 0; job < jobs; ++job) {
        program.workers.compute(2, program.begin(2), ValueWorkers::all_rows,
                                [&order, job](Scratch&) { order.push_back(job); });
    }
    program.workers.finish();
    REQUIRE(order.size() == jobs);
    for (int job = 0; job < jobs; ++job) CHECK(order[static_cast<std::size_t>(job)] == job);
}

TEST_CASE("A job waits for exactly those instructions of other units that it comes after",
          "[hw][value_workers]") {
    Program program(2);
    Busy first;
    std::atomic<bool> ordered_saw_first = false;
    std::atomic<bool> unordered = false;
    first.start(program, 0, ValueWorkers::all_rows);
    program.workers.compute(1, program.begin(1, program.vector_clock(0)), ValueWorkers::all_rows,
                            [&](Scratch&) { ordered_saw_first = first.done(); });
    program.workers.compute(2, program.begin(2), ValueWorkers::all_rows, [&](Scratch&) { unordered = true; });
    program.workers.wait_for_jobs(2);
    CHECK(unordered);
    let_others_run();
    CHECK_FALSE(first.done());
    first.let_go();
    program.workers.wait_for_order(1);
    CHECK(first.done());
    CHECK(ordered_saw_first);
    program.workers.finish();
}

TEST_CASE("Jobs of a unit run side by side where they write other rows", "[hw][value_workers]") {
    Program program(2);
    Busy first;
    std::atomic<bool> beside = false;
    std::atomic<bool> behind = false;
    first.start(program, 3, {10, 20});
    program.workers.compute(3, program.begin(3), {20, 30}, [&](Scratch&) { beside = true; });
    program.workers.compute(3, program.begin(3), {19, 20}, [&](Scratch&) { behind = true; });
    program.workers.compute(4, program.begin(4), ValueWorkers::all_rows, [](Scratch&) {});
    program.workers.wait_for_jobs(4);
    while (!beside) std::this_thread::yield();  // handed over before what was waited for
    let_others_run();
    CHECK_FALSE(behind);
    first.let_go();
    program.workers.finish();
    CHECK(behind);
}

TEST_CASE("wait_for_jobs returns when the unit's jobs are done", "[hw][value_workers]") {
    const std::size_t threads = GENERATE(0U, 1U, 3U);
    constexpr int jobs = 30;
    Program program(threads);
    int done = 0;
    for (int job = 0; job < jobs; ++job) {
        program.workers.compute(4, program.begin(4), ValueWorkers::all_rows, [&](Scratch&) {
            std::this_thread::sleep_for(std::chrono::microseconds(100));
            ++done;
        });
    }
    program.workers.wait_for_jobs(4);
    CHECK(done == jobs);
}

TEST_CASE("Memory of a thread is there for its next job", "[hw][value_workers]") {
    Program program(0);
    program.workers.compute(0, program.begin(0), ValueWorkers::all_rows,
                            [](Scratch& scratch) { scratch.assign(100, 7); });
    std::size_t size = 0;
    program.workers.compute(0, program.begin(0), ValueWorkers::all_rows,
                            [&](Scratch& scratch) { size = scratch.size(); });
    CHECK(size == 100);
}

TEST_CASE("An exception of a job is rethrown once by finish, and the other jobs run", "[hw][value_workers]") {
    Program program(1);
    bool after = false;
    program.workers.compute(0, program.begin(0), ValueWorkers::all_rows,
                            [](Scratch&) { throw std::logic_error("a bug"); });
    program.workers.compute(0, program.begin(0), ValueWorkers::all_rows, [&](Scratch&) { after = true; });
    CHECK_THROWS_WITH(program.workers.finish(), "a bug");
    CHECK(after);
    CHECK_NOTHROW(program.workers.finish());
}

TEST_CASE("wait_for_all runs a job and destroys it", "[hw][value_workers]") {
    const auto alive = std::make_shared<int>(0);
    {
        Program program(1);
        program.workers.compute(0, program.begin(0), ValueWorkers::all_rows, [alive](Scratch&) { ++*alive; });
        program.workers.wait_for_all();
        CHECK(alive.use_count() == 1);
    }
    CHECK(*alive == 1);
}

TEST_CASE("Values do not depend on the threads: random programs", "[hw][value_workers]") {
    const unsigned seed = GENERATE(take(20, random(0U, 1U << 30U)));
    CAPTURE(seed);
    constexpr std::size_t rows = 12;
    constexpr int instructions = 400;
    // Every instruction reads two rows and writes one, and comes after what it conflicts with: all that
    // its unit and, when it has to wait, any other unit has begun.
    const auto values = [&](std::size_t threads) {
        std::mt19937 random(seed);
        Program program(threads);
        std::array<std::uint64_t, rows> memory{};
        std::array<std::size_t, rows> writer{};
        std::array<std::array<bool, isa::queue_count>, rows> readers{};
        writer.fill(isa::queue_count);
        for (int number = 0; number < instructions; ++number) {
            const std::size_t unit = random() % isa::queue_count;
            const std::size_t a = random() % rows;
            const std::size_t b = random() % rows;
            const std::size_t out = random() % rows;
            VectorClock behind;
            const auto after = [&](std::size_t other) {
                if (other == isa::queue_count || other == unit) return;
                for (std::size_t u = 0; u < isa::queue_count; ++u)
                    behind[u] = std::max(behind[u], program.vector_clock(other)[u]);
            };
            for (const std::size_t row : {a, b, out}) after(writer[row]);
            for (std::size_t u = 0; u < isa::queue_count; ++u) {
                if (readers[out][u]) after(u);
                readers[out][u] = false;
            }
            writer[out] = unit;
            readers[a][unit] = readers[b][unit] = true;
            program.workers.compute(unit, program.begin(unit, behind), ValueWorkers::all_rows,
                                    [&memory, a, b, out, number](Scratch&) {
                                        memory[out] =
                                            memory[a] * 31 + memory[b] + static_cast<std::uint64_t>(number);
                                    });
        }
        program.workers.finish();
        return memory;
    };
    const auto in_order = values(0);
    CHECK(values(1) == in_order);
    CHECK(values(3) == in_order);
}

TEST_CASE("A unit follows another one's jobs so far, also where no order is known", "[hw][value_workers]") {
    Program program(2);
    Busy before;
    Busy after;
    before.start(program, 1, ValueWorkers::all_rows);
    program.workers.follow(2, 1);
    std::atomic<bool> ran = false;
    std::atomic<bool> ran_behind = false;
    program.workers.compute(2, program.begin(2), {0, 1}, [&](Scratch&) {
        ran = true;
        ran_behind = before.done();
    });
    let_others_run();
    CHECK(!ran);
    before.let_go();
    program.workers.wait_for_all();
    CHECK(ran_behind);
    // Not those that come later.
    after.start(program, 1, ValueWorkers::all_rows);
    ran = false;
    program.workers.compute(2, program.begin(2), {0, 1}, [&](Scratch&) { ran = true; });
    while (!ran) std::this_thread::yield();
    CHECK(!after.done());
    after.let_go();
    program.workers.finish();
}

TEST_CASE("A unit follows its own jobs, whatever rows they write", "[hw][value_workers]") {
    Program program(2);
    Busy before;
    before.start(program, 1, {0, 1});
    program.workers.follow(1, 1);
    std::atomic<bool> ran = false;
    program.workers.compute(1, program.begin(1), {5, 6}, [&](Scratch&) { ran = true; });
    let_others_run();
    CHECK(!ran);
    before.let_go();
    program.workers.finish();
    CHECK(ran);
}
