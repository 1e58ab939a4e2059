#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hw/common/clock.h"
#include "hw/common/port_arbiter.h"
#include "hw/common/shared_link.h"
#include "hw/machine/machine_config.h"
#include "hw/machine/unit_description.h"

namespace systole::hw {

/// The host as the cores share it: both directions of its link, and its processor. One transfer at a time has
/// a direction, and one segment the processor; requests of one cycle are granted by the number of the core.
class HostLink {
public:
    /// What a core transfers towards itself: data are granted before spilled weights.
    enum class Inbound : std::size_t { Data, Weights };

    HostLink(const machine::MachineConfig& machine, std::size_t cores, const Clock& clock)
        : inbound(machine.host_read_rate(), cores, clock),
          outbound(machine.host_write_rate(), cores, clock),
          ports_({{1, static_cast<std::uint32_t>(cores * (machine.weight_memory.spill ? 2 : 1))},
                  {1, static_cast<std::uint32_t>(cores)},
                  {1, static_cast<std::uint32_t>(cores)}},
                 clock) {}

    SharedLink inbound;
    SharedLink outbound;

    // Each waits until the core has it, until it is released from a cycle on, now or later.
    void acquire(std::size_t core, Inbound use) { ports_.acquire(user(core, use), {{.port = inbound_port}}); }
    void release(std::size_t core, Inbound use, Cycle at) { ports_.release(user(core, use), at); }
    void acquire_outbound(std::size_t core) {
        ports_.acquire(outbound_user(core), {{.port = outbound_port}});
    }
    void release_outbound(std::size_t core, Cycle at) { ports_.release(outbound_user(core), at); }
    void acquire_processor(std::size_t core) {
        ports_.acquire(processor_user(core), {{.port = processor_port}});
    }
    void release_processor(std::size_t core, Cycle at) { ports_.release(processor_user(core), at); }

private:
    static constexpr std::size_t inbound_port = 0;
    static constexpr std::size_t outbound_port = 1;
    static constexpr std::size_t processor_port = 2;
    static constexpr std::size_t users_of_core = 4;

    static std::size_t user(std::size_t core, Inbound use) {
        return core * users_of_core + static_cast<std::size_t>(use);
    }
    static std::size_t outbound_user(std::size_t core) { return core * users_of_core + 2; }
    static std::size_t processor_user(std::size_t core) { return core * users_of_core + 3; }

    PortArbiter ports_;
};

/// What the description of the link's unit has of its own, in each family.
struct LinkPlace {
    std::string title;
    std::uint32_t row = 0;                          ///< of its box
    std::string memory;                             ///< of the data
    std::vector<std::string> data_in;               ///< counters of their bytes
    std::vector<std::string> instructions;          ///< counters of their bytes
    std::vector<machine::DataPath> others_in = {};  ///< for what else comes from the host
    std::int32_t in_shift_y = 0;
    std::int32_t out_shift_y = 0;
};

/// Describes the link to the host: its rates and latency, the paths of what it carries, and what more
/// bandwidth would change.
void describe_host_link(const machine::MachineConfig& machine, LinkPlace place,
                        machine::UnitDescription& unit);

}  // namespace systole::hw
