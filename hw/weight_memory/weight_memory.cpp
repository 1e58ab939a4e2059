#include "hw/weight_memory/weight_memory.h"

#include "hw/common/tag_extension.h"

namespace systole::hw {

WeightMemory::WeightMemory(const sc_core::sc_module_name& name, const machine::MachineConfig& machine,
                           const Clock& clock, std::size_t cores)
    : UnitModule(name),
      bytes_(machine.weight_memory.bytes),
      clock_(clock),
      timing_(make_memory_timing(machine)),
      cores_(cores),
      requests_(machine.weight_memory.writable ? 2 * cores : cores, clock) {
    if (const CounterGroup* counters = timing_->counters()) register_counters(*counters);
    for (std::size_t core = 0; core < cores; ++core) {
        auto& socket = sockets.emplace_back(sc_core::sc_gen_unique_name("socket"));
        socket.register_b_transport(this, &WeightMemory::b_transport);
        socket.register_get_direct_mem_ptr(this, &WeightMemory::get_direct_mem_ptr);
    }
}

bool WeightMemory::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& access) {
    const WeightImage::Region* region = image_.find(payload.get_address());
    if (!payload.is_read() || region == nullptr) return false;
    access.allow_read();
    // The TLM interface carries a writable pointer; only reads are granted.
    access.set_dmi_ptr(const_cast<std::uint8_t*>(region->bytes.data()));
    access.set_start_address(region->address);
    access.set_end_address(region->address + region->bytes.size() - 1);
    return true;
}

void WeightMemory::request(std::size_t core, std::uint64_t address, std::uint64_t bytes, Tag tag) {
    requests_.add(core, {.address = address, .bytes = bytes, .tag = tag}, serving());
}

Cycle WeightMemory::next_arrival(std::size_t core) {
    return requests_.take(core, serving());
}

void WeightMemory::request_write(std::size_t core, std::uint64_t bytes, Tag tag) {
    requests_.add(cores_ + core, {.writes = true, .bytes = bytes, .tag = tag}, serving());
}

Cycle WeightMemory::next_written(std::size_t core) {
    return requests_.take(cores_ + core, serving());
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
    if (payload.get_data_ptr() != nullptr) image_.read(address, {payload.get_data_ptr(), length});
    const TagExtension* tagged = payload.get_extension<TagExtension>();
    const Cycle done =
        timing_->read(address, length, clock_.after(delay), tagged != nullptr ? tagged->tag : 0);
    delay = clock_.delay_until(done);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

}  // namespace systole::hw
