// `sim sweep` as users start it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/whole_file.h"
#include "sim/study/sweep/sqlite.h"
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
    CHECK_THAT(best.out, Catch::Contains("1/s: point 5,") && Catch::Contains("batch=4, mapping=best."));
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

TEST_CASE("A value of an axis that no run allows is blamed on the study's file", "[system]") {
    const Folder folder;
    const std::string file = (folder / "clocks.json").string();
    const auto run = [&](const std::string& axes) {
        write_file(file, R"({"schema": "sim.study/1", "run": "mnist_cnn", "set": {"limit": 4}, "axes": {)" +
                             axes + "}}");
        return sim("sweep " + file);
    };
    const std::string blamed =
        file + ": axes.machine.clock_mhz is -1; it must be a number from 0.001 to 1000000 MHz";
    const Outcome all = run(R"("machine.clock_mhz": [-1])");
    CHECK(all.exit_code == 2);
    CHECK(all.err == "sim: " + blamed + "\n");
    const Outcome some = run(R"("machine.clock_mhz": [-1, 700])");
    CHECK(some.exit_code == 1);
    std::string words = some.out;  // without the ends of lines
    for (std::size_t at = words.find("\n    "); at != std::string::npos; at = words.find("\n    ")) {
        words.replace(at, 5, " ");
    }
    CHECK_THAT(words, Catch::Contains("point 1: " + blamed) && !Catch::Contains("command line"));
}

TEST_CASE("The best of a study tells that it is at the end of an axis, in text and page", "[system]") {
    const Folder folder;
    const Outcome outcome =
        sim("sweep mnist_cnn --limit 64 --name s --axis machine.matrix_unit.rows=64,128 --axis "
            "machine.matrix_unit.columns=64,128 --where 'machine.matrix_unit.rows == "
            "machine.matrix_unit.columns' "
            "--axis batch=8,16,32 --best inferences_per_second --out " +
            folder.path().string());
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    std::string words = outcome.out;
    std::ranges::replace(words, '\n', ' ');
    const std::string edge =
        "The best has machine.matrix_unit.rows = 128, machine.matrix_unit.columns = 128 and batch = 32, the "
        "largest of their axes: larger ones may be better.";
    CHECK_THAT(words, Catch::Contains(edge));
    const std::string page = text_in(folder / "s.html");
    CHECK_THAT(page, Catch::Contains(edge));
    CHECK_THAT(page, Catch::Contains(
                         R"("keys":["machine.matrix_unit.rows","machine.matrix_unit.columns"],"factors")"));
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
    refused("mnist_cnn --axis batch=1 --axis batch=2",
            "--axis batch=2: batch has an axis twice; one --axis takes all its values");
    refused("mnist_cnn --axis batch=1 --set batch=2", "it has 1");
    refused("mnist_cnn --axis batch=1 --where 'batch >'", "where is");
    refused("mnist_cnn --axis batch=1 --metric 'm=tops.peek' --limit 1", "did you mean \"tops.peak\"?");
    refused("mnist_cnn --axis batch=1 --subject-to 'bach < 2'", "bach is no metric of the study, nor a key");
    refused("mnist_cnn --axis batch=1 --best latencyms", "--best: latencyms is no metric");
    refused("mnist_cnn --axis batch=1 --pivot batch,foo", "--pivot: foo is no key");
    refused("mnist_cnn --axis batch=1 --pareto own", "--pareto: own is no metric");
    refused("mnist_cnn --axis batch=1 --show own", "--show: own is no metric");
    refused("mnist_cnn --axis batch=1 --name ../x", "--name is \"../x\"; it names files");
    refused("mnist_cnn --axis batch=10:1:-1", "a range is FROM:TO:+STEP or FROM:TO:*FACTOR");
    refused("mnist_cnn --axis batch=1,,2", "a value is empty");
    refused("mnist_cnn --axis clock_mhz=700", "machine.clock_mhz");
    refused(
        "mnist_cnn --axis machine.clock_mhz=400:700 --axis batch=1:10 --zip machine.clock_mhz,batch --sample "
        "5",
        "zipped axes have lists");
    refused("mnist_cnn --axis machine.clock_mhz=400:700 --sample 2000000", "not in range 1 to 1000000");
    refused("mnist_cnn --axis batch=1 --workers -1", "--workers");
    refused("mnist_cnn --axis batch=1 --metric point=cycles",
            "metrics.point: the results have a column point");
    refused("mnist_cnn --axis batch=1 --metric batch=cycles",
            "metrics.batch: the study varies the key batch");
    refused("mnist_cnn --axis batch=1 --metric Watts=cycles", "metrics.Watts: there is a metric watts");
    refused("nope --axis batch=1", "no such file, study or run");
    refused("tutorial --points 9999", "its last is");
    refused("mnist_cnn --axis batch=1 --seed 2", "goes with a sample");
    refused("mnist_cm --axis batch=1", "mnist_cnn");
    refused("none.sqlite", "results are shown as they are");
    CHECK_THAT(sim("sweep none.sqlite").err, Catch::Contains("there is no such file"));
    const std::string study = folder.file("study.json", R"({"schema": "sim.study/2", "axes": {}})");
    refused(study, "schema is \"sim.study/2\"; it must be \"sim.study/1\"");
}

