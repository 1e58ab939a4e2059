// `sim sweep` as users start it.
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/study_contents.h"
#include "tests/system/sim_process.h"
#include "tests/system/started.h"

using namespace systole;
using namespace systole::tests;

namespace {

constexpr const char* small =
    "sweep mnist_cnn --limit 8 --name s --axis batch=1,2,4,8 --axis mapping=best,plain ";

TEST_CASE("A study prints a table, keeps its results, and goes on with them", "[system]") {
    const Folder folder;
    const std::string out = "--out " + folder.path().string();
    const Outcome first = sim(small + out + " --points 1-3");
    INFO(first.err);
    CHECK(first.exit_code == 0);
    CHECK_THAT(first.out,
               Catch::Contains("inferences_per_second") && Catch::Contains("3 of 3 points are done"));
    const Outcome all = sim(small + out + " --json");
    REQUIRE(all.exit_code == 0);
    const auto answer = all.json();
    REQUIRE(answer.at("points").size() == 8);
    for (const auto& point : answer.at("points")) CHECK(point.at("state") == "done");

    // A point's command line gives the numbers of the point.
    const auto& point = answer.at("points").at(5);
    std::string command = answer.at("command");
    for (const auto& [key, value] : point.at("settings").items()) {
        command += " --set " + key + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
    }
    const auto report = bash(command + " --json", project).json();
    CHECK(report.at("cycles") == point.at("metrics").at("cycles"));
    CHECK(report.at("inferences_per_second") == point.at("metrics").at("inferences_per_second"));

    // The file alone answers, too.
    const std::string file = (folder / "s.sqlite").string();
    const Outcome best = sim("sweep " + file + " --best inferences_per_second --subject-to 'batch <= 4'");
    CHECK(best.exit_code == 0);
    CHECK_THAT(best.out, Catch::Contains("point 5, batch=4, mapping=best"));
    CHECK_THAT(best.out, Catch::Contains("--set batch=4 --set mapping=best"));
    CHECK_THAT(sim("sweep " + file + " --pivot batch,mapping,cycles").out,
               Catch::Contains("batch \\ mapping"));
    CHECK(sim("sweep " + file + " --csv " + (folder / "s.csv").string()).exit_code == 0);
    CHECK(text_in(folder / "s.csv").starts_with("point,batch,mapping,state,cycles,"));

    // And a point has its page.
    CHECK(sim(small + out + " --report 5").exit_code == 0);
    CHECK(text_in(folder / "s_5/report.html").find("<html") != std::string::npos);
}

TEST_CASE("A study in which points failed says which, and ends with code 1", "[system]") {
    const Outcome outcome =
        sim("sweep mnist_cnn --limit 4 --axis machine.unified_buffer.rows=98304,16 "
            "--axis batch=1,2");
    CHECK(outcome.exit_code == 1);
    CHECK_THAT(outcome.out, Catch::Contains("2 of 4 points are done, 2 failed") &&
                                Catch::Contains("point 3 and 1 more: ") && Catch::Contains("unified buffer"));
}

TEST_CASE("Wrong studies are refused before anything runs", "[system]") {
    const Folder folder;
    const std::string out = " --out " + folder.path().string();
    const auto refused = [&](const std::string& arguments, const std::string& message) {
        const Outcome outcome = sim("sweep " + arguments + out);
        INFO(arguments);
        INFO(outcome.err);
        CHECK(outcome.exit_code == 2);
        CHECK(outcome.out.empty());
        CHECK_THAT(outcome.err, Catch::StartsWith("sim: ") && Catch::Contains(message));
        CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    };
    refused("mnist_cnn", "needs an axis");
    refused("mnist_cnn --axis bach=1", "did you mean \"batch\"?");
    refused("mnist_cnn --axis batch=0", "batch is 0");
    refused("mnist_cnn --axis batch=1 --set batch=2", "it has 1");
    refused("mnist_cnn --axis batch=1 --where 'batch >'", "where is");
    refused("mnist_cnn --axis batch=1 --metric 'm=tops.peek' --limit 1", "did you mean \"tops.peak\"?");
    refused("mnist_cnn --axis batch=1 --subject-to 'batch < 2'", "goes with --best");
    refused("mnist_cnn --axis batch=1 --seed 2", "goes with a sample");
    refused("mnist_cm --axis batch=1", "mnist_cnn");
    refused("none.sqlite", "results are shown as they are");
    CHECK_THAT(sim("sweep none.sqlite").err, Catch::Contains("cannot be opened"));
    const std::string study = folder.file("study.json", R"({"schema": "sim.study/2", "axes": {}})");
    refused(study, "schema is \"sim.study/2\"; it must be \"sim.study/1\"");
}

TEST_CASE("Requests that arrive at random have latencies, and a limit a largest load", "[system]") {
    const std::string run = "run --machine tpu_v1 --model mlp0 --timing-only --batch 200 --json ";
    const auto requests = sim(run + "--arrivals 100000 --limit 2ms").json().at("requests");
    CHECK(requests.at("limit_ms") == 2.0);
    CHECK(requests.at("p50_ms") < requests.at("p99_ms"));
    CHECK(requests.at("p50_ms") > requests.at("batch_ms"));
    CHECK(requests.at("p99_ms") < 2.1 * requests.at("batch_ms").get<double>());
    CHECK(requests.at("most_per_second") <= requests.at("capacity_per_second"));
    CHECK(sim(run + "--arrivals 100000 --latency-limit 2000us").json().at("requests") == requests);
    CHECK(sim(run + "--arrivals 100000 --limit 2ms --arrival-seed 2").json().at("requests") != requests);
    CHECK(sim(run).json().at("requests").is_null());
    const auto too_many = sim(run + "--arrivals 1000000").json().at("requests");
    CHECK(too_many.at("p99_ms").is_null());
    CHECK_THAT(sim("run --machine tpu_v1 --model mlp0 --timing-only --batch 200 --arrivals 1000000").out,
               Catch::Contains("the queue grows"));
    CHECK_THAT(sim(run + "--latency-limit 7").err, Catch::Contains("it must be a time, as in 7ms"));
    CHECK(sim(run + "--limit 7minutes").exit_code == 2);

    const auto study = sim("sweep table_4 --json").json();
    double before = 0.0;
    for (const auto& point : study.at("points")) {
        REQUIRE(point.at("state") == "done");
        const double most = point.at("metrics").at("requests_within_limit");
        CHECK(most > before);  // larger batches serve more
        before = most;
    }
}

TEST_CASE("The shipped studies' points all run", "[system]") {
    for (const auto& entry : std::filesystem::directory_iterator(project / "configs/studies")) {
        const Outcome outcome = sim("sweep " + entry.path().string() + " --limit 1 --no-run --json");
        INFO(entry.path());
        INFO(outcome.err);
        CHECK(outcome.exit_code == 0);
        const auto answer = outcome.json();
        for (const auto& point : answer.at("points")) CHECK(point.at("state") == "pending");
    }
}

int from_environment(const char* name, int otherwise) {
    const char* const text = std::getenv(name);
    return text == nullptr ? otherwise : std::atoi(text);
}

// SYSTOLE_KILLS and SYSTOLE_KILL_POINTS make it longer: `make kill-test`.
TEST_CASE("Killed processes lose only the points under way", "[system]") {
    const int kills = from_environment("SYSTOLE_KILLS", 6);
    const int points = from_environment("SYSTOLE_KILL_POINTS", 24);
    const Folder folder;
    const std::string study =
        "sweep mnist_cnn --limit 64 --name s --workers 2 --quiet --axis machine.clock_mhz=1:" +
        std::to_string(points) + ":+1 --out ";
    CHECK(sim(study + (folder / "calm").string()).exit_code == 0);

    const unsigned seed = static_cast<unsigned>(from_environment("SYSTOLE_KILL_SEED", 1));
    CAPTURE(seed);
    std::mt19937 random(seed);
    const std::string disturbed = study + (folder / "killed").string();
    int killed = 0;
    int killed_parents = 0;
    while (killed < kills) {
        Started sweep(disturbed, folder);
        while (killed < kills && !sweep.has_ended()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(random() % 120));
            std::vector<pid_t> all = descendants(sweep.process());
            all.push_back(sweep.process());
            const pid_t victim = all[random() % all.size()];
            if (::kill(victim, SIGKILL) != 0) continue;
            ++killed;
            if (victim == sweep.process()) ++killed_parents;
        }
        if (!sweep.has_ended()) ::kill(sweep.process(), SIGKILL);
        if (sweep.has_ended() && killed < kills) {
            // It finished in between: run some of it again, to be killed. Or it had hardly begun.
            if (!std::filesystem::exists(folder / "killed/s.sqlite")) continue;
            sweep::Database database = sweep::Database::open(folder / "killed/s.sqlite");
            if (database.counts().pending + database.counts().running > 0) continue;
            sqlite::Connection(folder / "killed/s.sqlite", sqlite::Connection::Mode::Write)
                .run("UPDATE runs SET state = 'pending'");
        }
    }
    CAPTURE(killed, killed_parents);
    // Every attempt counts the deaths of its own workers only: a point may have failed by three kills.
    const Outcome last = sim(disturbed + " --retry-failed");
    INFO(last.err);
    CHECK(last.exit_code == 0);
    CHECK(study_contents(folder / "killed/s.sqlite") == study_contents(folder / "calm/s.sqlite"));
}

