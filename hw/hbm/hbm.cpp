#include "hw/hbm/hbm.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "hw/common/tag_extension.h"
#include "hw/isa/panels.h"

namespace systole::hw {

Hbm::Hbm(const sc_core::sc_module_name& name, const machine::MachineConfig& machine, const Clock& clock)
    : UnitModule(name),
      lanes_(machine.vector_unit.lanes),
      bytes_(machine.hbm.bytes),
      rows_of_part_(machine.hbm_rows_of_core()),
      rate_(machine.hbm_rate()),
      clock_(clock),
      words_(machine.hbm.bytes / isa::word_bytes, Backing::Unchecked),
      requests_(machine.system.cores, clock) {
    register_counters(counters_);
    for (std::size_t core = 0; core < machine.system.cores; ++core) {
        auto& socket = sockets.emplace_back(sc_core::sc_gen_unique_name("socket"));
        socket.register_b_transport(this, &Hbm::b_transport);
        socket.register_get_direct_mem_ptr(this, &Hbm::get_direct_mem_ptr);
        parts_.emplace_back(*this, core);
    }
}

std::uint8_t* Hbm::bytes_from(std::uint64_t address) {
    return reinterpret_cast<std::uint8_t*>(words_.data()) + address;
}

void Hbm::load(std::size_t core, const isa::Program& program) {
    parts_.at(core).load(program);
}

void Hbm::Part::load(const isa::Program& program) {
    static_assert(std::endian::native == std::endian::little, "words are kept as they lie in the program");
    for (const isa::InitialRows& initial : program.initial[isa::MemoryId::Hbm]) {
        std::memcpy(from_row(initial.first_row), initial.values.data(), initial.values.size());
        used_rows_ = std::max(used_rows_, isa::rows_of(initial, isa::MemoryId::Hbm, program.geometry).last);
    }
    for (const isa::ResidentTensor& resident : program.residents) {
        if (resident.side == isa::ResidentSide::Input)
            used_rows_ = std::max(used_rows_, resident.end_row(memory_.lanes_));
    }
}

void Hbm::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const std::uint64_t address = payload.get_address();
    const std::uint64_t length = payload.get_data_length();
    if (address > bytes_ || length > bytes_ - address) {
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
    }
    if (payload.get_data_ptr() != nullptr) {
        if (payload.is_read()) {
            std::memcpy(payload.get_data_ptr(), bytes_from(address), length);
        } else {
            std::memcpy(bytes_from(address), payload.get_data_ptr(), length);
        }
    }
    const TagExtension* const tagged = payload.get_extension<TagExtension>();
    const Tag tag = tagged != nullptr ? tagged->tag : Tag{0};
    (payload.is_read() ? counters_.read_bytes : counters_.written_bytes).add(length, tag);
    const ExactTime asked{clock_.after(delay), 0};
    busy_until_ = rate_.after(std::max(asked, busy_until_), length);
    delay = clock_.delay_until(busy_until_.whole);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

bool Hbm::get_direct_mem_ptr(tlm::tlm_generic_payload& /*payload*/, tlm::tlm_dmi& access) {
    access.allow_read_write();
    access.set_dmi_ptr(bytes_from(0));
    access.set_start_address(0);
    access.set_end_address(bytes_ - 1);
    return true;
}

}  // namespace systole::hw
