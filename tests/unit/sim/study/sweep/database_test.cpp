#include "sim/study/sweep/database.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sim/study/sweep/owner.h"
#include "tests/support/files.h"

using namespace systole;
using sweep::Claim;
using sweep::Database;
using sweep::PlannedPoint;

namespace {

std::vector<PlannedPoint> three_points() {
    return {{.number = 1, .settings = R"({"batch":1})", .key = "a"},
            {.number = 2, .settings = R"({"batch":2})", .key = "b"},
            {.number = 5, .settings = R"({"batch":5})", .key = "c"}};
}

void plan(Database& database, const std::vector<PlannedPoint>& points,
          const std::string& fingerprint = "same") {
    database.plan(points, std::vector<std::string>{"batch"}, std::vector<std::string>{"cycles"},
                  {.study = "{}", .fingerprint = fingerprint});
}

std::vector<std::uint64_t> numbers(const std::vector<Claim>& claims) {
    std::vector<std::uint64_t> all;
    for (const Claim& claim : claims) all.push_back(claim.number);
    return all;
}

std::string states(Database& database) {
    std::string text;
    for (const sweep::StoredPoint& point : database.points()) text += point.state.substr(0, 1);
    return text;
}

/// Does something in another process, which then dies by signal 9.
void in_killed_process(const std::function<void()>& work) {
    const pid_t process = ::fork();
    if (process == 0) {
        work();
        ::raise(SIGKILL);
    }
    int status = 0;
    ::waitpid(process, &status, 0);
    REQUIRE(WIFSIGNALED(status));
}

using Numbers = std::vector<std::uint64_t>;

TEST_CASE("Points are claimed in order, once, and keep their results") {
    const tests::Folder folder;
    Database database = Database::open(folder / "s.sqlite");
    plan(database, three_points());
    CHECK(numbers(database.claim(2)) == Numbers{1, 2});
    CHECK(numbers(database.claim(2)) == Numbers{5});
    CHECK(database.claim(2).empty());
    database.finish("a", {.metrics = R"({"cycles":7})", .record = "bytes", .wall_seconds = 0.5});
    database.finish("b", {.spec = "spec", .error = "too small"});
    database.give_back("c");
    CHECK(states(database) == "dfp");
    CHECK(database.points()[1].error == "too small");
    CHECK(database.record(1) == "bytes");
    CHECK_FALSE(database.record(2));
    CHECK(numbers(database.claim(9)) == Numbers{5});
    CHECK(database.counts().running == 1);

    sqlite::Connection reader(folder / "s.sqlite", sqlite::Connection::Mode::Read);
    sqlite::Statement view(reader, "SELECT point, batch, state, cycles, attempts, version FROM results");
    REQUIRE(view.step());
    CHECK(view.integer(1) == 1);
    CHECK(view.integer(3) == 7);
    CHECK(view.integer(4) == 1);
    CHECK(view.text(5) == SYSTOLE_VERSION);
    REQUIRE(view.step());
    CHECK(view.text(2) == "failed");
    CHECK(view.is_null(3));
    CHECK(view.text(5) == SYSTOLE_VERSION);
    REQUIRE(view.step());
    CHECK(view.text(5) == SYSTOLE_VERSION);  // it is running
}

TEST_CASE("A point that is given back waits for those behind it") {
    const tests::Folder folder;
    Database database = Database::open(folder / "s.sqlite");
    plan(database, three_points());
    CHECK(numbers(database.claim(1)) == Numbers{1});
    database.give_back("a");
    CHECK(numbers(database.claim(1)) == Numbers{2});
    CHECK(numbers(database.claim(1)) == Numbers{5});
    CHECK(numbers(database.claim(1)) == Numbers{1});
    CHECK(database.claim(1).empty());
}

TEST_CASE("A changed study finds the runs that it has") {
    const tests::Folder folder;
    {
        Database database = Database::open(folder / "s.sqlite");
        plan(database, three_points());
        database.claim(1);
        database.finish("a", {.metrics = "{}", .record = "bytes"});
    }
    Database database = Database::open(folder / "s.sqlite");
    plan(database, {{.number = 1, .settings = R"({"batch":9})", .key = "d"},
                    {.number = 2, .settings = R"({"batch":1})", .key = "a"},
                    {.number = 3, .settings = R"({"batch":0})", .key = "e", .error = "batch is 0"}});
    CHECK(states(database) == "pdf");
    CHECK(database.points()[2].error == "batch is 0");
}

TEST_CASE("A new file of results removes what killed processes left of it") {
    const tests::Folder folder;
    const auto old = folder / "s.sqlite.part-1";
    const auto young = folder / "s.sqlite.part-2";
    for (const auto& part : {old, young}) std::ofstream(part) << "part";
    std::filesystem::last_write_time(old,
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
    Database::open(folder / "s.sqlite");
    CHECK_FALSE(std::filesystem::exists(old));
    CHECK(std::filesystem::exists(young));
}

TEST_CASE("Equal specs are run once, for all their points") {
    const tests::Folder folder;
    Database database = Database::open(folder / "s.sqlite");
    plan(database,
         {{.number = 1, .settings = "{}", .key = "a"}, {.number = 2, .settings = "{}", .key = "a"}});
    CHECK(numbers(database.claim(9)) == Numbers{1});
    database.finish("a", {.metrics = "{}", .record = "bytes"});
    CHECK(states(database) == "dd");
}

TEST_CASE("A point that ends leaves the number of all points as it is", "[sweep]") {
    sweep::Counts counts{.pending = 1, .running = 2};
    counts.end_one(false);
    counts.end_one(true);  // it was running when the points were counted
    CHECK(counts.pending == 0);
    CHECK(counts.running == 1);
    CHECK(counts.done == 1);
    CHECK(counts.failed == 1);
    CHECK(counts.all() == 3);
}

TEST_CASE("A selection restricts what is claimed, counted and shown") {
    const tests::Folder folder;
    Database database = Database::open(folder / "s.sqlite");
    plan(database, three_points());
    database.select(Numbers{2, 5});
    CHECK(database.counts().all() == 2);
    CHECK(numbers(database.claim(9)) == Numbers{2, 5});
    database.finish("b", {.error = "no"});
    database.select(Numbers{1});
    CHECK(database.retry_failed() == 0);
    database.select(Numbers{1, 2});
    CHECK(database.retry_failed() == 1);
    CHECK(states(database) == "pp");
}

TEST_CASE("The points of a process that was killed are free again, those of a living one are not") {
    const tests::Folder folder;
    const auto file = folder / "s.sqlite";
    {
        Database database = Database::open(file);
        plan(database, three_points());
    }
    Database mine = Database::open(file);
    CHECK(numbers(mine.claim(1)) == Numbers{1});
    in_killed_process([&] {
        Database other = Database::open(file);
        other.claim(1);
    });
    CHECK(states(mine) == "rrp");
    CHECK(mine.free_points_of_the_dead() == 1);
    CHECK(states(mine) == "rpp");
    {
        Database third = Database::open(file);
        CHECK(third.free_points_of_the_dead() == 0);  // this process lives
        CHECK(numbers(third.claim(9)) == Numbers{2, 5});
        third.finish("a", {.metrics = "{}", .record = "of another"});  // not its own
    }
    CHECK(states(mine) == "rrr");
    CHECK_FALSE(mine.record(1));
}

TEST_CASE("A run whose process dies three times fails, and says so") {
    const tests::Folder folder;
    Database database = Database::open(folder / "s.sqlite");
    plan(database, {{.number = 1, .settings = "{}", .key = "a"}});
    for (const char* const state : {"p", "p", "f"}) {
        CHECK(database.claim(1).size() == 1);
        database.give_back("a", "its process was ended by signal 9 (Killed)");
        CHECK(states(database) == state);
    }
    CHECK(database.points()[0].error == "its process was ended by signal 9 (Killed), in each of 3 attempts");
    CHECK(database.retry_failed() == 1);
    database.claim(1);
    database.give_back("a", "again");
    CHECK(states(database) == "p");  // counted from the begin
}

TEST_CASE("A file that is no study's results is refused and left alone") {
    const tests::Folder folder;
    const std::string text = folder.file(
        "text.sqlite", "no database, but long enough to be read as one: " + std::string(4096, 'x'));
    CHECK_THROWS_WITH(Database::open(text),
                      Catch::StartsWith(text + ": ") && Catch::Contains("not a database"));
    const auto other = folder / "other.sqlite";
    sqlite::Connection(other, sqlite::Connection::Mode::Write).run("CREATE TABLE t(x)");
    CHECK_THROWS_WITH(Database::open(other), Catch::Contains("no file of a study's results"));
    CHECK_THROWS_WITH(Database::open_to_read(folder / "none.sqlite"),
                      Catch::Contains("there is no such file"));
}

TEST_CASE("A file of results is a regular file") {
    const tests::Folder folder;
    const std::filesystem::path pipe = folder / "pipe.sqlite";
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    const std::string rule = pipe.string() + ": is a pipe; it must be a regular file";
    CHECK_THROWS_WITH(Database::open(pipe), rule);
    CHECK_THROWS_WITH(Database::open_to_read(pipe), rule);
    std::filesystem::create_directory(folder / "folder.sqlite");
    CHECK_THROWS_WITH(Database::open(folder / "folder.sqlite"), Catch::Contains("is a directory"));
}

TEST_CASE("A file that cannot be made leaves nothing") {
    // A full disk is a small limit on the size of files.
    const tests::Folder folder;
    in_killed_process([&] {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit most{.rlim_cur = 2048, .rlim_max = 2048};
        ::setrlimit(RLIMIT_FSIZE, &most);
        try {
            Database::open(folder / "study.sqlite");
        } catch (const sqlite::DatabaseError& error) {
            std::ofstream(folder / "error") << error.what();
        }
    });
    CHECK_THAT(tests::text_in(folder / "error"), Catch::Contains("study.sqlite"));
    std::filesystem::remove(folder / "error");
    CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("Who waits for another process is told so, once") {
    const tests::Folder folder;
    const auto file = folder / "study.sqlite";
    Database::open(file);
    std::vector<std::string> told;
    sqlite::tell_waiting([&](const std::string& name) { told.push_back(name); });
    {
        // The same process stands for another one: SQLite knows connections.
        sqlite::Connection other(file, sqlite::Connection::Mode::Write);
        std::optional<sqlite::Transaction> lock(std::in_place, other);
        std::thread end([&] {
            while (told.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
            lock.reset();
        });
        Database database = Database::open(file);
        plan(database, three_points());
        end.join();
    }
    sqlite::tell_waiting({});
    CHECK(told == std::vector{file.string()});
}

TEST_CASE("A process is known by number, begin and boot") {
    const sweep::Owner me = sweep::this_process();
    CHECK(sweep::is_alive(me));
    sweep::Owner other = me;
    other.begin += 1;  // the number belongs to another process now
    CHECK_FALSE(sweep::is_alive(other));
    other = me;
    other.boot += "x";
    CHECK_FALSE(sweep::is_visible(other));
}

}  // namespace
