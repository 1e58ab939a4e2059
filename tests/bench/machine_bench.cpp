// How fast the simulated machine is: what simulating adds to the matrix products, what a simulation
// without values costs by the cycle and by the instruction, and whether that cost stays the same.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <systemc>
#include <vector>

#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"
#include "hw/math/gemm.h"
#include "hw/system/system.h"
#include "tests/bench/bench_programs.h"
#include "tests/bench/bench_results.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/source_dir.h"

namespace {

using namespace systole;

double seconds(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Seconds of this thread's processor: what neighbours on a shared computer take does not count.
double processor_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    constexpr double nanosecond = 1e-9;
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * nanosecond;
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

machine::MachineConfig tpu_v1() {
    return machine::read_machine(std::filesystem::path(tests::source_dir()) / "configs/machines/tpu_v1.json");
}

/// A chip in a simulation of its own.
class Chip : private tests::FreshSimulation {
public:
    Chip(const machine::MachineConfig& machine, const isa::Program& program, hw::Values values,
         std::size_t value_threads = hw::ValueWorkers::idle_cores())
        : system_(
              "core", machine, program,
              {.values = values, .trace = nullptr, .test_delta_delay = {}, .value_threads = value_threads}) {}

    hw::System* operator->() { return &system_; }

private:
    hw::System system_;
};

/// The products of `DenseLayers` and nothing else.
class BareProducts {
public:
    BareProducts(const bench::DenseLayers& shape, const isa::Program& program)
        : shape_(shape),
          program_(program),
          vectors_(bench::random_bytes(2 * shape.bytes(), 1)),
          sums_(std::size_t{shape.accumulator_rows} * bench::side) {}

    void run() {
        const std::size_t stride = std::size_t{shape_.tiles} * bench::side;
        for (std::uint32_t layer = 0; layer < shape_.layers; ++layer) {
            const std::uint8_t* in = vectors_.data() + std::size_t{shape_.input_row(layer)} * bench::side;
            for (std::uint32_t column = 0; column < shape_.tiles; ++column) {
                std::int32_t* sums = sums_.data() + std::size_t{shape_.sums_row(column)} * bench::side;
                for (std::uint32_t row = 0; row < shape_.tiles; ++row) {
                    const isa::WeightTile& tile = program_.tiles[shape_.tile_number(layer, column, row)];
                    math::multiply_accumulate(in + std::size_t{row} * bench::side, stride, false,
                                              reinterpret_cast<const std::int8_t*>(tile.values.data()),
                                              bench::side, sums, bench::side, shape_.vectors, bench::side,
                                              bench::side, row > 0);
                }
            }
        }
    }

private:
    const bench::DenseLayers shape_;
    const isa::Program& program_;
    std::vector<std::uint8_t> vectors_;
    std::vector<std::int32_t> sums_;
};

void bench_functional() {
    constexpr int rounds = 7;
    const bench::DenseLayers shape;
    const isa::Program program = shape.program();
    const machine::MachineConfig machine = tpu_v1();
    const std::vector<std::uint8_t> input = bench::random_bytes(shape.bytes(), 2);
    BareProducts bare(shape, program);
    bare.run();
    std::vector<double> ratios;
    std::vector<double> on_one_thread;
    std::vector<double> alone;
    double active = 0.0;
    const auto simulated = [&](std::size_t threads) {
        Chip chip(machine, program, hw::Values::Computed, threads);
        std::ranges::copy(input, chip->host_bytes(program.buffers[1]).begin());
        const double taken = seconds([&] { chip->run(); });
        active = static_cast<double>(chip->counter("matrix_unit.active_cycles").value()) /
                 static_cast<double>(chip->cycles());
        return taken;
    };
    for (int round = 0; round < rounds; ++round) {
        alone.push_back(seconds([&] { bare.run(); }));
        ratios.push_back(simulated(hw::ValueWorkers::idle_cores()) / alone.back());
        on_one_thread.push_back(simulated(0) / alone.back());
    }
    std::sort(ratios.begin(), ratios.end());
    fmt::print(
        "functional: {} layers of {} x {}, {} rows a tile; the array is active in {:.0f} % of the cycles\n",
        shape.layers, shape.tiles * bench::side, shape.tiles * bench::side, shape.vectors, 100 * active);
    fmt::print("  the bare products            {:8.1f} ms\n", median(alone) * 1e3);
    fmt::print("  functional_over_bare_gemm    {:8.3f}      ({:.3f} to {:.3f})\n", ratios[rounds / 2],
               ratios.front(), ratios.back());
    fmt::print("  the same on one thread       {:8.3f}\n\n", median(on_one_thread));
    bench::record("functional_over_bare_gemm", ratios[rounds / 2]);
    bench::record("functional_over_bare_gemm_on_one_thread", median(on_one_thread));
}

/// A run without values, and how long `run` took.
struct TimingOnly {
    double seconds = 0.0;
    double processor_seconds = 0.0;
    double cycles = 0.0;
    double instructions = 0.0;
};

TimingOnly time_without_values(const machine::MachineConfig& machine, const isa::Program& program) {
    Chip chip(machine, program, hw::Values::TimingOnly);
    const double begun = processor_seconds();
    const double taken = seconds([&] { chip->run(); });
    return {taken, processor_seconds() - begun, static_cast<double>(chip->cycles()),
            static_cast<double>(program.instructions.size())};
}

/// The quickest of many runs, each short enough that some are not interrupted.
TimingOnly quickest(const machine::MachineConfig& machine, const isa::Program& program) {
    constexpr int rounds = 60;
    TimingOnly best = time_without_values(machine, program);
    for (int round = 1; round < rounds; ++round) {
        const TimingOnly next = time_without_values(machine, program);
        best.seconds = std::min(best.seconds, next.seconds);
        best.processor_seconds = std::min(best.processor_seconds, next.processor_seconds);
    }
    return best;
}

void bench_timing_only() {
    constexpr std::size_t instructions = 20'000;
    constexpr std::uint32_t published_batch = 200;
    const machine::MachineConfig machine = tpu_v1();
    const TimingOnly bound = quickest(machine, bench::small_products(published_batch, instructions));
    const TimingOnly single = quickest(machine, bench::small_products(1, instructions));
    constexpr double million = 1e6;
    fmt::print("timing only, {} instructions, the best run: a second, a second of the processor\n",
               instructions);
    fmt::print("  256 x 256, B = 200           {:8.1f} {:8.1f} million cycles\n",
               bound.cycles / bound.seconds / million, bound.cycles / bound.processor_seconds / million);
    fmt::print("  B = 1                        {:8.2f} {:8.2f} million instructions\n\n",
               single.instructions / single.seconds / million,
               single.instructions / single.processor_seconds / million);
    bench::record("timing_only_cycles_per_second", bound.cycles / bound.seconds);
    bench::record("timing_only_instructions_per_second", single.instructions / single.seconds);
}

void bench_linearity() {
    constexpr int rounds = 7;
    constexpr std::array<std::size_t, 5> lengths{100, 1'000, 10'000, 100'000, 1'000'000};
    const machine::MachineConfig machine = tpu_v1();
    std::array<TimingOnly, lengths.size()> best;
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < lengths.size(); ++i) {
            const TimingOnly next = time_without_values(machine, bench::small_products(1, lengths[i]));
            if (round == 0 || next.processor_seconds < best[i].processor_seconds) best[i] = next;
        }
    }
    fmt::print("timing only, B = 1, the best of {} runs: processor time an instruction more\n", rounds);
    constexpr double nanoseconds = 1e9;
    std::vector<double> costs;
    for (std::size_t i = 1; i < lengths.size(); ++i) {
        const double more = best[i].processor_seconds - best[i - 1].processor_seconds;
        costs.push_back(more / (best[i].instructions - best[i - 1].instructions));
        fmt::print("  {:>7} to {:>9}         {:8.1f} ns\n", lengths[i - 1], lengths[i],
                   costs.back() * nanoseconds);
    }
    const auto [least, most] = std::minmax_element(costs.begin(), costs.end());
    fmt::print("  the dearest decade over the cheapest  {:.2f}\n\n", *most / *least);
    bench::record("instruction_cost_dearest_over_cheapest_decade", *most / *least);
}

/// Bytes that a process holds at most which runs a program of so many weight tiles, values computed.
double resident_bytes(std::uint32_t tiles) {
    const pid_t child = fork();
    if (child == 0) {
        const isa::Program program = bench::every_tile_once(tiles);
        Chip(tpu_v1(), program, hw::Values::Computed)->run();
        _exit(0);
    }
    int status = 0;
    rusage usage{};
    wait4(child, &status, 0, &usage);
    constexpr double kilobyte = 1024;
    return static_cast<double>(usage.ru_maxrss) * kilobyte;
}

void bench_memory() {
    constexpr std::uint32_t few = 16;
    constexpr std::uint32_t many = 4096;
    constexpr double tile_bytes = bench::side * bench::side;
    constexpr double megabyte = 1 << 20;
    const machine::MachineConfig machine = tpu_v1();
    const double memories = static_cast<double>(machine.unified_buffer_bytes()) +
                            4.0 * machine.accumulators.rows * machine.matrix_unit.columns;
    const double small = resident_bytes(few);
    const double large = resident_bytes(many);
    const double slope = (large - small) / ((many - few) * tile_bytes);
    const double beyond = large - 1.2 * (many * tile_bytes + memories);
    fmt::print("resident memory, unified buffer and accumulators {:.0f} MiB\n", memories / megabyte);
    fmt::print("  {:>4} MiB of weights         {:8.1f} MiB\n", few * tile_bytes / megabyte, small / megabyte);
    fmt::print("  {:>4} MiB of weights         {:8.1f} MiB\n", many * tile_bytes / megabyte,
               large / megabyte);
    fmt::print("  bytes a byte of weights      {:8.3f}\n", slope);
    fmt::print("  beyond 1.2 times weights and memories {:.1f} MiB\n\n", std::max(beyond, 0.0) / megabyte);
    bench::record("resident_bytes_per_weight_byte", slope);
}

/// The register-level engine with every element of the array busy, where there is one.
void bench_register_level() {
    constexpr std::string_view engine = "pe";
    constexpr std::uint32_t streams = 8;
    constexpr std::uint32_t rows = 2048;
    constexpr int rounds = 5;
    if (std::ranges::find(machine::engine_names, engine) == machine::engine_names.end()) return;
    nlohmann::json object = machine::to_json(tpu_v1());
    object["matrix_unit"]["engine"] = engine;
    const machine::MachineConfig machine = machine::read_machine(object, "benchmark");
    const isa::Program program = bench::busy_array(streams, rows);
    std::vector<double> rates;
    for (int round = 0; round < rounds; ++round) {
        Chip chip(machine, program, hw::Values::Computed);
        const double taken = seconds([&] { chip->run(); });
        rates.push_back(static_cast<double>(chip->counter("matrix_unit.active_cycles").value()) / taken);
    }
    fmt::print("engine pe, 256 x 256, every element busy\n");
    fmt::print("  pe_cycles_per_second         {:8.0f}\n", median(rates));
    bench::record("pe_cycles_per_second", median(rates));
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libsystemc's main calls it.
int sc_main(int, char*[]) {
    bench_memory();  // first: what this process holds would be counted
    bench_functional();
    bench_timing_only();
    bench_linearity();
    bench_register_level();
    return 0;
}
