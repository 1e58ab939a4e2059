#include "tests/support/random_program/random_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <type_traits>
#include <variant>

#include "hw/isa/program_error.h"
#include "hw/isa/queue.h"
#include "hw/system/system.h"
#include "sim/functional/executor.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/mixing_host.h"
#include "tests/support/random_program/random_case.h"
#include "tests/support/random_program/synchronize.h"

namespace systole::tests {
namespace {

constexpr std::uint64_t shared_address = std::uint64_t{1} << 36;
constexpr std::uint64_t address_of_core = std::uint64_t{1}
                                          << 32;  ///< beyond the buffers of any random program
constexpr std::uint64_t most_bytes = 8;           ///< of a handover
constexpr std::size_t most_handovers = 6;

/// A transfer of a handover, before the program has `sync`.
struct Transfer {
    std::size_t place = 0;  ///< before this instruction of the drawn program
    isa::Instruction instruction;
};

/// Moves the program's host buffers, and what addresses them.
void move_buffers(isa::Program& program, std::uint64_t by) {
    for (isa::HostBuffer& buffer : program.buffers) buffer.address += by;
    for (isa::Instruction& instruction : program.instructions) {
        if (auto* const read = std::get_if<isa::ReadHostMemory>(&instruction)) read->host_address += by;
        if (auto* const write = std::get_if<isa::WriteHostMemory>(&instruction)) write->host_address += by;
    }
}

/// Numbers the program's semaphores from 0 on. False if a core has not as many for itself.
bool renumber_semaphores(isa::Program& program) {
    std::map<std::uint8_t, std::uint8_t> numbers;
    for (isa::Instruction& instruction : program.instructions) {
        std::visit(
            [&](auto& each) {
                using Kind = std::decay_t<decltype(each)>;
                if constexpr (std::is_same_v<Kind, isa::SyncWait> || std::is_same_v<Kind, isa::SyncSignal>) {
                    const auto next = static_cast<std::uint8_t>(numbers.size());
                    each.semaphore = numbers.try_emplace(each.semaphore, next).first->second;
                }
            },
            instruction);
    }
    return numbers.size() <= isa::first_shared_semaphore;
}

std::size_t length_of(const isa::Program& program) {
    const auto halt = std::ranges::find_if(
        program.instructions, [](const auto& each) { return std::holds_alternative<isa::Halt>(each); });
    return static_cast<std::size_t>(halt - program.instructions.begin());
}

/// The place of the handover's transfer in a program: its address is its own.
template <class Kind>
std::size_t find_transfer(const isa::Program& program, std::uint64_t address) {
    const auto found = std::ranges::find_if(program.instructions, [&](const isa::Instruction& each) {
        const auto* const transfer = std::get_if<Kind>(&each);
        return transfer != nullptr && transfer->host_address == address;
    });
    return static_cast<std::size_t>(found - program.instructions.begin());
}

void insert(isa::Program& program, std::size_t place, const isa::Instruction& instruction) {
    program.instructions.insert(program.instructions.begin() + static_cast<std::ptrdiff_t>(place),
                                instruction);
}

/// Draws the handovers one after the other: in each program, none stands before the one drawn before it, so
/// that one after the other they can be done.
class Handovers {
public:
    Handovers(Choices& choices, std::vector<Case>& cores) : choices_(choices), cores_(cores) {
        transfers_.resize(cores.size());
        first_place_.resize(cores.size());
    }

