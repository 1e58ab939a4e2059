// Studies by schedulers that a test makes, and the commands that Slurm is given.
#include "sim/study/sweep/cluster.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "hw/machine/config_error.h"
#include "sim/study/sweep/chunk.h"
#include "tests/support/files.h"
#include "tests/support/source_dir.h"

using namespace systole;
using sweep::Database;
using sweep::Study;
using tests::Folder;

namespace {

namespace fs = std::filesystem;

/// Two points.
Study study() {
    return Study(sweep::parse_study(
        R"({"schema": "sim.study/1", "run": "mnist_cnn", "set": {"limit": 8}, "axes": {"batch": [1, 2]}})",
        fs::path(tests::source_dir()) / "configs/studies/test.json"));
}

/// Runs chunks at once, in this process, or does what a test says.
class MadeScheduler final : public sweep::Scheduler {
public:
    std::function<void(const fs::path&, std::size_t)> submits = [](const fs::path& folder,
                                                                   std::size_t chunks) {
        for (std::size_t chunk = 0; chunk < chunks; ++chunk) sweep::run_chunk(folder, chunk, {});
    };
    std::function<bool()> answers = [] { return false; };
    std::string own_ticket = {};
    int submissions = 0;
    std::vector<std::string> tickets = {};  ///< with which it was asked to go on

    void submit(const fs::path& folder, std::size_t chunks) override {
        ++submissions;
        submits(folder, chunks);
    }
    bool is_active() override { return answers(); }
    void cancel() override {}
    std::string logs(const fs::path& /*folder*/) const override { return "the logs"; }
    std::string ticket() const override { return own_ticket; }
    bool resume(const fs::path& /*folder*/, const std::string& ticket) override {
        tickets.push_back(ticket);
        return false;
    }
};

/// A study with a database, whose chunks a scheduler runs.
struct Cluster {
    Folder folder;
    Study points = study();
    Database database = Database::open(folder / "s.sqlite");
    MadeScheduler scheduler;

    Cluster() { sweep::plan(points, database); }
    void run(std::function<void(const sweep::Progress&)> progress = {}) {
        sweep::run_on_cluster(points, database, scheduler,
                              {.folder = folder / "chunks", .progress = std::move(progress)});
    }
};

TEST_CASE("Chunks that run nothing are submitted three times, and the message says where to look") {
    Cluster cluster;
    cluster.scheduler.submits = [](const fs::path&, std::size_t) {};
    CHECK_THROWS_WITH(cluster.run(),
                      Catch::Contains("the chunks ended 3 times without running a point: see the logs"));
    CHECK(cluster.scheduler.submissions == 3);
    CHECK(cluster.database.counts().pending == 2);
    // One that runs in between counts from the begin.
    Cluster other;
    const auto runs = other.scheduler.submits;
    other.scheduler.submits = [&](const fs::path& folder, std::size_t chunks) {
        if (other.scheduler.submissions == 3) runs(folder, chunks);
    };
    other.run();
    CHECK(other.scheduler.submissions == 3);
    CHECK(other.database.counts().done == 2);
}

TEST_CASE("The next process is given the ticket of jobs that may go on, and none after the last") {
    Cluster cluster;
    const auto runs = cluster.scheduler.submits;
    cluster.scheduler.submits = [](const fs::path&, std::size_t) {};
    cluster.scheduler.own_ticket = "7;west";
    cluster.scheduler.answers = []() -> bool { throw machine::ConfigError("the controller is gone"); };
    CHECK_THROWS_WITH(cluster.run(), "the controller is gone");
    cluster.scheduler.submits = runs;
    cluster.scheduler.answers = [] { return false; };
    cluster.run();
    cluster.run();
    CHECK(cluster.scheduler.tickets == std::vector<std::string>{"", "7;west", ""});
    CHECK(cluster.database.counts().done == 2);
}

TEST_CASE("Progress counts what is gathered while chunks run") {
    Cluster cluster;
    const auto runs = cluster.scheduler.submits;
    fs::path folder;
    cluster.scheduler.submits = [&](const fs::path& where, std::size_t) { folder = where; };
    int asked = 0;
    cluster.scheduler.answers = [&] {
        if (++asked == 2) runs(folder, 1);
        return asked < 3;
    };
    std::vector<sweep::Progress> told;
    sweep::run_on_cluster(cluster.points, cluster.database, cluster.scheduler,
                          {.folder = cluster.folder / "chunks",
                           .most_chunks = 1,
                           .progress = [&](const sweep::Progress& now) { told.push_back(now); }});
    REQUIRE_FALSE(told.empty());
    CHECK(told.front().counts.running == 2);
    CHECK(told.front().finished == 0);
    CHECK(told.front().seconds >= 0.0);
    CHECK(cluster.database.counts().done == 2);
}

/// Commands of these names stand before all others of PATH, as long as this lives.
class MadeCommands {
public:
    MadeCommands() : path_(std::getenv("PATH")) {
        ::setenv("PATH", (folder_.path().string() + ":" + path_).c_str(), 1);
    }
    ~MadeCommands() { ::setenv("PATH", path_.c_str(), 1); }
    MadeCommands(const MadeCommands&) = delete;
    MadeCommands& operator=(const MadeCommands&) = delete;

    /// A command that notes its arguments and prints a line.
    void add(const std::string& name, const std::string& prints) const {
        const std::string file = folder_.file(
            name, "#!/bin/sh\necho \"$@\" >> '" + log(name).string() + "'\necho '" + prints + "'\n");
        fs::permissions(file, fs::perms::owner_all);
    }
    std::string arguments(const std::string& name) const { return tests::text_in(log(name)); }

private:
    fs::path log(const std::string& name) const { return folder_ / (name + ".arguments"); }

    Folder folder_;
    std::string path_;
};

TEST_CASE("Slurm is asked for the job that it was given, on its cluster") {
    struct Job {
        std::string printed;
        std::string asked;
        std::string cancelled;
    };
    for (const Job& job :
         {Job{"7", "--noheader --jobs=7 --format=%T\n", "7\n"},
          Job{"123;west", "--noheader --clusters=west --jobs=123 --format=%T\n", "--clusters=west 123\n"}}) {
        CAPTURE(job.printed);
        const Folder folder;
        const MadeCommands commands;
        commands.add("sbatch", job.printed);
        commands.add("squeue", "RUNNING");
        commands.add("scancel", "");
        const auto scheduler = sweep::slurm({});
        scheduler->submit(folder.path(), 3);
        CHECK(commands.arguments("sbatch") == "--parsable " + (folder / "job.sh").string() + "\n");
        CHECK(tests::text_in(folder / "job.sh").find("#SBATCH --array=0-2\n") != std::string::npos);
        CHECK(scheduler->ticket() == job.printed);
        CHECK(scheduler->is_active());
        CHECK(commands.arguments("squeue") == job.asked);
        scheduler->cancel();
        CHECK(commands.arguments("scancel") == job.cancelled);
        // Another process goes on with the ticket.
        const auto next = sweep::slurm({});
        CHECK(next->resume(folder.path(), job.printed));
        CHECK(commands.arguments("squeue") == job.asked + job.asked);
        CHECK_FALSE(sweep::slurm({})->resume(folder.path(), ""));
    }
}

}  // namespace
