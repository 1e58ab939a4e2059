#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hw/isa/program_error.h"
#include "hw/system/system.h"
#include "sim/functional/tensor/tensor_executor.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/random_program/observe.h"
#include "tests/support/random_tensor/random_tensor.h"

namespace systole::tests {
namespace {

/// Of several cores, one behind the other.
struct TensorMemories {
    std::vector<std::uint32_t> vector_memory;
    std::vector<std::uint32_t> hbm;
    std::vector<std::vector<std::uint8_t>> host;

    bool operator==(const TensorMemories&) const = default;
};

struct TensorRun {
    std::string error;
    Cycle cycles = 0;
    std::vector<Cycle> ends;                               ///< by core
    std::vector<std::vector<hw::InstructionTimes>> times;  ///< by core
    std::vector<CounterReading> counters;
    TensorMemories memories;
};

class TensorTimes final : public hw::TraceListener {
public:
    void instruction(const hw::InstructionTimes& times) override { times_.push_back(times); }

    /// Those of the core. Units that work at the same time may end in one cycle in any order.
    std::vector<hw::InstructionTimes> by_unit() const {
        std::vector<hw::InstructionTimes> sorted = times_;
        std::ranges::stable_sort(sorted, {}, &hw::InstructionTimes::unit);
        return sorted;
    }

private:
    std::vector<hw::InstructionTimes> times_;
};

struct Way {
    std::string_view name;
    machine::Engine engine = machine::Engine::Wavefront;
    hw::Values values = hw::Values::Computed;
    std::function<unsigned()> delay = {};
};

void append(std::span<const std::uint32_t> words, std::vector<std::uint32_t>& to) {
    to.insert(to.end(), words.begin(), words.end());
}

/// The words of inputs, by their place: settled numbers, none of which is another one's.
template <class Execution>
void fill_inputs(Execution& execution, const isa::Program& program) {
    for (const isa::HostBuffer& buffer : program.buffers) {
        if (buffer.kind != isa::BufferKind::Input) continue;
        const std::span<std::uint8_t> bytes = execution.host_bytes(buffer);
        for (std::size_t word = 0; (word + 1) * isa::word_bytes <= bytes.size(); ++word) {
            const auto number = static_cast<float>(buffer.address % 1024 + word + 1);
            std::memcpy(bytes.data() + word * isa::word_bytes, &number, sizeof number);
        }
    }
}

TensorRun simulate(const TensorCase& random, const Way& way) {
    machine::MachineConfig machine = random.machine;
    machine.matrix_unit.engine = way.engine;
    FreshSimulation simulation;
    TensorRun run;
    const std::uint32_t cores = machine.system.all_cores();
    std::deque<TensorTimes> recorders(cores);
    try {
        hw::SystemOptions options{.values = way.values, .test_delta_delay = way.delay};
        options.trace = &recorders.front();
        for (std::uint32_t core = 1; core < cores; ++core) {
            options.other_cores.push_back({.trace = &recorders[core]});
        }
        hw::System system("system", machine, random.program, options);
        if (way.values == hw::Values::Computed) fill_inputs(system, random.program);
        system.run();
        run.cycles = system.cycles();
        for (std::uint32_t core = 0; core < cores; ++core) run.ends.push_back(system.core(core).end());
        for (const auto& [path, group] : system.counters()) {
            for (const hw::Counter& counter : *group) {
                for (hw::Tag tag = 0; tag < 4; ++tag) {
                    run.counters.push_back(
                        {fmt::format("{}.{}", path, counter.name()), tag, counter.value(tag)});
                }
            }
        }
        for (const TensorTimes& recorder : recorders) run.times.push_back(recorder.by_unit());
        if (way.values == hw::Values::TimingOnly) return run;
        for (std::uint32_t core = 0; core < cores; ++core) {
            append(system.tensor_core(core).vector_memory(), run.memories.vector_memory);
            append(system.tensor_core(core).hbm(), run.memories.hbm);
        }
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

TensorMemories judged(const TensorCase& random) {
    std::deque<functional::TensorExecutor> cores;
    std::vector<functional::TensorExecutor*> all;
    for (std::uint32_t core = 0; core < random.machine.system.all_cores(); ++core) {
        all.push_back(&cores.emplace_back(
            random.program, functional::TensorSizes{.vector_rows = random.machine.vector_memory.rows,
                                                    .hbm_rows = random.machine.hbm_rows_of_core(),
                                                    .core = core}));
        fill_inputs(cores.back(), random.program);
    }
    functional::TensorExecutor::run_together(all);
    TensorMemories memories;
    for (functional::TensorExecutor& executor : cores) {
        append(executor.vector_memory(), memories.vector_memory);
        append(executor.hbm(), memories.hbm);
        const std::vector<std::vector<std::uint8_t>> host = host_of(executor, random.program);
        if (memories.host.empty()) {
            memories.host = host;
            continue;
        }
        // Each core writes a part of its own; what it does not write is constant, or zero.
        for (std::size_t buffer = 0; buffer < host.size(); ++buffer) {
            std::ranges::transform(host[buffer], memories.host[buffer], memories.host[buffer].begin(),
                                   [](std::uint8_t a, std::uint8_t b) -> std::uint8_t { return a | b; });
        }
    }
    return memories;
}

template <class Element>
std::optional<std::string> first_of(std::string_view what, const std::vector<Element>& one,
                                    const std::vector<Element>& other, std::size_t row) {
    if (one.size() != other.size())
        return fmt::format("{}: {} and {} numbers", what, one.size(), other.size());
    const auto [left, right] = std::ranges::mismatch(one, other);
    if (left == one.end()) return std::nullopt;
    const auto place = static_cast<std::size_t>(left - one.begin());
    return fmt::format("{}, row {}, lane {}: {:#x} and {:#x}", what, place / row, place % row, *left, *right);
}

std::optional<std::string> difference_of(const TensorMemories& one, const TensorMemories& other,
                                         std::size_t lanes) {
    if (auto found = first_of("vector memory", one.vector_memory, other.vector_memory, lanes)) return found;
    if (auto found = first_of("HBM", one.hbm, other.hbm, lanes)) return found;
    for (std::size_t i = 0; i < one.host.size(); ++i) {
        const std::string what = fmt::format("host buffer {}", i);
        if (auto found = first_of(what, one.host[i], other.host.at(i), isa::word_bytes)) return found;
    }
    return std::nullopt;
}

/// Of a core.
std::optional<std::string> difference_of(const std::vector<hw::InstructionTimes>& one,
                                         const std::vector<hw::InstructionTimes>& other) {
    if (one.size() != other.size()) {
        return fmt::format("times of {} and {} instructions", one.size(), other.size());
    }
    const auto [left, right] = std::ranges::mismatch(one, other);
    if (left == one.end()) return std::nullopt;
    return fmt::format(
        "instruction {}: begun {}, released {}, complete {}; instruction {}: begun {}, "
        "released {}, complete {}",
        left->number, left->begun, left->released, left->complete, right->number, right->begun,
        right->released, right->complete);
}

std::optional<std::string> difference_of(const TensorRun& one, const TensorRun& other, std::size_t lanes) {
    if (one.error != other.error) return fmt::format("errors: \"{}\" and \"{}\"", one.error, other.error);
    for (std::size_t core = 0; core < one.times.size(); ++core) {
        if (auto found = difference_of(one.times[core], other.times[core])) {
            return fmt::format("core {}, {}", core, *found);
        }
        if (one.ends[core] != other.ends[core]) {
            return fmt::format("end of core {}: {} and {}", core, one.ends[core], other.ends[core]);
        }
    }
    if (one.cycles != other.cycles) return fmt::format("cycles: {} and {}", one.cycles, other.cycles);
    for (std::size_t i = 0; i < std::min(one.counters.size(), other.counters.size()); ++i) {
        const CounterReading& a = one.counters[i];
        const CounterReading& b = other.counters[i];
        if (a == b) continue;
        return fmt::format("{} of tag {}: {} and {}", a.name, a.tag, a.value, b.value);
    }
    const bool have_values = !one.memories.hbm.empty() && !other.memories.hbm.empty();
    return have_values ? difference_of(one.memories, other.memories, lanes) : std::nullopt;
}

/// What the counters' paths of a core begin with.
std::string path_of(std::uint32_t core, const machine::SystemConfig& system) {
    return (system.chips == 1 ? "" : fmt::format("chip{}.", core / system.cores)) +
           (system.cores == 1 ? "" : fmt::format("core{}.", core % system.cores));
}

/// Of a core, each unit's cycles sum to all cycles, and parts to what they are parts of.
std::optional<std::string> broken_law_of(std::uint32_t core, const TensorRun& run, const TensorCase& random) {
    const machine::SystemConfig& system = random.machine.system;
    const std::string path = path_of(core, system);
    const Cycle cycles = run.cycles;
    const auto sum = [&](const std::vector<std::string>& names) {
        std::uint64_t all = 0;
        for (const std::string& name : names) {
            for (const CounterReading& each : run.counters) {
                if (each.name == path + name) all += each.value;
            }
        }
        return all;
    };
    const auto of_queue = [&](const std::string& unit, const std::vector<std::string>& reasons = {}) {
        std::vector<std::string> names{unit + ".busy_cycles", unit + ".sync_cycles", unit + ".idle_cycles"};
        for (const std::string& reason : reasons) names.push_back(unit + "." + reason);
        return sum(names);
    };
    const auto of_group = [&](std::string_view group) {
        std::uint64_t all = 0;
        for (const CounterReading& each : run.counters) {
            if (each.name.starts_with(path + std::string(group))) all += each.value;
        }
        return all;
    };
    struct Law {
        std::string_view what;
        std::uint64_t left = 0;
        std::uint64_t right = 0;
    };
    const std::uint64_t cells =
        std::uint64_t{random.machine.matrix_unit.rows} * random.machine.matrix_unit.columns;
    const std::array laws{
        Law{"host_read", of_queue("host_read", {"link_stall_cycles"}), cycles},
        Law{"host_write", of_queue("host_write", {"link_stall_cycles"}), cycles},
        Law{"dma_in", of_queue("dma_in", {"hbm_cycles"}), cycles},
        Law{"dma_out", of_queue("dma_out", {"hbm_cycles"}), cycles},
        Law{"weight_load", of_queue("weight_load", {"plane_cycles"}), cycles},
        Law{"product_setup", of_queue("product_setup", {"array_cycles", "drain_cycles"}), cycles},
        Law{"vector_unit", of_queue("vector_unit", {"drain_cycles"}), cycles},
        Law{"cross_lane_unit", of_queue("cross_lane_unit", {"drain_cycles"}), cycles},
        Law{"collective_unit", of_queue("collective_unit", {"peer_cycles"}), cycles},
        Law{"matrix_unit",
            sum({"matrix_unit.active_cycles", "matrix_unit.weight_stall_cycles",
                 "matrix_unit.weight_shift_cycles", "matrix_unit.non_matrix_cycles"}),
            cycles * random.machine.matrix_unit.arrays},
        Law{"reasons", of_group("matrix_unit.non_matrix_reasons."), sum({"matrix_unit.non_matrix_cycles"})},
        Law{"cells", sum({"matrix_unit.useful_macs", "matrix_unit.unused_macs"}),
            cells * sum({"matrix_unit.active_cycles"})},
        Law{"vector work", of_group("vector_unit.work."), sum({"vector_unit.busy_cycles"})}};
    for (const Law& law : laws) {
        if (law.left == law.right) continue;
        return fmt::format("{}{}: {} is not {}", path, law.what, law.left, law.right);
    }
    return std::nullopt;
}

/// The same of all cores, and of the memory of each chip.
std::optional<std::string> broken_law_of(const TensorRun& run, const TensorCase& random) {
    const machine::SystemConfig& system = random.machine.system;
    std::map<std::string, std::uint64_t> values;
    for (const CounterReading& each : run.counters) values[each.name] += each.value;
    std::vector<std::uint64_t> read(system.chips);
    for (std::uint32_t core = 0; core < system.all_cores(); ++core) {
        if (auto broken = broken_law_of(core, run, random)) return broken;
        const std::string path = path_of(core, system);
        read[core / system.cores] +=
            values[path + "dma.in_bytes"] + values[path + "host_interface.write_bytes"];
    }
    for (std::uint32_t chip = 0; chip < system.chips; ++chip) {
        const std::string path = path_of(chip, {.chips = system.chips, .cores = 1});
        if (values[path + "hbm.read_bytes"] == read[chip]) continue;
        return fmt::format("{}hbm reads {} bytes, not {}", path, values[path + "hbm.read_bytes"], read[chip]);
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> judge(const TensorCase& random) {
    using enum machine::Engine;
    std::mt19937 shuffle(1);
    const auto shuffled = [&shuffle] { return shuffle() % 4; };
    const TensorRun reference = simulate(random, {.name = "pe", .engine = Pe});
    if (!reference.error.empty()) return reference.error;
    if (auto broken = broken_law_of(reference, random)) return broken;
    const std::array others{
        Way{.name = "wavefront", .engine = Wavefront},
        Way{.name = "wavefront, shuffled", .engine = Wavefront, .delay = shuffled},
        Way{.name = "pe, shuffled", .engine = Pe, .delay = shuffled},
        Way{.name = "wavefront, without values", .engine = Wavefront, .values = hw::Values::TimingOnly},
        Way{.name = "pe, without values", .engine = Pe, .values = hw::Values::TimingOnly}};
    const std::size_t lanes = random.machine.vector_unit.lanes;
    for (const Way& other : others) {
        if (auto found = difference_of(reference, simulate(random, other), lanes))
            return fmt::format("pe and {}: {}", other.name, *found);
    }
    if (!random.program.residents.empty()) {
        // They take no time: the program without them has the same times and counters.
        TensorCase without = random;
        without.program.residents.clear();
        const Way timing{.name = "without them", .values = hw::Values::TimingOnly};
        if (auto found = difference_of(reference, simulate(without, timing), lanes))
            return fmt::format("with tensors that stay in memory and without them: {}", *found);
    }
    try {
        if (auto found = difference_of(reference.memories, judged(random), lanes)) {
            return fmt::format("pe and functional: {}", *found);
        }
    } catch (const isa::ProgramError& error) {
        return fmt::format("functional: {}", error.what());
    }
    return std::nullopt;
}

}  // namespace systole::tests