    void draw() {
        if (cores_.size() < 2) return;
        const std::size_t count = choices_.from(1, most_handovers);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t from = choices_.from(0, cores_.size() - 1);
            const std::size_t to = (from + choices_.from(1, cores_.size() - 1)) % cores_.size();
            pairs_.emplace_back(from, to);
            const auto bytes = choices_.number<std::uint32_t>(
                1, std::min<std::uint64_t>(most_bytes, cores_.front().machine.matrix_unit.rows));
            const std::uint64_t address = address_of(i);
            add(from, isa::WriteHostMemory{
                          .host_address = address, .unified_buffer_row = row(), .block_bytes = bytes});
            add(to, isa::ReadHostMemory{
                        .host_address = address, .unified_buffer_row = row(), .block_bytes = bytes});
        }
        for (std::size_t core = 0; core < cores_.size(); ++core) {
            isa::Program& program = cores_[core].program;
            // From the last on, so that places stay.
            for (auto each = transfers_[core].rbegin(); each != transfers_[core].rend(); ++each) {
                insert(program, each->place, each->instruction);
            }
            program.buffers.push_back({.name = "shared",
                                       .kind = isa::BufferKind::Output,
                                       .address = shared_address,
                                       .bytes = most_handovers * most_bytes});
        }
    }

    /// Puts the semaphores of the system around the transfers, in programs that have all other `sync`.
    std::vector<Handover> synchronize(std::vector<isa::Program>& programs) const {
        for (std::size_t i = 0; i < pairs_.size(); ++i) {
            const auto semaphore = static_cast<std::uint8_t>(isa::first_shared_semaphore + i);
            isa::Program& from = programs[pairs_[i].first];
            insert(from, find_transfer<isa::WriteHostMemory>(from, address_of(i)) + 1,
                   isa::SyncSignal{.unit = isa::QueueId::HostWrite, .semaphore = semaphore});
            isa::Program& to = programs[pairs_[i].second];
            insert(to, find_transfer<isa::ReadHostMemory>(to, address_of(i)),
                   isa::SyncWait{.unit = isa::QueueId::HostRead, .semaphore = semaphore});
        }
        std::vector<Handover> handovers;
        for (std::size_t i = 0; i < pairs_.size(); ++i) {
            const auto [from, to] = pairs_[i];
            const std::size_t write = find_transfer<isa::WriteHostMemory>(programs[from], address_of(i));
            const std::size_t read = find_transfer<isa::ReadHostMemory>(programs[to], address_of(i));
            handovers.push_back({.from = from,
                                 .to = to,
                                 .write = write,
                                 .signal = write + 1,
                                 .wait = read - 1,
                                 .read = read});
        }
        return handovers;
    }

private:
    static std::uint64_t address_of(std::size_t handover) { return shared_address + handover * most_bytes; }
    std::uint32_t row() {
        return choices_.number<std::uint32_t>(0, cores_.front().machine.unified_buffer.rows - 1);
    }
    void add(std::size_t core, const isa::Instruction& instruction) {
        first_place_[core] = choices_.from(first_place_[core], length_of(cores_[core].program));
        transfers_[core].push_back({.place = first_place_[core], .instruction = instruction});
    }

    Choices& choices_;
    std::vector<Case>& cores_;
    std::vector<std::pair<std::size_t, std::size_t>> pairs_;  ///< by handover: from, to
    std::vector<std::vector<Transfer>> transfers_;            ///< by core
    std::vector<std::size_t> first_place_;                    ///< by core: of the next transfer
};

std::vector<const isa::Program*> pointers(const std::vector<isa::Program>& programs) {
    std::vector<const isa::Program*> all;
    for (const isa::Program& program : programs) all.push_back(&program);
    return all;
}

}  // namespace

std::optional<SystemCase> random_system(Choices& choices) {
    SystemCase system;
    system.machine = random_machine(choices);
    const std::size_t count = choices.from(1, 3);
    std::vector<Case> cores;
    for (std::size_t core = 0; core < count; ++core) {
        Case drawn{.machine = system.machine, .program = random_program(system.machine, choices), .sync = {}};
        drawn.sync.seed = choices.from(0, UINT32_MAX);
        drawn.sync.late_percent = choices.number<unsigned>(0, 50);
        drawn.sync.early_percent = choices.number<unsigned>(0, 50);
        move_buffers(drawn.program, core * address_of_core);
        cores.push_back(std::move(drawn));
    }
    Handovers handovers(choices, cores);
    handovers.draw();
    for (const Case& core : cores) {
        isa::Program program = synchronized(core);
        if (!renumber_semaphores(program)) return std::nullopt;
        system.programs.push_back(std::move(program));
    }
    system.handovers = handovers.synchronize(system.programs);
    system.machine.weight_memory.bytes *= count;
    return system;
}

