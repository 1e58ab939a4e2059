// Networks of 100 to 65,000 small layers, wide and deep: the processor time from the file to the report, and
// the power of the number of layers with which it grows.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/bench/bench_results.h"
#include "tests/support/large_graphs.h"
#include "tests/support/source_dir.h"

namespace {

using namespace systole;

/// A program has at most 65,535 layers. What is read by all layers, or stays until the end, takes a row of
/// the unified buffer for each beside that of its parameters.
constexpr std::array<std::size_t, 4> sizes{100, 1'000, 10'000, 65'000};
constexpr std::array<std::size_t, 4> sizes_of_long_lives{100, 1'000, 10'000, 30'000};

/// The processor time of a process that ends well.
double seconds_of(const std::vector<std::string>& arguments) {
    std::vector<char*> raw;
    for (const std::string& argument : arguments) raw.push_back(const_cast<char*>(argument.c_str()));
    raw.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        execv(raw.front(), raw.data());
        _exit(127);
    }
    int status = 0;
    rusage usage{};
    wait4(child, &status, 0, &usage);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fmt::print(stderr, "{} failed\n", arguments.front());
        std::exit(1);
    }
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

bool lives_long(std::string_view shape) {
    return shape == "wide" || shape == "fan_in" || shape == "ladder";
}

}  // namespace

int main(int, char* argv[]) {
    const std::filesystem::path root = tests::source_dir();
    const std::string sim = (std::filesystem::absolute(argv[0]).parent_path() / "sim").string();
    const auto file =
        std::filesystem::temp_directory_path() / fmt::format("systole_compile_{}.json", getpid());
    const auto seconds = [&](std::string_view shape, std::size_t layers) {
        std::ofstream(file) << tests::large_graph(shape, layers);
        return seconds_of({sim, "run", "--machine", (root / "configs/machines/tpu_v1.json").string(),
                           "--model", file.string(), "--timing-only", "--batch", "1", "--quiet"});
    };
    fmt::print("{:<12} {:>8} {:>10} {:>14} {:>9}\n", "shape", "layers", "seconds", "us a layer", "exponent");
    double steepest = 0;
    for (const std::string_view shape : tests::large_shapes) {
        // What a process takes at any size.
        double start = seconds(shape, 10);
        for (int i = 0; i < 4; ++i) start = std::min(start, seconds(shape, 10));
        double last = 0;
        std::size_t before = 0;
        for (const std::size_t layers : lives_long(shape) ? sizes_of_long_lives : sizes) {
            const double all = seconds(shape, layers);
            const double own = std::max(all - start, 1e-3);
            const double layers_as_real = static_cast<double>(layers);
            fmt::print("{:<12} {:>8} {:>10.2f} {:>14.1f}", shape, layers, all, 1e6 * own / layers_as_real);
            if (before > 0) {
                const double exponent =
                    std::log(own / last) / std::log(layers_as_real / static_cast<double>(before));
                fmt::print(" {:>9.2f}", exponent);
                // Below 1,000 layers it is a few milliseconds.
                if (before >= 1'000) steepest = std::max(steepest, exponent);
            }
            fmt::print("\n");
            last = own;
            before = layers;
        }
    }
    std::filesystem::remove(file);
    bench::record("compile_time_steepest_exponent", steepest);
}
