#include "sim/pool/process_pool.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <systemc>

#include "hw/common/clock.h"

using namespace systole;
using pool::Ending;
using pool::Job;
using pool::Outcome;

namespace {

/// No child is left behind, neither running nor as a zombie.
bool no_children() {
    return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD;
}

/// Ends the process as an exception that nobody catches would.
struct NoException {};

}  // namespace

TEST_CASE("Results come in the order of the jobs, whatever order they end in", "[pool]") {
    const auto workers = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{7});
    INFO("workers: " << workers);
    std::vector<Job> jobs;
    for (int i = 0; i < 20; ++i) {
        jobs.emplace_back([i] {
            ::usleep(static_cast<useconds_t>((20 - i) % 5) * 1000);
            return std::to_string(i * i);
        });
    }
    const std::vector<std::string> results = pool::run_or_throw(jobs, workers);
    REQUIRE(results.size() == jobs.size());
    for (int i = 0; i < 20; ++i) CHECK(results[static_cast<std::size_t>(i)] == std::to_string(i * i));
    CHECK(no_children());
}

TEST_CASE("No jobs give no results", "[pool]") {
    CHECK(pool::run({}).empty());
    CHECK(pool::run_or_throw({}, 3).empty());
}

TEST_CASE("Results may be empty, larger than any pipe, and hold any byte", "[pool]") {
    std::string every_byte;
    for (int byte = 0; byte < 256; ++byte) every_byte += static_cast<char>(byte);
    const std::size_t large = 5'000'000;
    const std::vector<Job> jobs{
        [] { return std::string(); }, [&] { return every_byte; }, [&] { return std::string(large, 'a'); },
        [&] { return std::string(large, 'b'); }, [&] { return std::string(large, '\0') + "."; }};
    const auto results = pool::run_or_throw(jobs, 3);
    CHECK(results[0].empty());
    CHECK(results[1] == every_byte);
    CHECK(results[2] == std::string(large, 'a'));
    CHECK(results[3] == std::string(large, 'b'));
    CHECK(results[4] == std::string(large, '\0') + ".");
}

TEST_CASE("An exception comes back with its message, and harms no other job", "[pool]") {
    const std::vector<Job> jobs{
        [] { return std::string("first"); },
        []() -> std::string { throw std::runtime_error("b.json: peak is 0; it must be more"); },
        [] { return std::string("third"); }};
    const std::vector<Outcome> outcomes = pool::run(jobs, 2);
    CHECK(outcomes[0].ending == Ending::Returned);
    CHECK(outcomes[0].bytes == "first");
    CHECK(outcomes[0].message.empty());
    CHECK(outcomes[1].ending == Ending::Threw);
    CHECK(outcomes[1].bytes.empty());
    CHECK(outcomes[1].message == "b.json: peak is 0; it must be more");
    CHECK(outcomes[2].bytes == "third");
}

TEST_CASE("A process that ends without an answer is told from one that answered", "[pool]") {
    const std::vector<Job> jobs{[]() -> std::string {
                                    ::raise(SIGKILL);
                                    return "never";
                                },
                                []() -> std::string { ::_exit(3); }, []() -> std::string { ::_exit(0); },
                                []() -> std::string {
                                    std::signal(SIGABRT, SIG_DFL);  // the test program has a handler
                                    throw NoException();
                                },
                                [] { return std::string("alive"); }};
    const std::vector<Outcome> outcomes = pool::run(jobs, 2);
    for (std::size_t i = 0; i < 4; ++i) {
        INFO(i << ": " << outcomes[i].message);
        CHECK(outcomes[i].ending == Ending::Died);
        CHECK(outcomes[i].bytes.empty());
    }
    CHECK(outcomes[0].message.find("signal 9") != std::string::npos);
    CHECK(outcomes[1].message == "its process ended with code 3 before it had answered");
    CHECK(outcomes[2].message == "its process ended with code 0 before it had answered");
    CHECK(outcomes[3].message.find("signal 6") != std::string::npos);
    CHECK(outcomes[4].bytes == "alive");
    CHECK(no_children());
}

TEST_CASE("The first job that did not return is the one that is told", "[pool]") {
    const std::vector<Job> jobs{[] { return std::string("fine"); },
                                []() -> std::string {
                                    ::usleep(20'000);  // ends after the next
                                    throw std::runtime_error("the first");
                                },
                                []() -> std::string { throw std::runtime_error("the second"); }};
    try {
        pool::run_or_throw(jobs, 3);
        FAIL("no error");
    } catch (const pool::JobError& error) {
        CHECK(std::string(error.what()) == "the first");
        CHECK(error.job() == 1);
        CHECK(error.ending() == Ending::Threw);
    }
}

TEST_CASE("At most so many jobs run at once, and each in a process of its own", "[pool]") {
    const int here = ::getpid();
    std::vector<Job> jobs(6, [] { return std::to_string(::getpid()) + " " + std::to_string(::getppid()); });
    std::vector<std::string> seen = pool::run_or_throw(jobs, 1);
    for (const std::string& text : seen) {
        CHECK(text.substr(text.find(' ') + 1) == std::to_string(here));
        CHECK(text.substr(0, text.find(' ')) != std::to_string(here));
    }
    std::sort(seen.begin(), seen.end());
    CHECK(std::unique(seen.begin(), seen.end()) == seen.end());

    // With one worker, a job begins when the one before has ended: its memory was copied then.
    int value = 0;
    jobs.assign(3, [&value] {
        ++value;  // of the copy
        return std::to_string(value);
    });
    CHECK(pool::run_or_throw(jobs, 1) == std::vector<std::string>{"1", "1", "1"});
    CHECK(value == 0);
}

TEST_CASE("Each child may hold a simulation", "[pool]") {
    std::vector<Job> jobs;
    for (unsigned cycles = 1; cycles <= 5; ++cycles) {
        jobs.emplace_back([cycles] {
            const hw::Clock clock(sc_core::sc_time(1, sc_core::SC_NS));
            sc_core::sc_spawn([&] { clock.wait_until(cycles); });
            sc_core::sc_start();
            return std::to_string(clock.now());
        });
    }
    CHECK(pool::run_or_throw(jobs, 2) == std::vector<std::string>{"1", "2", "3", "4", "5"});
}
