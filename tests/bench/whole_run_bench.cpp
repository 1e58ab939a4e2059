// The whole process that classifies MNIST's 10,000 test images, against its matrix products: how much
// the simulator adds to the arithmetic that nobody can avoid. And of ResNet-50 on an Edge TPU, from the file
// to the report, less the time of reading the file.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/bench/bench_results.h"
#include "tests/support/source_dir.h"

namespace {

constexpr int repetitions = 7;

struct Times {
    double whole = 0.0;  ///< seconds of the process, from start to end
    double gemm = 0.0;   ///< seconds inside its matrix products

    double ratio() const { return whole / gemm; }
};

/// Runs the program and returns how long its process lived.
double seconds_of(const std::vector<std::string>& arguments) {
    std::vector<char*> raw;
    for (const std::string& argument : arguments) raw.push_back(const_cast<char*>(argument.c_str()));
    raw.push_back(nullptr);
    const auto begin = std::chrono::steady_clock::now();
    const pid_t child = fork();
    if (child == 0) {
        execv(raw.front(), raw.data());
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    const std::chrono::duration<double> lived = std::chrono::steady_clock::now() - begin;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fmt::print(stderr, "{} failed\n", arguments.front());
        std::exit(1);
    }
    return lived.count();
}

/// Median seconds of one call of ResNet-50 without what-ifs, less those of reading the file.
double seconds_of_resnet50(const std::filesystem::path& sim, const std::vector<std::string>& options) {
    const std::filesystem::path root = systole::tests::source_dir();
    const auto out = std::filesystem::temp_directory_path() / fmt::format("systole_edge_tpu_{}", getpid());
    std::vector<std::string> arguments{sim.string(),   "run",
                                       "--machine",    (root / "configs/machines/edge_tpu_usb.json").string(),
                                       "--model",      (root / "models/coral/resnet50_v1.json").string(),
                                       "--limit",      "1",
                                       "--no-explain", "--quiet",
                                       "--out",        out.string()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    std::vector<double> seconds;
    for (int i = 0; i < repetitions; ++i) {
        const double whole = seconds_of(arguments);
        std::ifstream report(out / "report.json");
        seconds.push_back(whole -
                          nlohmann::json::parse(report).at("simulator").at("read_seconds").get<double>());
    }
    std::filesystem::remove_all(out);
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
}

void measure_edge_tpu(const std::filesystem::path& sim) {
    const double timing_only = seconds_of_resnet50(sim, {"--timing-only"});
    const double with_values = seconds_of_resnet50(sim, {"--random-input", "1"});
    fmt::print("ResNet-50 on edge_tpu_usb, median of {} processes, without reading the file\n", repetitions);
    fmt::print("  timing-only       {:6.0f} ms\n", timing_only * 1e3);
    fmt::print("  with values       {:6.0f} ms\n", with_values * 1e3);
    systole::bench::record("resnet50_on_edge_tpu_timing_only_seconds", timing_only);
    systole::bench::record("resnet50_on_edge_tpu_seconds", with_values);
}

}  // namespace

int main(int, char* argv[]) {
    const std::filesystem::path root = systole::tests::source_dir();
    const std::filesystem::path sim = std::filesystem::absolute(argv[0]).parent_path() / "sim";
    measure_edge_tpu(sim);
    const std::filesystem::path mnist = root / "../shared/data/mnist";
    if (!std::filesystem::exists(mnist)) {
        fmt::print("SKIPPED: no MNIST images in {}\n", mnist.string());
        return 0;
    }
    const auto out = std::filesystem::temp_directory_path() / fmt::format("systole_whole_run_{}", getpid());
    const std::vector<std::string> arguments{sim.string(), "run",
                                             "--machine",  (root / "configs/machines/tpu_v1.json").string(),
                                             "--model",    (root / "models/mnist_cnn/mnist_cnn.h5").string(),
                                             "--input",    (mnist / "t10k-images-idx3-ubyte.gz").string(),
                                             "--labels",   (mnist / "t10k-labels-idx1-ubyte.gz").string(),
                                             "--batch",    "256",
                                             "--quiet",    "--out",
                                             out.string()};
    std::vector<std::string> without_what_ifs = arguments;
    without_what_ifs.emplace_back("--no-explain");
    std::vector<Times> runs;
    std::vector<double> explained;  ///< by a run without what-ifs
    for (int i = 0; i < repetitions; ++i) {
        Times times;
        times.whole = seconds_of(without_what_ifs);
        std::ifstream report(out / "report.json");
        times.gemm = nlohmann::json::parse(report).at("simulator").at("gemm_seconds").get<double>();
        runs.push_back(times);
        explained.push_back(seconds_of(arguments) / times.whole);
    }
    std::filesystem::remove_all(out);
    std::sort(runs.begin(), runs.end(), [](const Times& a, const Times& b) { return a.ratio() < b.ratio(); });
    std::sort(explained.begin(), explained.end());
    const Times& median = runs[runs.size() / 2];
    fmt::print("10,000 digits on tpu_v1, median of {} processes\n", repetitions);
    fmt::print("  whole process     {:6.0f} ms\n", median.whole * 1e3);
    fmt::print("  inside its GEMMs  {:6.0f} ms\n", median.gemm * 1e3);
    fmt::print("  ratio             {:6.2f}   ({:.2f} to {:.2f})\n", median.ratio(), runs.front().ratio(),
               runs.back().ratio());
    fmt::print("  with what-ifs     {:6.2f} times as long   ({:.2f} to {:.2f})\n",
               explained[explained.size() / 2], explained.front(), explained.back());
    systole::bench::record("whole_run_over_gemm", median.ratio());
    systole::bench::record("whole_run_with_what_ifs_over_without", explained[explained.size() / 2]);
}
