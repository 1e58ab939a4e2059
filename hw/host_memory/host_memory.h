#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <systemc>
#include <tlm>
#include <vector>

#include "base/zeroed_memory.h"
#include "hw/common/memory_interfaces.h"
#include "hw/common/value_workers.h"
#include "hw/isa/program.h"

namespace systole::hw {

/// The buffers of a program in the host's memory. Access takes no time here; the host interface's link models
/// it.
class HostMemory final : public sc_core::sc_module, public HostMemoryAccess {
public:
    HostMemory(const sc_core::sc_module_name& name, Values values, std::size_t cores = 1);

    /// Allocates the program's buffers and fills the constant ones; a buffer of the same bytes that another
    /// program has is shared. Throws ProgramError if this computer has not enough memory, and if buffers of
    /// two programs overlap in another way.
    void load(const isa::Program& program);
    /// The bytes of one of the program's buffers.
    std::span<std::uint8_t> bytes(const isa::HostBuffer& buffer);
    /// Those of the padding behind it.
    std::span<std::uint8_t> padding(const isa::HostBuffer& buffer);
    bool has(std::uint64_t address, std::uint64_t bytes) override { return find(address, bytes) != nullptr; }
    std::uint8_t* host_bytes(std::uint64_t address, std::uint64_t bytes) override;

    /// The way of each core.
    std::deque<tlm_utils::simple_target_socket<HostMemory>> sockets;

private:
    struct Region {
        std::uint64_t address = 0;
        std::uint64_t length = 0;
        bool is_constant = false;
        std::optional<ZeroedMemory<std::uint8_t>> bytes;  ///< absent in a run without values
    };

    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& access);
    /// Whether there is the same buffer already.
    bool shares(const isa::HostBuffer& buffer) const;
    Region* find(std::uint64_t address, std::uint64_t length);

    const Values values_;
    std::vector<Region> regions_;  ///< by address
};

}  // namespace systole::hw
