#pragma once

#include <cstddef>

#include "hw/common/clock.h"
#include "hw/common/port_arbiter.h"
#include "hw/common/shared_link.h"
#include "hw/machine/machine_config.h"

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

}  // namespace systole::hw
