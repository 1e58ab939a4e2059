#include "hw/host_memory/host_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>

#include "hw/isa/program_error.h"

namespace systole::hw {

HostMemory::HostMemory(const sc_core::sc_module_name& name, Values values, std::size_t cores)
    : sc_module(name), values_(values) {
    for (std::size_t core = 0; core < cores; ++core) {
        auto& socket = sockets.emplace_back(sc_core::sc_gen_unique_name("socket"));
        socket.register_b_transport(this, &HostMemory::b_transport);
        socket.register_get_direct_mem_ptr(this, &HostMemory::get_direct_mem_ptr);
    }
}

bool HostMemory::shares(const isa::HostBuffer& buffer) const {
    const auto meeting = std::find_if(regions_.begin(), regions_.end(), [&](const Region& region) {
        return buffer.address < region.address + region.length &&
               region.address < buffer.address + buffer.all_bytes();
    });
    if (meeting == regions_.end()) return false;
    const bool is_same = meeting->address == buffer.address && meeting->length == buffer.all_bytes();
    const bool is_constant = buffer.kind == isa::BufferKind::Constant || meeting->is_constant;
    if (is_same && !is_constant) return true;
    throw isa::ProgramError(fmt::format(
        "host buffer {} lies in bytes {} to {}, where another core's program has one; both may have "
        "the same buffer, but no constant one",
        buffer.name, buffer.address, buffer.address + buffer.bytes - 1));
}

void HostMemory::load(const isa::Program& program) {
    std::vector<Region> added;
    for (const isa::HostBuffer& buffer : program.buffers) {
        if (shares(buffer)) continue;
        Region region{.address = buffer.address,
                      .length = buffer.all_bytes(),
                      .is_constant = buffer.kind == isa::BufferKind::Constant,
                      .bytes = {}};
        if (values_ == Values::Computed) {
            try {
                region.bytes.emplace(buffer.all_bytes());
            } catch (const std::bad_alloc&) {
                throw isa::ProgramError(
                    fmt::format("buffer {} has {} bytes; this computer cannot give that much memory",
                                buffer.name, buffer.bytes));
            }
            std::copy(buffer.contents.begin(), buffer.contents.end(), region.bytes->data());
        }
        added.push_back(std::move(region));
    }
    std::move(added.begin(), added.end(), std::back_inserter(regions_));
    std::sort(regions_.begin(), regions_.end(),
              [](const Region& a, const Region& b) { return a.address < b.address; });
}

std::span<std::uint8_t> HostMemory::bytes(const isa::HostBuffer& buffer) {
    Region* region = find(buffer.address, buffer.bytes);
    sc_assert(region != nullptr);
    return {region->bytes ? region->bytes->data() : nullptr, region->bytes ? buffer.bytes : 0};
}

std::span<std::uint8_t> HostMemory::padding(const isa::HostBuffer& buffer) {
    if (bytes(buffer).empty()) return {};
    return {host_bytes(buffer.address, buffer.all_bytes()) + buffer.bytes, buffer.padding};
}

std::uint8_t* HostMemory::host_bytes(std::uint64_t address, std::uint64_t bytes) {
    Region* region = find(address, bytes);
    sc_assert(region != nullptr && region->bytes);
    return region->bytes->data() + (address - region->address);
}

HostMemory::Region* HostMemory::find(std::uint64_t address, std::uint64_t length) {
    const auto behind =
        std::upper_bound(regions_.begin(), regions_.end(), address,
                         [](std::uint64_t a, const Region& region) { return a < region.address; });
    if (behind == regions_.begin()) return nullptr;
    Region& region = *std::prev(behind);
    const std::uint64_t offset = address - region.address;
    return offset <= region.length && length <= region.length - offset ? &region : nullptr;
}

bool HostMemory::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& access) {
    Region* region = find(payload.get_address(), 1);
    if (region == nullptr || !region->bytes) return false;
    access.allow_read_write();
    access.set_dmi_ptr(region->bytes->data());
    access.set_start_address(region->address);
    access.set_end_address(region->address + region->length - 1);
    return true;
}

void HostMemory::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    Region* region = find(payload.get_address(), payload.get_data_length());
    if (region == nullptr) {
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
    }
    if (payload.get_data_ptr() != nullptr) {
        std::uint8_t* const bytes = region->bytes->data() + (payload.get_address() - region->address);
        if (payload.is_read()) {
            std::memcpy(payload.get_data_ptr(), bytes, payload.get_data_length());
        } else {
            std::memcpy(bytes, payload.get_data_ptr(), payload.get_data_length());
        }
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

}  // namespace systole::hw
