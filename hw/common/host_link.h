#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "hw/common/clock.h"
#include "hw/common/port_arbiter.h"
#include "hw/common/shared_link.h"
#include "hw/common/trace.h"
#include "hw/machine/machine_config.h"
#include "hw/machine/unit_description.h"

namespace systole::hw {

/// The host as the cores share it: both directions of its link to each chip, and its processor. One transfer
/// at a time has a direction of a link, and one segment the processor; requests of one cycle are granted by
/// the number of the core.
class HostLink {
public:
    /// What a core transfers towards itself: data are granted before spilled weights.
    enum class Inbound : std::size_t { Data, Weights };

    /// Each `cores_of_chip` cores, by their numbers, are a chip, which has a link of its own.
    HostLink(const machine::MachineConfig& machine, std::size_t cores, std::size_t cores_of_chip,
             const Clock& clock);
    /// One chip.
    HostLink(const machine::MachineConfig& machine, std::size_t cores, const Clock& clock)
        : HostLink(machine, cores, cores, clock) {}

    /// The direction of a core's link.
    SharedLink& inbound(std::size_t core) { return inbound_[core / cores_of_chip_]; }
    SharedLink& outbound(std::size_t core) { return outbound_[core / cores_of_chip_]; }
    // SharedLink's messages towards a core.
    void send_urgent(std::size_t core, std::uint64_t bytes) {
        inbound(core).send_urgent(core % cores_of_chip_, bytes);
    }
    Cycle next_urgent_end(std::size_t core) { return inbound(core).next_urgent_end(core % cores_of_chip_); }

    // Each waits until the core has it, until it is released from a cycle on, now or later.
    void acquire(std::size_t core, Inbound use) {
        ports_.acquire(user(core, use), {{.port = inbound_port(core)}});
    }
    void release(std::size_t core, Inbound use, Cycle at) { ports_.release(user(core, use), at); }
    void acquire_outbound(std::size_t core) {
        ports_.acquire(outbound_user(core), {{.port = outbound_port(core)}});
    }
    void release_outbound(std::size_t core, Cycle at) { ports_.release(outbound_user(core), at); }
    void acquire_processor(std::size_t core) {
        ports_.acquire(processor_user(core), {{.port = processor_port}});
    }
    void release_processor(std::size_t core, Cycle at) { ports_.release(processor_user(core), at); }

private:
    static constexpr std::size_t processor_port = 0;
    static constexpr std::size_t users_of_core = 4;

    static std::size_t user(std::size_t core, Inbound use) {
        return core * users_of_core + static_cast<std::size_t>(use);
    }
    static std::size_t outbound_user(std::size_t core) { return core * users_of_core + 2; }
    static std::size_t processor_user(std::size_t core) { return core * users_of_core + 3; }
    std::size_t inbound_port(std::size_t core) const { return 1 + core / cores_of_chip_ * 2; }
    std::size_t outbound_port(std::size_t core) const { return inbound_port(core) + 1; }

    std::size_t cores_of_chip_;
    // By chip. A link refers to its requests, so none moves.
    std::deque<SharedLink> inbound_;
    std::deque<SharedLink> outbound_;
    PortArbiter ports_;
};

/// How traces show the queues of the link's unit, in each family.
inline constexpr QueueTraces host_read_traces{
    .track = "host_read", .signals = "host_interface.read_", .bytes = "host read"};
inline constexpr QueueTraces host_write_traces{
    .track = "host_write", .signals = "host_interface.write_", .bytes = "host write"};

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