TEST_CASE("A run file by its path is the base of a study", "[system]") {
    const Folder folder;
    const std::string axis = " --axis batch=1,2 --limit 2 --json";
    CHECK(sim("sweep configs/runs/mnist_cnn.json" + axis).json().at("points").size() == 2);
    const std::string run =
        folder.file("mine.json", R"({"schema": "sim.run/1", "machine": "tpu_v1", "model": "mlp0",
                                     "float_reference": true, "random_input": 2})");
    CHECK(sim("sweep " + run + axis).json().at("points").size() == 2);
    // The command line of a point repeats it, though the run has a key that a run without values refuses.
    const std::string best = sim("sweep " + run + " --axis batch=1,2 --best latency_ms").out;
    const std::size_t begin = best.find("sim run ") + 4;
    CHECK(sim(best.substr(begin, best.find('\n', begin) - begin)).exit_code == 0);
}

TEST_CASE("Results are those of the study as it is now, whatever ran before", "[system]") {
    const Folder folder;
    const std::string out = " --limit 8 --batch 8 --json --out " + folder.path().string();
    const auto cycles = [&](const std::string& arguments, std::size_t index) {
        return sim("sweep mnist_cnn " + arguments + out)
            .json()
            .at("points")[index]
            .at("metrics")
            .at("latency_ms");
    };
    // The first point is no valid run: it says nothing about the files and the base.
    const std::string rows = "--axis machine.matrix_unit.rows=0,128,256 --set machine.clock_mhz=";
    CHECK(2.0 * cycles(rows + "700", 1).get<double>() > cycles(rows + "350", 1).get<double>());
    CHECK(cycles(rows + "350", 1) > cycles(rows + "700", 1));
    // A metric is computed again for points that a narrower study in between did not have.
    const auto x = [&](const std::string& batches, int factor) {
        const std::string metric = " --metric x=cycles*" + std::to_string(factor);
        const auto points = sim("sweep mnist_cnn --name m --axis batch=" + batches + metric +
                                " --limit 8 --json --out " + folder.path().string())
                                .json()
                                .at("points");
        return points.back().at("metrics").at("x").get<double>() /
               points.back().at("metrics").at("cycles").get<double>();
    };
    CHECK(x("1,2", 1) == 1.0);
    CHECK(x("1", 1000) == 1000.0);
    CHECK(x("1,2", 1000) == 1000.0);
    // A study that is refused leaves the file as it was.
    const std::string file = (folder / "m.sqlite").string();
    const std::string before = sim("sweep " + file).out;
    CHECK(sim("sweep mnist_cnn --name m --axis machine.clock_mhz=0 --out " + folder.path().string())
              .exit_code == 2);
    CHECK(sim("sweep " + file).out == before);
}

TEST_CASE("A page has all points of the study, and each study its page", "[system]") {
    const Folder folder;
    const std::string out = " --limit 4 --quiet --out " + folder.path().string();
    const auto points_in = [&](const std::string& page) {
        const std::string text = text_in(folder / page);
        const std::string key = "\"number\":[";
        const std::size_t begin = text.find(key) + key.size();
        return std::count(text.begin() + static_cast<std::ptrdiff_t>(begin),
                          text.begin() + static_cast<std::ptrdiff_t>(text.find(']', begin)), ',') +
               1;
    };
    CHECK(sim("sweep mnist_cnn --name a --axis batch=1,2,4" + out).exit_code == 0);
    CHECK(points_in("a.html") == 3);
    CHECK(sim("sweep mnist_cnn --name a --axis batch=1,2,4 --points 2" + out).exit_code == 0);
    CHECK(points_in("a.html") == 3);
    CHECK(sim("sweep mnist_cnn --name b --axis batch=1,2" + out).exit_code == 0);
    CHECK(points_in("a.html") == 3);
    CHECK(points_in("study.html") == 2);
    CHECK(std::filesystem::read_symlink(folder / "study.html") == "b.html");
}

