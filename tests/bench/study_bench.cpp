// A study of 1,000 points of the digit network: how long it takes, and what a point costs beside its own
// simulation.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <systemc>

#include "sim/study/sweep/database.h"
#include "sim/study/sweep/run_points.h"
#include "sim/study/sweep/stored_record.h"
#include "tests/bench/bench_results.h"
#include "tests/support/source_dir.h"

namespace {

using namespace systole;

constexpr double points = 1000.0;

/// The seconds that the shell takes for a command.
double seconds_of(const std::string& command) {
    const auto begin = std::chrono::steady_clock::now();
    if (std::system(command.c_str()) != 0) {
        fmt::print(stderr, "{}: failed\n", command);
        std::exit(1);
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The seconds of all simulations of a study: compiling a network that no earlier point had compiled
/// included.
double simulations(const std::filesystem::path& file) {
    sweep::Database database = sweep::Database::open_to_read(file);
    double seconds = 0.0;
    for (const sweep::StoredPoint& point : database.points()) {
        seconds += sweep::StoredRecord::of_point(database, point.number).read().speed.total;
    }
    return seconds;
}

}  // namespace

int sc_main(int, char* argv[]) {
    const std::filesystem::path root = tests::source_dir();
    const std::string sim = (std::filesystem::absolute(argv[0]).parent_path() / "sim").string();
    const auto out = std::filesystem::temp_directory_path() / fmt::format("systole_study_{}", getpid());
    const auto study = [&](const char* name, int workers) {
        return fmt::format(
            "cd '{}' && '{}' sweep mnist_cnn --timing-only --batch 256 --name {} --workers {} --quiet --out "
            "'{}' "
            "--axis machine.clock_mhz=500:995:+5 --axis machine.weight_memory.bandwidth_gb_per_s=10:55:+5",
            root.string(), sim, name, workers, out.string());
    };
    const double both = seconds_of(study("two", 2));
    const double one = seconds_of(study("one", 1));
    const double own = simulations(out / "one.sqlite");
    const double overhead_ms = 1e3 * (one - own) / points;
    fmt::print(
        "study: 1,000 points of the digits (500 images, batch 256, no values) in {:.1f} s with two workers,\n"
        "  database and page included; {:.1f} s with one, of which {:.1f} s are simulations: {:.2f} ms a "
        "point\n"
        "  beside its own\n",
        both, one, own, overhead_ms);
    bench::record("study_seconds_two_workers", both);
    bench::record("study_overhead_ms_a_point", overhead_ms);
    std::filesystem::remove_all(out);
    return 0;
}