SystemObservation observe(const SystemCase& random, machine::Engine engine,
                          const std::function<unsigned()>& test_delta_delay) {
    machine::MachineConfig machine = random.machine;
    machine.matrix_unit.engine = engine;
    FreshSimulation simulation;
    SystemObservation run;
    try {
        hw::System system("system", machine, pointers(random.programs),
                          {.host = &mixing_host(), .test_delta_delay = test_delta_delay});
        system.run();
        for (std::size_t core = 0; core < random.programs.size(); ++core) {
            const hw::TpuV1Core& part = system.tpu_v1_core(core);
            run.cycles.push_back(part.end());
            const std::uint8_t* const bytes = part.unified_buffer().read(0, machine.unified_buffer.rows);
            const std::int32_t* const sums = part.accumulators().read(0, machine.accumulators.rows);
            run.memories.push_back({.unified_buffer = {bytes, bytes + machine.unified_buffer_bytes()},
                                    .accumulators = {sums, sums + std::size_t{machine.accumulators.rows} *
                                                                      machine.matrix_unit.columns},
                                    .host = host_of(system, random.programs[core])});
        }
        for (const auto& [path, group] : system.counters()) {
            for (const hw::Counter& counter : *group) {
                run.counters.push_back({fmt::format("{}.{}", path, counter.name()), 0, counter.value()});
            }
        }
    } catch (const isa::ProgramError& error) {
        run = {};
        run.error = error.what();
    } catch (const std::exception& error) {
        run = {};
        run.error = fmt::format("a mistake of the simulator: {}", error.what());
    }
    return run;
}

std::vector<Memories> execute(const SystemCase& random) {
    functional::Executor executor(pointers(random.programs), random.machine, &mixing_host());
    executor.run();
    std::vector<Memories> memories;
    for (std::size_t core = 0; core < random.programs.size(); ++core) {
        const auto bytes = executor.unified_buffer(core);
        const auto sums = executor.accumulators(core);
        memories.push_back({.unified_buffer = {bytes.begin(), bytes.end()},
                            .accumulators = {sums.begin(), sums.end()},
                            .host = host_of(executor, random.programs[core])});
    }
    return memories;
}

std::optional<std::string> difference(const SystemObservation& one, const SystemObservation& other) {
    if (one == other) return std::nullopt;
    if (one.error != other.error) return fmt::format("errors: \"{}\" and \"{}\"", one.error, other.error);
    for (std::size_t core = 0; core < one.cycles.size(); ++core) {
        if (one.cycles[core] == other.cycles.at(core)) continue;
        return fmt::format("cycles of core {}: {} and {}", core, one.cycles[core], other.cycles[core]);
    }
    for (std::size_t i = 0; i < std::min(one.counters.size(), other.counters.size()); ++i) {
        const CounterReading& left = one.counters[i];
        const CounterReading& right = other.counters[i];
        if (left == right) continue;
        return fmt::format("{}: {}; {}: {}", left.name, left.value, right.name, right.value);
    }
    for (std::size_t core = 0; core < one.memories.size(); ++core) {
        if (const auto found = difference(one.memories[core], other.memories.at(core))) {
            return fmt::format("core {}: {}", core, *found);
        }
    }
    return "other counters";
}

SystemCase without_wait(const SystemCase& random, std::size_t handover) {
    SystemCase result = random;
    const Handover& chosen = random.handovers[handover];
    result.programs[chosen.to].instructions[chosen.wait] = isa::Nop{};
    return result;
}

}  // namespace systole::tests
