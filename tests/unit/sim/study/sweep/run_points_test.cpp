#include "sim/study/sweep/run_points.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <string>

#include "sim/study/sweep/answer.h"
#include "sim/study/sweep/stored_record.h"
#include "sim/study/sweep/study_page.h"
#include "tests/support/files.h"
#include "tests/support/source_dir.h"
#include "tests/support/study_contents.h"

using namespace systole;
using sweep::Database;
using sweep::Study;
using tests::Folder;

namespace {

const std::filesystem::path file = std::filesystem::path(tests::source_dir()) / "configs/studies/test.json";

Study study_of(const std::string& keys) {
    return Study(sweep::parse_study(
        R"({"schema": "sim.study/1", "run": "mnist_cnn", "set": {"limit": 8}, )" + keys + "}", file));
}

/// Six points, of which the last three do not fit the unified buffer.
const std::string six = R"("axes": {"machine.unified_buffer.rows": [98304, 16], "batch": [1, 2, 4]})";

void run_all(const Study& study, const std::filesystem::path& results, const sweep::RunPoints& how) {
    Database database = Database::open(results);
    sweep::plan(study, database);
    sweep::run_points(study, database, how);
}

TEST_CASE("A point that fails is a row with its message, and the others are run") {
    const Folder folder;
    const Study study = study_of(six);
    sweep::Progress last;
    run_all(study, folder / "s.sqlite",
            {.workers = 2, .progress = [&](const sweep::Progress& progress) { last = progress; }});
    CHECK(last.finished == 6);
    CHECK(last.counts.done == 3);
    CHECK(last.counts.failed == 3);
    Database database = Database::open(folder / "s.sqlite");
    const auto points = database.points();
    REQUIRE(points.size() == 6);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(points[i].state == "done");
        CHECK(nlohmann::json::parse(points[i].metrics).at("cycles") ==
              sweep::StoredRecord::of_point(database, i + 1).read().cycles);
        CHECK(points[i + 3].state == "failed");
        CHECK_THAT(points[i + 3].error, Catch::Contains("unified buffer"));
    }
    // Nothing is left to do.
    sweep::run_points(study, database, {.sent = [](pid_t, const run::Task&) { FAIL("a point runs again"); }});
}

TEST_CASE("One worker and four give equal databases") {
    const Folder folder;
    const Study study = study_of(six);
    run_all(study, folder / "one.sqlite", {.workers = 1});
    run_all(study, folder / "four.sqlite", {.workers = 4});
    const std::string one = tests::study_contents(folder / "one.sqlite");
    CHECK(one == tests::study_contents(folder / "four.sqlite"));
    CHECK_THAT(one, Catch::Contains("1 {\"machine.unified_buffer.rows\":98304,\"batch\":1} done"));
}

TEST_CASE("A killed worker's point is run again, and one that always dies fails") {
    const Folder folder;
    const Study study = study_of(R"("axes": {"batch": [1, 2, 4]})");
    int kills = 0;
    run_all(study, folder / "s.sqlite", {.workers = 2, .sent = [&](pid_t worker, const run::Task& task) {
                                             if (task.number == 1 && kills++ == 0) ::kill(worker, SIGKILL);
                                             if (task.number == 3) ::kill(worker, SIGKILL);
                                         }});
    const auto points = Database::open(folder / "s.sqlite").points();
    CHECK(points[0].state == "done");
    CHECK(points[1].state == "done");
    CHECK(points[2].state == "failed");
    CHECK_THAT(points[2].error, Catch::Contains("signal 9") && Catch::Contains("3 attempts"));
}

TEST_CASE("A worker that is killed loses one point, and not the one that waits behind it") {
    const Folder folder;
    const Study study = study_of(R"("axes": {"batch": {"from": 1, "to": 30, "step": 1}})");
    pid_t last = 0;
    std::uint64_t killed = 0;
    run_all(study, folder / "s.sqlite",
            {.workers = 1,
             .progress =
                 [&](const sweep::Progress& now) {
                     if (now.finished % 7 != 6 || killed == now.finished) return;
                     killed = now.finished;
                     ::kill(last, SIGKILL);
                 },
             .sent = [&](pid_t worker, const run::Task&) { last = worker; }});
    CHECK(killed > 20);
    Database database = Database::open(folder / "s.sqlite");
    CHECK(database.counts().done == 30);
}

