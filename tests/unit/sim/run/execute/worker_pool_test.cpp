#include "sim/run/execute/worker_pool.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/run/run_config.h"
#include "tests/support/source_dir.h"

using namespace systole;
using run::Task;

TEST_CASE("What a killed worker had in its queue is run by another, whatever the machine's speed", "[run]") {
    run::RunConfig config;
    config.machine = std::string(tests::source_dir()) + "/configs/machines/tpu_v1.json";
    config.model = std::string(tests::source_dir()) + "/models/isca17/cnn0.json";
    config.timing_only = true;
    constexpr std::uint64_t count = 24;
    std::vector<Task> all;
    for (std::uint64_t number = 1; number <= count; ++number) {
        config.batch = static_cast<std::uint32_t>(number);
        all.push_back({.number = number, .spec = run::make_spec(config)});
    }

    // Every task is a short one, so that the worker has another in its queue when it is killed.
    run::WorkerPool pool(1, {}, std::chrono::hours(1));
    pid_t worker = 0;
    std::map<std::uint64_t, std::vector<char>> answers;  // their kinds, by task
    std::size_t kills = 0;
    pool.run([&] { return std::exchange(all, {}); },
             [&](std::uint64_t number, const std::string& answer) {
                 answers[number].push_back(answer.front());
                 if (answers.size() % 5 != 4 || answer.front() == run::died_message) return;
                 ++kills;
                 ::kill(worker, SIGKILL);
             },
             [&](pid_t process, const Task&) { worker = process; });
    CHECK(kills >= 3);
    CHECK(answers.size() == count);
    std::size_t died = 0;
    for (const auto& [number, kinds] : answers) {
        CAPTURE(number);
        REQUIRE(kinds.size() == 1);
        if (kinds.front() == run::died_message) {
            ++died;
        } else {
            CHECK(kinds.front() == run::record_message);
        }
    }
    CHECK(died >= 1);
    CHECK(died <= kills);
}
