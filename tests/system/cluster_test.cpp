// Studies by launchers, and by a real Slurm where scripts/cluster.sh has started one (`make cluster-test`).
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

#include "base/whole_file.h"
#include "tests/support/study_contents.h"
#include "tests/system/sim_process.h"
#include "tests/system/started.h"

using namespace systole;
using namespace systole::tests;

namespace {

/// A study of so many points, which take some hundredths of a second each.
std::string study(int points, const std::filesystem::path& out) {
    return "sweep mnist_cnn --limit 500 --name s --quiet --axis machine.clock_mhz=1:" +
           std::to_string(points) + ":+1 --out " + out.string() + " ";
}

/// What an undisturbed study on this computer has.
std::string calm(int points, const Folder& folder) {
    const Outcome outcome = sim(study(points, folder / "calm"));
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    return study_contents(folder / "calm/s.sqlite");
}

std::string contents(const Folder& folder, const std::string& name) {
    return study_contents(folder / (name + "/s.sqlite"));
}

bool has_slurm() {
    if (std::getenv("SLURM_CONF") != nullptr) return true;
    WARN("SKIPPED: no Slurm; make cluster-test starts one");
    return false;
}

std::uint64_t done_points(const Folder& folder, const std::string& name) {
    const std::filesystem::path file = folder / (name + "/s.sqlite");
    if (!std::filesystem::exists(file)) return 0;
    return sweep::Database::open_to_read(file).counts().done;
}

void wait_until(const std::function<bool()>& holds) {
    for (int i = 0; i < 20'000 && !holds(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    REQUIRE(holds());
}

Outcome shell(const std::string& command) {
    return bash(command, project);
}

TEST_CASE("A launcher's chunks give the study of this computer", "[system]") {
    const Folder folder;
    const std::string expected = calm(12, folder);
    CHECK(sim(study(12, folder / "one") + "--workers 1").exit_code == 0);
    CHECK(contents(folder, "one") == expected);
    const Outcome launched = sim(study(12, folder / "l") + "--launcher '{chunk}' --array-size 5 --nodes 2");
    INFO(launched.err);
    CHECK(launched.exit_code == 0);
    CHECK(contents(folder, "l") == expected);
}

TEST_CASE("A launcher that fails is told, and its points run later", "[system]") {
    const Folder folder;
    const Outcome failed = sim(study(4, folder / "l") + "--launcher 'false {chunk}' --array-size 2");
    CHECK(failed.exit_code == 2);
    CHECK_THAT(failed.err, Catch::Contains("the chunks ended 3 times without running a point") &&
                               Catch::Contains("--launcher \"false {chunk}\""));
    CHECK(sweep::Database::open_to_read(folder / "l/s.sqlite").counts().pending == 4);
    CHECK(sim(study(4, folder / "l") + "--launcher '{chunk}'").exit_code == 0);
    CHECK(contents(folder, "l") == calm(4, folder));
    const Outcome wrong = sim(study(4, folder / "w") + "--launcher 'ssh node'");
    CHECK(wrong.exit_code == 2);
    CHECK_THAT(wrong.err, Catch::Contains("it must have {chunk}"));
    CHECK(sim("sweep mnist_cnn --axis batch=1 --slurm").exit_code == 2);
}

TEST_CASE("A chunk that is killed again and again costs no more than the points under way", "[system]") {
    const Folder folder;
    // Runs a chunk, and kills it when its second point has begun. So each point dies once at most.
    const std::filesystem::path killer = folder / "killer";
    write_file(killer, "#!/bin/bash\nexport TMPDIR='" + folder.path().string() +
                           "'\n\"$@\" & sim=$!\nwhile kill -0 $sim 2> /dev/null; do\n"
                           "  if [ $(ls " +
                           (folder / "l/s.chunks/begun").string() +
                           " | wc -l) -ge 2 ]; then kill -9 $sim; fi\n  sleep 0.01\ndone\n");
    std::filesystem::permissions(killer, std::filesystem::perms::owner_all);
    const Outcome outcome =
        sim(study(10, folder / "l") + "--launcher '" + killer.string() + " {chunk}' --array-size 1");
    INFO(outcome.err);
    CHECK(outcome.exit_code == 0);
    CHECK(contents(folder, "l") == calm(10, folder));
}

TEST_CASE("Chunks run in the folder of the study, with the metrics that it has now", "[system]") {
    const Folder folder;
    const std::string expected = calm(6, folder);
    CHECK(sim(study(6, folder / "l") + "--launcher 'cd / && {chunk}' --workers 2").exit_code == 0);
    CHECK(contents(folder, "l") == expected);

    // Chunks that end after their process: their results have other metrics than the next study.
    const std::string out = study(8, folder / "m") + "--array-size 1 --nodes 1 --launcher '";
    {
        Started started(out + "{chunk}' --metric x=cycles*1", folder);
        wait_until(
            [&] { return started.has_ended() || std::filesystem::exists(folder / "m/s.chunks/chunks/0"); });
        if (!started.has_ended()) ::kill(started.process(), SIGKILL);
    }
    CHECK(sim(out + "{chunk}' --metric x=cycles*1000").exit_code == 0);
    sweep::Database database = sweep::Database::open_to_read(folder / "m/s.sqlite");
    for (const sweep::StoredPoint& point : database.points()) {
        const auto metrics = nlohmann::json::parse(point.metrics);
        CHECK(metrics.at("x").get<double>() == 1000.0 * metrics.at("cycles").get<double>());
    }
    // What is no result is set aside, and the others are gathered.
    write_file(folder / "m/s.chunks/results/abc", "");
    const Outcome last = sim(study(9, folder / "m") + "--launcher '{chunk}' --metric x=cycles*1000");
    CHECK(last.exit_code == 0);
    CHECK_THAT(last.err, Catch::Contains("abc.broken") && Catch::Contains("no result of a study"));
}

TEST_CASE("A launcher's process may be killed: the next one goes on", "[system]") {
    const Folder folder;
    const std::string command = study(24, folder / "l") + "--launcher '{chunk}' --array-size 8 --nodes 1";
    {
        Started started(command, folder);
        wait_until([&] { return done_points(folder, "l") >= 3 || started.has_ended(); });
        if (!started.has_ended()) ::kill(started.process(), SIGKILL);
    }
    const Outcome last = sim(command);
    INFO(last.err);
    CHECK(last.exit_code == 0);
    CHECK(contents(folder, "l") == calm(24, folder));
}

TEST_CASE("Slurm gives the study of this computer", "[cluster]") {
    if (!has_slurm()) return;
    const Folder folder;
    const Outcome outcome = sim(study(12, folder / "s") + "--slurm --array-size 4");
    INFO(outcome.err);
    CHECK(outcome.exit_code == 0);
    CHECK(contents(folder, "s") == calm(12, folder));
    CHECK(shell("squeue --noheader").out.empty());
    const Outcome refused = sim(study(2, folder / "r") + "--slurm --partition none");
    CHECK(refused.exit_code == 2);
    CHECK_THAT(refused.err, Catch::Contains("sbatch") && Catch::Contains("partition"));
}

TEST_CASE("A submitting process that is killed loses nothing: the job goes on", "[cluster][.long]") {
    if (!has_slurm()) return;
    const Folder folder;
    const std::string command = study(120, folder / "s") + "--slurm --array-size 12";
    {
        Started started(command, folder);
        wait_until([&] { return done_points(folder, "s") >= 5; });
        ::kill(started.process(), SIGKILL);
    }
    const std::string job = shell("squeue --noheader --format=%A | head -n 1").out;
    CHECK_FALSE(job.empty());
    const Outcome last = sim(command);
    INFO(last.err);
    CHECK(last.exit_code == 0);
    CHECK(contents(folder, "s") == calm(120, folder));
}

TEST_CASE("Requeued and killed tasks cost only their points", "[cluster][.long]") {
    if (!has_slurm()) return;
    const Folder folder;
    const std::string command = study(120, folder / "s") + "--slurm --array-size 6";
    Started started(command, folder);
    for (int round = 0; round < 6 && !started.has_ended(); ++round) {
        const std::uint64_t before = done_points(folder, "s");
        wait_until([&] { return started.has_ended() || done_points(folder, "s") > before + 4; });
        if (round % 2 == 0) {
            // Slurm lets it wait for about two minutes.
            shell("scontrol requeue $(squeue --noheader --states=running --format=%i | head -n 1)");
        } else {
            shell("pkill -9 --oldest -f 'study-chunk " + folder.path().string() + "'");
        }
    }
    const bool succeeded = started.wait() == 0;
    INFO(text_in(folder / "err"));
    CHECK(succeeded);
    CHECK(contents(folder, "s") == calm(120, folder));
}

TEST_CASE("A node that goes down in the middle costs only its points", "[cluster][.long]") {
    if (!has_slurm()) return;
    const Folder folder;
    const std::string command = study(120, folder / "s") + "--slurm --array-size 6";
    Started started(command, folder);
    wait_until([&] { return done_points(folder, "s") >= 5; });
    shell("scontrol update nodename=$(hostname -s) state=down reason=test");
    std::this_thread::sleep_for(std::chrono::seconds(3));
    CHECK_FALSE(started.has_ended());  // the tasks wait for a node
    shell("scontrol update nodename=$(hostname -s) state=resume");
    CHECK(started.wait() == 0);
    CHECK(contents(folder, "s") == calm(120, folder));
}

TEST_CASE("Ctrl-C cancels the job, and the same command goes on", "[cluster][.long]") {
    if (!has_slurm()) return;
    const Folder folder;
    const std::string command = study(120, folder / "s") + "--slurm --array-size 6";
    {
        Started started(command, folder);
        wait_until([&] { return done_points(folder, "s") >= 5; });
        ::kill(started.process(), SIGINT);
        CHECK(started.wait() == 130);
    }
    wait_until([] { return shell("squeue --noheader --states=running,pending").out.empty(); });
    CHECK(sim(command).exit_code == 0);
    CHECK(contents(folder, "s") == calm(120, folder));
}

TEST_CASE("A full disk ends the study with one line, and nothing is lost", "[cluster][.long]") {
    if (!has_slurm()) return;  // root, as scripts/cluster.sh needs it
    const Folder folder;
    const std::string disk = (folder / "disk").string();
    std::filesystem::create_directory(disk);
    if (shell("mount -t tmpfs -o size=400k none " + disk).exit_code != 0) {
        WARN("SKIPPED: no small disk can be mounted");
        return;
    }
    const Outcome full = sim(study(60, folder / "disk"));
    CHECK(full.exit_code == 2);
    CHECK_THAT(full.err, Catch::StartsWith("sim: " + disk) && Catch::Contains("full"));
    CHECK(std::count(full.err.begin(), full.err.end(), '\n') == 1);
    CHECK(done_points(folder, "disk") > 5);
    CHECK(shell("mount -o remount,size=100m " + disk).exit_code == 0);
    CHECK(sim(study(60, folder / "disk")).exit_code == 0);
    CHECK(contents(folder, "disk") == calm(60, folder));
    shell("umount " + disk);
}

}  // namespace
