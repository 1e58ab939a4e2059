#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string_view>

#include "hw/isa/program_error.h"
#include "hw/system/system.h"
#include "sim/functional/tiles/tile_executor.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/random_program/observe.h"
#include "tests/support/random_tiles/random_tiles.h"

namespace systole::tests {
namespace {

struct TileMemories {
    std::vector<std::vector<std::uint8_t>> narrow;  ///< by tile
    std::vector<std::uint8_t> wide;
    std::vector<std::vector<std::uint8_t>> host;

    bool operator==(const TileMemories&) const = default;
};

struct TileRun {
    std::string error;
    Cycle cycles = 0;
    std::vector<hw::InstructionTimes> times;
    std::vector<CounterReading> counters;
    TileMemories memories;

    bool operator==(const TileRun&) const = default;
};

class TimesRecorder final : public hw::TraceListener {
public:
    explicit TimesRecorder(TileRun& run) : run_(run) {}
    void instruction(const hw::InstructionTimes& times) override { run_.times.push_back(times); }

private:
    TileRun& run_;
};

TileRun simulate(const TileCase& random, machine::TileEngine engine, hw::Values values,
                 const std::function<unsigned()>& test_delta_delay) {
    machine::MachineConfig machine = random.machine;
    machine.tile_array.engine = engine;
    FreshSimulation simulation;
    TileRun run;
    TimesRecorder recorder(run);
    try {
        hw::System system("system", machine, random.program,
                          {.values = values, .trace = &recorder, .test_delta_delay = test_delta_delay});
        system.run();
        run.cycles = system.cycles();
        for (const auto& [path, group] : system.counters()) {
            for (const hw::Counter& counter : *group) {
                for (hw::Tag tag = 0; tag < 4; ++tag) {
                    run.counters.push_back(
                        {fmt::format("{}.{}", path, counter.name()), tag, counter.value(tag)});
                }
            }
        }
        // Units that work at the same time may end in one cycle in any order.
        std::ranges::stable_sort(run.times, {}, &hw::InstructionTimes::unit);
        if (values == hw::Values::TimingOnly) return run;
        const hw::EdgeTpuCore& core = system.edge_tpu_core();
        for (std::size_t tile = 0; tile < machine.tile_array.tiles(); ++tile) {
            const auto bytes = core.narrow_memory(tile);
            run.memories.narrow.emplace_back(bytes.begin(), bytes.end());
        }
        run.memories.wide.assign(core.wide_memory().begin(), core.wide_memory().end());
        run.memories.host = host_of(system, random.program);
    } catch (const isa::ProgramError& error) {
        run = {};
        run.error = error.what();
    } catch (const std::exception& error) {
        run = {};
        run.error = fmt::format("a mistake of the simulator: {}", error.what());
    }
    return run;
}

TileMemories judged(const TileCase& random) {
    functional::TileExecutor executor(random.program, {.narrow_bytes = random.machine.narrow_memory.bytes,
                                                       .positions = random.machine.tile_array.pixels});
    executor.run();
    TileMemories memories;
    for (std::size_t tile = 0; tile < random.machine.tile_array.tiles(); ++tile) {
        const auto bytes = executor.narrow_memory(tile);
        memories.narrow.emplace_back(bytes.begin(), bytes.end());
    }
    memories.wide.assign(executor.wide_memory().begin(), executor.wide_memory().end());
    memories.host = host_of(executor, random.program);
    return memories;
}

std::optional<std::string> first_byte(std::string_view what, const std::vector<std::uint8_t>& one,
                                      const std::vector<std::uint8_t>& other) {
    if (one.size() != other.size()) return fmt::format("{}: {} and {} bytes", what, one.size(), other.size());
    const auto [left, right] = std::ranges::mismatch(one, other);
    if (left == one.end()) return std::nullopt;
    return fmt::format("{}, byte {}: {} and {}", what, left - one.begin(), *left, *right);
}

std::optional<std::string> difference_of(const TileMemories& one, const TileMemories& other) {
    for (std::size_t tile = 0; tile < one.narrow.size(); ++tile) {
        const std::string what = fmt::format("narrow memory of tile {}", tile);
        if (auto found = first_byte(what, one.narrow[tile], other.narrow.at(tile))) return found;
    }
    if (auto found = first_byte("wide memory", one.wide, other.wide)) return found;
    for (std::size_t i = 0; i < one.host.size(); ++i) {
        if (auto found = first_byte(fmt::format("host buffer {}", i), one.host[i], other.host.at(i))) {
            return found;
        }
    }
    return std::nullopt;
}

std::optional<std::string> difference_of(const TileRun& one, const TileRun& other) {
    if (one.error != other.error) return fmt::format("errors: \"{}\" and \"{}\"", one.error, other.error);
    for (std::size_t i = 0; i < std::min(one.times.size(), other.times.size()); ++i) {
        const hw::InstructionTimes& a = one.times[i];
        const hw::InstructionTimes& b = other.times[i];
        if (a == b) continue;
        return fmt::format(
            "instruction {}: begun {}, released {}, complete {}; instruction {}: begun {}, "
            "released {}, complete {}",
            a.number, a.begun, a.released, a.complete, b.number, b.begun, b.released, b.complete);
    }
    if (one.cycles != other.cycles) return fmt::format("cycles: {} and {}", one.cycles, other.cycles);
    for (std::size_t i = 0; i < std::min(one.counters.size(), other.counters.size()); ++i) {
        const CounterReading& a = one.counters[i];
        const CounterReading& b = other.counters[i];
        if (a == b) continue;
        return fmt::format("{} of tag {}: {} and {}", a.name, a.tag, a.value, b.value);
    }
    return one.memories.narrow.empty() || other.memories.narrow.empty()
               ? std::nullopt
               : difference_of(one.memories, other.memories);
}

/// Each unit's cycles sum to all cycles, and the lanes' to those in which the tiles multiplied.
std::optional<std::string> broken_law_of(const TileRun& run, const TileCase& random) {
    const auto sum = [&](std::initializer_list<std::string_view> names) {
        std::uint64_t all = 0;
        for (const CounterReading& each : run.counters) {
            if (std::ranges::find(names, each.name) != names.end()) all += each.value;
        }
        return all;
    };
    struct Law {
        std::string_view what;
        std::uint64_t left = 0;
        std::uint64_t right = 0;
    };
    const std::uint64_t macs =
        std::uint64_t{random.machine.tile_array.tiles()} * random.machine.tile_array.lanes * isa::tile_word;
    const std::array laws{
        Law{"tiles",
            sum({"tile_array.busy_cycles", "tile_array.sync_cycles", "tile_array.idle_cycles",
                 "tile_array.ring_stall_cycles"}),
            run.cycles},
        Law{"ring",
            sum({"ring.busy_cycles", "ring.sync_cycles", "ring.idle_cycles", "ring.buffer_stall_cycles",
                 "ring.staging_stall_cycles"}),
            run.cycles},
        Law{"mesh", sum({"mesh.busy_cycles", "mesh.sync_cycles", "mesh.idle_cycles"}), run.cycles},
        Law{"host_read",
            sum({"host_read.busy_cycles", "host_read.sync_cycles", "host_read.idle_cycles",
                 "host_read.staging_full_cycles"}),
            run.cycles},
        Law{"busy tiles", sum({"tile_array.work.multiply_cycles", "tile_array.work.vector_cycles"}),
            sum({"tile_array.busy_cycles"})},
        Law{"lanes", sum({"tile_array.work.useful_macs", "tile_array.work.unused_macs"}),
            macs * sum({"tile_array.work.multiply_cycles"})}};
    for (const Law& law : laws) {
        if (law.left == law.right) continue;
        return fmt::format("{}: {} is not {}", law.what, law.left, law.right);
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> judge(const TileCase& random) {
    using machine::TileEngine;
    std::mt19937 shuffle(1);
    const auto shuffled = [&shuffle] { return shuffle() % 4; };
    const TileRun reference = simulate(random, TileEngine::Lane, hw::Values::Computed, {});
    if (!reference.error.empty()) return reference.error;
    if (auto broken = broken_law_of(reference, random)) return broken;
    struct Other {
        std::string_view name;
        TileEngine engine;
        hw::Values values;
        std::function<unsigned()> delay;
    };
    const std::array others{
        Other{"closed_form", TileEngine::ClosedForm, hw::Values::Computed, {}},
        Other{"closed_form, shuffled", TileEngine::ClosedForm, hw::Values::Computed, shuffled},
        Other{"lane, shuffled", TileEngine::Lane, hw::Values::Computed, shuffled},
        Other{"closed_form, without values", TileEngine::ClosedForm, hw::Values::TimingOnly, {}},
        Other{"lane, without values", TileEngine::Lane, hw::Values::TimingOnly, {}}};
    for (const Other& other : others) {
        const TileRun run = simulate(random, other.engine, other.values, other.delay);
        if (auto found = difference_of(reference, run))
            return fmt::format("lane and {}: {}", other.name, *found);
    }
    try {
        if (auto found = difference_of(reference.memories, judged(random))) {
            return fmt::format("lane and functional: {}", *found);
        }
    } catch (const isa::ProgramError& error) {
        return fmt::format("functional: {}", error.what());
    }
    return std::nullopt;
}

}  // namespace systole::tests
