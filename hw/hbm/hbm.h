#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <systemc>
#include <tlm>

#include "base/cycle.h"
#include "base/zeroed_memory.h"
#include "hw/common/clock.h"
#include "hw/common/counter.h"
#include "hw/common/tensor_interfaces.h"
#include "hw/common/unit_module.h"
#include "hw/machine/machine_config.h"

namespace systole::hw {

struct HbmCounters final : CounterGroup {
    Counter& read_bytes = add("read_bytes", CounterUnit::Bytes, "read, by DMA and for the host");
    Counter& written_bytes = add("written_bytes", CounterUnit::Bytes, "written, by DMA and from the host");
};

/// The high-bandwidth memory of a core, behind a TLM-2.0 socket: bytes from address 0 on.
///
/// Timing: transactions follow each other at the exact rate of bandwidth x efficiency. `b_transport` does not
/// wait: it adds the time until the transaction's last byte has moved to its delay argument. Readers and
/// writers get direct access to the bytes; a transaction without a data pointer only asks for its time. What
/// comes from the host and goes there takes the link's time alone, and has its words from `from_row`.
class Hbm final : public UnitModule, public WordMemoryAccess {
public:
    Hbm(const sc_core::sc_module_name& name, const machine::MachineConfig& machine, const Clock& clock);

    std::uint32_t* from_row(std::uint64_t row) override { return words_.data() + row * lanes_; }
    void count_reads(std::uint64_t bytes, Tag tag) override { counters_.read_bytes.add(bytes, tag); }
    void count_writes(std::uint64_t bytes, Tag tag) override { counters_.written_bytes.add(bytes, tag); }
    void touch(const isa::Footprint& footprint) override {
        used_rows_ = std::max(used_rows_, end_of_words(footprint, isa::MemoryId::Hbm));
    }

    std::span<const std::uint32_t> words() const { return words_.all(); }

    tlm_utils::simple_target_socket<Hbm> socket{"socket"};

private:
    void describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const override;
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& access);
    /// The bytes from an address on.
    std::uint8_t* bytes_from(std::uint64_t address);

    const std::size_t lanes_;
    const std::uint64_t bytes_;
    const Rate rate_;
    const Clock& clock_;
    ZeroedMemory<std::uint32_t> words_;
    ExactTime busy_until_;
    std::uint64_t used_rows_ = 0;  ///< from row 0 on
    HbmCounters counters_;
};

}  // namespace systole::hw
