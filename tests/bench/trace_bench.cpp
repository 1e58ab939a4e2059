// What a timeline costs: the time of a run with one over that of the run alone, and the memory of both.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <systemc>
#include <utility>
#include <vector>

#include "hw/common/fan_out.h"
#include "hw/machine/machine_config.h"
#include "hw/system/system.h"
#include "sim/run/execute/recorders.h"
#include "sim/view/occupancy/occupancy.h"
#include "sim/view/trace/tracer.h"
#include "tests/bench/bench_programs.h"
#include "tests/bench/bench_results.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/source_dir.h"

namespace {

using namespace systole;

constexpr std::size_t instructions = 2'300'000;
constexpr int rounds = 5;

struct Cost {
    double seconds = 0.0;
    double processor_seconds = 0.0;  ///< of all threads: more than `seconds` where cores share the work
    double resident_bytes = 0.0;
};

/// Simulates without values, and gives the seconds; with a folder, notes and writes what a run with --out and
/// a timeline does.
double simulate(const machine::MachineConfig& machine, const isa::Program& program,
                const std::filesystem::path& folder) {
    const tests::FreshSimulation simulation;
    trace::TraceConfig config;
    if (!folder.empty()) config.kinds = {"timeline"};
    const auto begin = std::chrono::steady_clock::now();
    trace::Tracer tracer(config, program, machine, folder);
    hw::TraceFanOut observers;
    observers.add(tracer.sink());
    run::SpanRecorder recorder;
    if (!folder.empty()) observers.add(&recorder);
    hw::System system("system", machine, program,
                      {.values = hw::Values::TimingOnly,
                       .trace = observers.sink(),
                       .registers = nullptr,
                       .test_delta_delay = {},
                       .value_threads = 0});
    system.run();
    trace::Afterwards known;
    if (!folder.empty()) {
        const run::Occupancy occupancy =
            std::move(recorder).occupancy(program, system.cycles(), system.descriptions());
        known.memories = {{{"unified buffer", "rows",
                            occupancy::changes_of(occupancy.values.in("unified_buffer"), system.cycles())}}};
    }
    tracer.finish(system.cycles(), known);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The same in a process of its own, whose memory is the run's.
Cost cost_of(const machine::MachineConfig& machine, const std::filesystem::path& folder) {
    int ends[2] = {};
    if (pipe(ends) != 0) std::exit(1);
    const pid_t child = fork();
    if (child == 0) {
        const isa::Program program = bench::small_products(1, instructions);
        const double seconds = simulate(machine, program, folder);
        const bool told = write(ends[1], &seconds, sizeof seconds) == sizeof seconds;
        _exit(told ? 0 : 1);
    }
    close(ends[1]);
    Cost cost;
    const bool heard = read(ends[0], &cost.seconds, sizeof cost.seconds) == sizeof cost.seconds;
    close(ends[0]);
    int status = 0;
    rusage usage{};
    wait4(child, &status, 0, &usage);
    if (!heard || status != 0) std::exit(1);
    constexpr double microsecond = 1e-6;
    for (const timeval& time : {usage.ru_utime, usage.ru_stime}) {
        cost.processor_seconds +=
            static_cast<double>(time.tv_sec) + microsecond * static_cast<double>(time.tv_usec);
    }
    constexpr double kilobyte = 1024;
    cost.resident_bytes = static_cast<double>(usage.ru_maxrss) * kilobyte;
    return cost;
}

/// An event is a line.
std::uint64_t events_in(const std::filesystem::path& timeline) {
    const std::string command = "zcat '" + timeline.string() + "' | wc -l";
    FILE* lines = popen(command.c_str(), "r");
    unsigned long count = 0;
    if (lines == nullptr || std::fscanf(lines, "%lu", &count) != 1) std::exit(1);
    pclose(lines);
    return count;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libsystemc's main calls it.
int sc_main(int, char*[]) {
    const machine::MachineConfig machine =
        machine::read_machine(std::filesystem::path(tests::source_dir()) / "configs/machines/tpu_v1.json");
    const auto folder =
        std::filesystem::temp_directory_path() / fmt::format("systole_trace_bench_{}", getpid());
    std::filesystem::create_directories(folder);
    std::vector<double> ratios;
    Cost plain;
    Cost traced;
    for (int round = 0; round < rounds; ++round) {
        plain = cost_of(machine, {});
        traced = cost_of(machine, folder);
        ratios.push_back(traced.seconds / plain.seconds);
    }
    const auto timeline = folder / trace::timeline_file;
    const double events = static_cast<double>(events_in(timeline));
    const auto bytes = static_cast<double>(std::filesystem::file_size(timeline));
    std::filesystem::remove_all(folder);
    std::sort(ratios.begin(), ratios.end());
    constexpr double million = 1e6;
    constexpr double megabyte = 1 << 20;
    fmt::print("{} instructions without values, {:.1f} million events, {:.0f} MiB\n", instructions,
               events / million, bytes / megabyte);
    fmt::print("  untraced                     {:8.2f} s {:8.2f} s of processors {:8.1f} MiB\n",
               plain.seconds, plain.processor_seconds, plain.resident_bytes / megabyte);
    fmt::print("  with a timeline              {:8.2f} s {:8.2f} s of processors {:8.1f} MiB\n",
               traced.seconds, traced.processor_seconds, traced.resident_bytes / megabyte);
    fmt::print("  ratio                        {:8.2f}   ({:.2f} to {:.2f})\n", ratios[ratios.size() / 2],
               ratios.front(), ratios.back());
    bench::record("timeline_over_untraced", ratios[ratios.size() / 2]);
    bench::record("timeline_resident_bytes", traced.resident_bytes);
    return 0;
}