TEST_CASE("Two sweeps of one study share its points", "[system]") {
    const Folder folder;
    const std::string study =
        "sweep mnist_cnn --limit 64 --name s --workers 1 --quiet --axis machine.clock_mhz=1:16:+1 "
        "--out " +
        folder.path().string();
    {
        const Folder of_first;
        const Folder of_second;
        Started first(study, of_first);
        Started second(study, of_second);
        CHECK(first.wait() == 0);
        CHECK(second.wait() == 0);
        CHECK(own_messages(text_in(of_second / "err")).empty());
    }
    sqlite::Connection reader(folder / "s.sqlite", sqlite::Connection::Mode::Read);
    sqlite::Statement read(reader, "SELECT count(*), sum(attempts), sum(state = 'done') FROM runs");
    REQUIRE(read.step());
    CHECK(read.integer(0) == 16);
    CHECK(read.integer(1) == 16);
    CHECK(read.integer(2) == 16);
}

TEST_CASE("Ctrl-C finishes what runs, and the same command goes on", "[system]") {
    const Folder folder;
    const std::string study =
        "sweep mnist_cnn --limit 500 --name s --workers 1 --axis machine.clock_mhz=1:64:+1 "
        "--out " +
        folder.path().string();
    Started sweep(study, folder);
    // When a point is done, the others still are to come.
    while (true) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        REQUIRE_FALSE(sweep.has_ended());
        if (!std::filesystem::exists(folder / "s.sqlite-wal")) continue;
        sweep::Database database = sweep::Database::open_to_read(folder / "s.sqlite");
        if (database.counts().done > 0) break;
    }
    ::kill(sweep.process(), SIGINT);
    CHECK(sweep.wait() == 130);
    CHECK_THAT(text_in(folder / "err"),
               Catch::Contains("interrupted: ") && Catch::Contains("of 64 points are finished"));
    {
        sweep::Database database = sweep::Database::open_to_read(folder / "s.sqlite");
        CHECK(database.counts().running == 0);
        CHECK(database.counts().done < 64);
    }
    CHECK(sim(study).exit_code == 0);
}

}  // namespace