TEST_CASE("Two studies of one name in one folder at once do not mix", "[system]") {
    const Folder folder;
    const auto command = [&](int batch) {
        return "sweep mnist_cnn --limit 100 --quiet --workers 1 --set batch=" + std::to_string(batch) +
               " --axis machine.clock_mhz=500:579:+1 --out " + folder.path().string();
    };
    Started first(command(64), folder);
    while (!first.has_ended() && !std::filesystem::exists(folder / "mnist_cnn.sqlite-wal")) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const Outcome second = sim(command(1));
    CHECK(second.exit_code == 0);
    CHECK(first.wait() == 2);
    CHECK_THAT(text_in(folder / "err"), Catch::Contains("another process runs another study of this name"));
    const Folder calm;
    const auto points = [&](const Folder& of) {
        return sim("sweep " + (of / "mnist_cnn.sqlite").string() + " --json").json().at("points");
    };
    REQUIRE(
        sim("sweep mnist_cnn --limit 100 --quiet --set batch=1 --axis machine.clock_mhz=500:579:+1 --out " +
            calm.path().string())
            .exit_code == 0);
    CHECK(points(folder) == points(calm));
}

TEST_CASE("A file that changes while a study runs ends it, and spoils no result", "[system]") {
    const Folder folder;
    const std::string machine = (folder / "m.json").string();
    const std::string good = text_in(project / "configs/machines/tpu_v1.json");
    write_file(machine, good);
    const std::string command = "sweep mnist_cnn --limit 500 --quiet --workers 1 --machine " + machine +
                                " --axis batch=1:60:+1 --out " + folder.path().string();
    {
        Started started(command, folder);
        while (!started.has_ended() && !std::filesystem::exists(folder / "mnist_cnn.sqlite-wal")) {
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        std::string other = good;
        other.replace(other.find("\"clock_mhz\": 700"), 16, "\"clock_mhz\": 70 ");
        write_file(machine, other + "\n");
        CHECK(started.wait() == 2);
        CHECK_THAT(text_in(folder / "err"), Catch::Contains("a file that it reads has changed"));
    }
    write_file(machine, good);
    CHECK(sim(command).exit_code == 0);
    const auto points =
        sim("sweep " + (folder / "mnist_cnn.sqlite").string() + " --json").json().at("points");
    for (const auto& point : points) {
        const auto& metrics = point.at("metrics");
        const double batches = std::ceil(500.0 / point.at("settings").at("batch").get<double>());
        CHECK(metrics.at("interval_ms").get<double>() ==
              Approx(metrics.at("cycles").get<double>() / 700e3 / batches));
    }
}

TEST_CASE("Requests that arrive at random have latencies, and a limit a largest load", "[system]") {
    const std::string run = "run --machine tpu_v1 --model mlp0 --timing-only --batch 200 --json ";
    const auto requests = sim(run + "--arrivals 100000 --limit 2ms").json().at("requests");
    CHECK(requests.at("limit_ms") == 2.0);
    CHECK(requests.at("p50_ms") < requests.at("p99_ms"));
    CHECK(requests.at("p50_ms") > requests.at("alone_ms"));
    CHECK(requests.at("p99_ms") < 2.1 * requests.at("alone_ms").get<double>());
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

/// Changes the stored records of a study's results.
void damage(const std::filesystem::path& file, const std::string& change) {
    sqlite::Connection database(file, sqlite::Connection::Mode::Write);
    database.run(change);
}

TEST_CASE("A file of results that is cut off or another file is named", "[system]") {
    const std::string command = "sweep mnist_cnn --limit 8 --name s --axis batch=1,2 --out ";
    const Folder whole;
    REQUIRE(sim(command + whole.path().string()).exit_code == 0);
    const std::string bytes = text_in(whole / "s.sqlite");
    std::string flipped = bytes;
    for (std::size_t i = 8192; i < flipped.size(); i += 517) flipped[i] = static_cast<char>(~flipped[i]);
    const std::vector<std::string> contents{"",
                                            "garbage",
                                            bytes.substr(0, 100),
                                            bytes.substr(0, 5000),
                                            bytes.substr(0, bytes.size() - 4096),
                                            std::string(8192, '\0'),
                                            flipped};
    for (const std::string& content : contents) {
        const Folder folder;
        const std::string file = (folder / "s.sqlite").string();
        write_file(file, content);
        for (const std::string& arguments :
             {"sweep " + file, "sweep " + file + " --report 1", command + folder.path().string()}) {
            const Outcome outcome = sim(arguments);
            INFO(content.size() << " bytes\n" << arguments << "\n" << outcome.err);
            CHECK(outcome.exit_code == 2);
            CHECK(std::ranges::count(outcome.err, '\n') == 1);
            CHECK_THAT(outcome.err, Catch::StartsWith("sim: " + file + ": "));
        }
    }
}

TEST_CASE("A damaged record ends in one line with the file and the point", "[system]") {
    const std::string command = "sweep mnist_cnn --limit 8 --name s --axis batch=1,2 --out ";
    const Folder whole;
    REQUIRE(sim(command + whole.path().string()).exit_code == 0);
    const std::string hex = "x'78010300000000010000'";
    const std::vector<std::string> changes{
        "UPDATE records SET record = NULL",
        "DELETE FROM records",
        "UPDATE records SET record = zeroblob(0)",
        "UPDATE records SET record = zeroblob(length(record))",
        "UPDATE records SET record = substr(record, 1, length(record) - 5)",
        "UPDATE records SET record = 'text'",
        "UPDATE records SET record = " + hex,  // a whole stream of no bytes
        // The compression is whole, and what it holds is no record.
        "UPDATE records SET record = x'789c6b5c9494bc3c2f3137156e0100001e0f0597'",
        "UPDATE runs SET metrics = '{'",
        "UPDATE runs SET metrics = '[1]'",
        "UPDATE runs SET metrics = NULL",
        "DELETE FROM runs",
        "PRAGMA ignore_check_constraints = ON; UPDATE runs SET state = 'odd'",
        "UPDATE points SET settings = '{}'",
        "DROP TABLE records",
        "DROP TABLE runs",
        "DROP TABLE points",
        "DROP TABLE notes",
        "UPDATE points SET settings = '['",
        "UPDATE notes SET text = '{}'",
    };
    for (const std::string& change : changes) {
        const Folder folder;
        const std::string file = (folder / "s.sqlite").string();
        std::filesystem::copy(whole / "s.sqlite", file);
        damage(file, change);
        std::size_t told = 0;
        for (const std::string& arguments :
             {command + folder.path().string(), "sweep " + file + " --report 1", "sweep " + file + " --json",
              command + folder.path().string() + " --metric m=cycles*2"}) {
            const Outcome outcome = sim(arguments);
            INFO(change << "\n" << arguments << "\n" << outcome.err);
            CHECK((outcome.exit_code == 0 || outcome.exit_code == 2));
            if (outcome.exit_code != 2) continue;
            ++told;
            CHECK(std::ranges::count(outcome.err, '\n') == 1);
            CHECK_THAT(outcome.err, Catch::Contains(file));
        }
        INFO(change);
        CHECK(told > 0);
    }
}

TEST_CASE("Without a place for temporary files, one line says so", "[system]") {
    const Folder folder;
    const std::string file = folder.file("file", "");
    for (const std::string& place : {std::string("/nonexistent"), file, std::string("/proc")}) {
        for (const std::string& command : {std::string("sweep mnist_cnn --limit 8 --axis batch=1,2"),
                                           std::string("advise mnist_cnn"), std::string("worker")}) {
            const Outcome outcome = bash("TMPDIR=" + place + " exec sim " + command, project);
            INFO(place << " " << command << "\n" << outcome.err);
            CHECK(outcome.exit_code == 2);
            CHECK(outcome.err.starts_with("sim: " + place + ": no folder for temporary files can be made: "));
            CHECK(outcome.err.ends_with("; the variable TMPDIR names this place\n"));
            CHECK(std::ranges::count(outcome.err, '\n') == 1);
        }
    }
    // An empty variable names nothing, and others are read behind it.
    const Outcome outcome = bash("TMPDIR= TMP=/nonexistent exec sim advise mnist_cnn", project);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.err.starts_with("sim: /nonexistent: no folder for temporary files can be made: "));
    CHECK(outcome.err.ends_with("; the variable TMP names this place\n"));
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
