#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hw/common/trace.h"
#include "hw/isa/program.h"
#include "hw/isa/queue.h"
#include "hw/machine/machine_config.h"

namespace systole::tests {

/// The contents of the memories after a program.
struct Memories {
    std::vector<std::uint8_t> unified_buffer;
    std::vector<std::int32_t> accumulators;
    std::vector<std::vector<std::uint8_t>> host;  ///< by buffer of the program

    bool operator==(const Memories&) const = default;
};

/// The contents of the program's host buffers, of a machine or an executor.
template <class Machine>
std::vector<std::vector<std::uint8_t>> host_of(Machine& machine, const isa::Program& program) {
    std::vector<std::vector<std::uint8_t>> host;
    for (const isa::HostBuffer& buffer : program.buffers) {
        const auto bytes = machine.host_bytes(buffer);
        host.emplace_back(bytes.begin(), bytes.end());
    }
    return host;
}

struct CounterReading {
    std::string name;  ///< unit.counter
    hw::Tag tag = 0;
    std::uint64_t value = 0;

    bool operator==(const CounterReading&) const = default;
};

/// Everything that can be seen of a run.
struct Observation {
    std::string error;  ///< error of a wrong program or simulator; then the rest is empty
    Cycle cycles = 0;
    std::array<std::vector<hw::InstructionTimes>, isa::queue_count> times;  ///< by unit, in its order
    std::vector<hw::TileTimes> tiles;                                       ///< in the order of the FIFO
    std::vector<CounterReading> counters;                                   ///< each for each tag
    Memories memories;

    bool operator==(const Observation&) const = default;
};

/// Runs the program on the chip with an engine for the matrix unit. `test_delta_delay` is that of
/// SystemOptions.
Observation observe(const isa::Program& program, machine::MachineConfig machine, machine::Engine engine,
                    const std::function<unsigned()>& test_delta_delay = {});

/// The memories after the functional executor. Throws ProgramError if the program is wrong.
Memories execute(const isa::Program& program, const machine::MachineConfig& machine);

/// The first difference between two observations, in one line, or nullopt.
std::optional<std::string> difference(const Observation& one, const Observation& other);
std::optional<std::string> difference(const Memories& one, const Memories& other);

/// The first law of accounting that a run breaks, in one line: partitions that do not sum to all cycles,
/// times in a wrong order, instructions without times.
std::optional<std::string> broken_law(const Observation& run, const isa::Program& program,
                                      const machine::MachineConfig& machine);

}  // namespace systole::tests
