#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <systemc>
#include <tlm>
#include <vector>

#include "base/cycle.h"
#include "base/zeroed_memory.h"
#include "hw/common/clock.h"
#include "hw/common/counter.h"
#include "hw/common/tensor_interfaces.h"
#include "hw/common/unit_module.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"

namespace systole::hw {

struct HbmCounters final : CounterGroup {
    Counter& read_bytes = add("read_bytes", CounterUnit::Bytes, "read, by DMA and for the host");
    Counter& written_bytes = add("written_bytes", CounterUnit::Bytes, "written, by DMA and from the host");
};

/// The high-bandwidth memory of a chip, behind a TLM-2.0 socket for each core: bytes from address 0 on.
///
/// Timing: transactions follow each other at the exact rate of bandwidth x efficiency. `b_transport` does not
/// wait: it adds the time until the transaction's last byte has moved to its delay argument. Readers and
/// writers get direct access to the bytes; a transaction without a data pointer only asks for its time. What
/// comes from the host and goes there takes the link's time alone, and has its words from the core's part.
class Hbm final : public UnitModule {
public:
    Hbm(const sc_core::sc_module_name& name, const machine::MachineConfig& machine, const Clock& clock);

    /// The part of a core, by its number in the chip.
    HbmAccess& part(std::size_t core) { return parts_.at(core); }
    std::span<const std::uint32_t> words_of(std::size_t core) const {
        return words_.all().subspan(core * rows_of_part_ * lanes_, rows_of_part_ * lanes_);
    }

    /// Writes what a core's program says that the core's part holds before the first instruction. The rows of
    /// tensors that are there already count as used.
    void load(std::size_t core, const isa::Program& program);

    /// By core.
    std::deque<tlm_utils::simple_target_socket<Hbm>> sockets;

private:
    class Part final : public HbmAccess {
    public:
        Part(Hbm& memory, std::size_t core) : memory_(memory), core_(core) {}

        std::uint32_t* from_row(std::uint64_t row) override {
            return memory_.words_.data() + (first_row() + row) * memory_.lanes_;
        }
        void count_reads(std::uint64_t bytes, Tag tag) override {
            memory_.counters_.read_bytes.add(bytes, tag);
        }
        void count_writes(std::uint64_t bytes, Tag tag) override {
            memory_.counters_.written_bytes.add(bytes, tag);
        }
        void touch(const isa::Footprint& footprint) override {
            used_rows_ = std::max(used_rows_, end_of_words(footprint, isa::MemoryId::Hbm));
        }
        std::uint64_t first_row() const override { return core_ * memory_.rows_of_part_; }
        std::size_t core() const override { return core_; }
        HbmRequests& requests() override { return memory_.requests_; }
        std::uint64_t used_rows() const { return used_rows_; }
        void load(const isa::Program& program);

    private:
        Hbm& memory_;
        std::size_t core_;
        std::uint64_t used_rows_ = 0;  ///< from the part's row 0 on
    };

    void describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const override;
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& access);
    /// The bytes from an address on.
    std::uint8_t* bytes_from(std::uint64_t address);

    const std::size_t lanes_;
    const std::uint64_t bytes_;
    const std::uint64_t rows_of_part_;
    const Rate rate_;
    const Clock& clock_;
    ZeroedMemory<std::uint32_t> words_;
    ExactTime busy_until_;
    HbmRequests requests_;
    std::vector<Part> parts_;  ///< by core
    HbmCounters counters_;
};

}  // namespace systole::hw