TEST_CASE("A metric of no path ends the study, and no point keeps running") {
    const Folder folder;
    const Study study = study_of(R"("axes": {"batch": [1, 2, 4]}, "metrics": {"m": "layers.convv.cycles"})");
    Database database = Database::open(folder / "s.sqlite");
    sweep::plan(study, database);
    CHECK_THROWS_WITH(sweep::run_points(study, database, {.workers = 2}),
                      Catch::Contains("metrics.m names layers.convv.cycles"));
    CHECK(database.counts().pending == 3);
}

TEST_CASE("A study that is stopped finishes what runs") {
    const Folder folder;
    const Study study = study_of(R"("axes": {"batch": {"from": 1, "to": 16, "step": 1}})");
    Database database = Database::open(folder / "s.sqlite");
    sweep::plan(study, database);
    std::uint64_t finished = 0;
    sweep::run_points(study, database,
                      {.workers = 2,
                       .progress = [&](const sweep::Progress& now) { finished = now.finished; },
                       .stop = [&] { return finished >= 2; }});
    CHECK(finished >= 2);
    CHECK(finished <= 6);  // two workers: each ran one more, and had another
    CHECK(database.counts().done == finished);
    CHECK(database.counts().running == 0);
}

TEST_CASE("A study of points that no run allows is refused") {
    const Folder folder;
    const Study study = study_of(R"("axes": {"batch": [0, -1]})");
    Database database = Database::open(folder / "s.sqlite");
    CHECK_THROWS_WITH(sweep::plan(study, database), Catch::Contains("batch is 0"));
    const Study half = study_of(R"("axes": {"batch": [0, 1]})");
    sweep::plan(half, database);
    CHECK(database.counts().failed == 1);
    CHECK(database.counts().pending == 1);
    // Tried again, it fails again, and the other is run.
    CHECK(database.retry_failed() == 1);
    sweep::run_points(half, database, {.workers = 1});
    CHECK(database.counts().failed == 1);
    CHECK(database.counts().done == 1);
    CHECK_THAT(database.points()[0].error, Catch::Contains("batch is 0"));
}

TEST_CASE("A study that goes on is described as it is now") {
    const Folder folder;
    Database database = Database::open(folder / "s.sqlite");
    // The points are the same, whether the batch is an axis of its own or follows another one.
    const Study grid = study_of(R"("axes": {"batch": [2], "machine.clock_mhz": [700]})");
    const Study zipped =
        study_of(R"("axes": {"batch": [2], "machine.clock_mhz": [700]}, "zip": ["batch,machine.clock_mhz"])");
    REQUIRE(grid.description() != zipped.description());
    for (const Study* const study : {&grid, &zipped, &grid}) {
        sweep::plan(*study, database);
        CHECK(database.note(sweep::study_note) == study->description().dump());
        CHECK(sweep::is_planned(*study, database));
    }
}

TEST_CASE("The page of a study has each point's metrics") {
    const Folder folder;
    run_all(study_of(six), folder / "s.sqlite", {.workers = 2});
    Database database = Database::open(folder / "s.sqlite");
    const sweep::Answer answer = sweep::read_answer(database);
    const std::string page = sweep::to_html(answer, database);
    for (std::size_t metric = 0; metric < answer.metrics.size(); ++metric) {
        CAPTURE(answer.metrics[metric].name);
        nlohmann::json column = nlohmann::json::array();
        for (const sweep::AnswerRow& row : answer.rows) {
            if (row.state != "done") continue;
            column.push_back(row.metrics[metric] ? nlohmann::json(*row.metrics[metric]) : nlohmann::json());
        }
        REQUIRE(column.size() == 3);
        CHECK(page.find(column.dump()) != std::string::npos);
    }
}

TEST_CASE("Metrics that are new to a study are computed from its records") {
    const Folder folder;
    const Study before = study_of(R"("axes": {"batch": [1, 2]})");
    run_all(before, folder / "s.sqlite", {.workers = 1});
    const Study after = study_of(R"("axes": {"batch": [1, 2]}, "metrics": {"m": "cycles * 2"})");
    Database database = Database::open(folder / "s.sqlite");
    sweep::plan(after, database);
    CHECK(database.counts().done == 2);
    const auto metrics = nlohmann::json::parse(database.points()[0].metrics);
    CHECK(metrics.at("m").get<double>() == 2.0 * metrics.at("cycles").get<double>());
}

}  // namespace
