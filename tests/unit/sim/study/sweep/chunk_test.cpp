#include "sim/study/sweep/chunk.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/user_error.h"
#include "sim/study/sweep/run_points.h"
#include "tests/support/files.h"
#include "tests/support/source_dir.h"

using namespace systole;
using sweep::Claim;
using sweep::Database;
using sweep::Study;
using tests::Folder;

namespace {

namespace fs = std::filesystem;

const fs::path project = tests::source_dir();

/// Two batches of a network in the folder.
Study study_in(const Folder& folder) {
    fs::copy_file(project / "models/mnist_cnn/mnist_cnn.h5", folder / "net.h5",
                  fs::copy_options::overwrite_existing);
    return Study(sweep::parse_study(R"({"schema": "sim.study/1", "set": {"machine": "tpu_v1", "model": ")" +
                                        (folder / "net.h5").string() + R"("}, "axes": {"batch": [1, 2]}})",
                                    project / "configs/studies/test.json"));
}

TEST_CASE("A chunk leaves its results as files, and runs again what has none") {
    const Folder folder;
    const Study study = study_in(folder);
    Database database = Database::open(folder / "s.sqlite");
    sweep::plan(study, database);
    const std::vector<Claim> claims = database.claim(9);
    REQUIRE(sweep::write_chunks(study, database, claims, 1, folder.path()) == 1);
    sweep::run_chunk(folder.path(), 0, {});
    CHECK(sweep::begun_points(folder.path()).size() == 2);
    fs::remove(folder / "results" / claims[1].key);
    const auto first = fs::last_write_time(folder / "results" / claims[0].key);
    sweep::run_chunk(folder.path(), 0, {});
    CHECK(fs::last_write_time(folder / "results" / claims[0].key) == first);
    const auto gathered =
        sweep::gather(folder.path(), study.metrics(), database, [](const std::string& line) { FAIL(line); });
    CHECK(gathered.stored == 2);
    CHECK(database.counts().done == 2);
    CHECK(fs::is_empty(folder / "results"));
}

TEST_CASE("A chunk whose network is another one than at its submission runs nothing") {
    const Folder folder;
    const Study study = study_in(folder);
    Database database = Database::open(folder / "s.sqlite");
    sweep::plan(study, database);
    sweep::write_chunks(study, database, database.claim(9), 1, folder.path());
    std::ofstream(folder / "net.h5", std::ios::app) << "more";
    CHECK_THROWS_WITH(sweep::run_chunk(folder.path(), 0, {}),
                      Catch::Contains("net.h5 has changed since it was submitted"));
    fs::remove(folder / "net.h5");
    CHECK_THROWS_WITH(sweep::run_chunk(folder.path(), 0, {}), Catch::Contains("net.h5 cannot be read"));
    CHECK(sweep::begun_points(folder.path()).empty());
}

TEST_CASE("A result that comes late replaces a failure, and no failure replaces a result") {
    const Folder folder;
    const Study study = study_in(folder);
    Database database = Database::open(folder / "s.sqlite");
    sweep::plan(study, database);
    const std::vector<Claim> claims = database.claim(9);
    for (int i = 0; i < 3; ++i) {
        database.give_back(claims[0].key, "its chunk ended");
        database.claim(9);
    }
    CHECK(database.counts().failed == 1);
    CHECK_FALSE(database.adopt(claims[0].key, {.error = "another failure"}));
    CHECK(database.adopt(claims[0].key, {.metrics = "{}", .record = "bytes"}));
    CHECK_FALSE(database.adopt(claims[0].key, {.error = "another failure"}));
    CHECK(database.counts().done == 1);
    CHECK(database.counts().failed == 0);
}

}  // namespace
