#include "hw/weight_memory/weight_memory.h"

#include <cstring>

#include "hw/common/tag_extension.h"

namespace systole::hw {

WeightMemory::WeightMemory(const sc_core::sc_module_name& name, const machine::MachineConfig& machine,
                           const Clock& clock)
    : sc_module(name),
      bytes_(machine.weight_memory.bytes),
      clock_(clock),
      timing_(make_memory_timing(machine)) {
    socket.register_b_transport(this, &WeightMemory::b_transport);
    socket.register_get_direct_mem_ptr(this, &WeightMemory::get_direct_mem_ptr);
}

bool WeightMemory::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& access) {
    if (!payload.is_read() || payload.get_address() >= image_bytes_) return false;
    access.allow_read();
    access.set_dmi_ptr(image_->data());
    access.set_start_address(0);
    access.set_end_address(image_bytes_ - 1);
    return true;
}

void WeightMemory::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const std::uint64_t address = payload.get_address();
    const std::uint64_t length = payload.get_data_length();
    if (!payload.is_read()) {
        payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
        return;
    }
    if (address > bytes_ || length > bytes_ - address) {
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
    }
    if (payload.get_data_ptr() != nullptr) {
        sc_assert(address + length <= image_bytes_);
        std::memcpy(payload.get_data_ptr(), image_->data() + address, length);
    }
    const TagExtension* tagged = payload.get_extension<TagExtension>();
    const Cycle done =
        timing_->read(address, length, clock_.after(delay), tagged != nullptr ? tagged->tag : 0);
    delay = clock_.delay_until(done);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

}  // namespace systole::hw
