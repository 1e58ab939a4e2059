#include "sim/functional/host_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <stdexcept>

#include "base/zeroed_memory.h"
#include "hw/isa/program_error.h"

namespace systole::functional {
namespace {

ZeroedMemory<std::uint8_t> allocate(const isa::HostBuffer& buffer) {
    try {
        return ZeroedMemory<std::uint8_t>(buffer.all_bytes());
    } catch (const std::bad_alloc&) {
        throw isa::ProgramError(
            fmt::format("host buffer \"{}\": bytes is {}; it must be at most what this computer has left",
                        buffer.name, buffer.bytes));
    }
}

}  // namespace

bool HostMemory::shares(const isa::HostBuffer& buffer) const {
    const auto behind = buffers_.lower_bound(buffer.address + buffer.all_bytes());
    if (behind == buffers_.begin()) return false;
    const auto& [address, bytes] = *std::prev(behind);
    if (address + bytes.all().size() <= buffer.address) return false;
    const bool is_same = address == buffer.address && bytes.all().size() == buffer.all_bytes();
    const bool is_constant = buffer.kind == isa::BufferKind::Constant || constants_.contains(address);
    if (is_same && !is_constant) return true;
    throw isa::ProgramError(fmt::format(
        "host buffer \"{}\" overlaps one of another core's program; both may have the same buffer, "
        "but no constant one",
        buffer.name));
}

void HostMemory::add(std::span<const isa::HostBuffer> buffers) {
    for (const isa::HostBuffer& buffer : buffers) {
        if (shares(buffer)) continue;
        const auto made = buffers_.emplace(buffer.address, allocate(buffer)).first;
        if (buffer.kind == isa::BufferKind::Constant) constants_.insert(buffer.address);
        std::copy(buffer.contents.begin(), buffer.contents.end(), made->second.all().begin());
    }
}

std::span<std::uint8_t> HostMemory::bytes_of(const isa::HostBuffer& buffer) {
    const auto found = buffers_.find(buffer.address);
    if (found == buffers_.end() || found->second.all().size() != buffer.all_bytes()) {
        throw std::logic_error(fmt::format("host buffer \"{}\" is not the program's", buffer.name));
    }
    return found->second.all().first(buffer.bytes);
}

std::span<std::uint8_t> HostMemory::range(std::uint64_t address, std::uint64_t bytes) {
    const auto behind = buffers_.upper_bound(address);
    if (behind != buffers_.begin()) {
        auto& [begin, buffer] = *std::prev(behind);
        const std::uint64_t offset = address - begin;
        const std::uint64_t size = buffer.all().size();
        if (offset < size && bytes <= size - offset) return buffer.all().subspan(offset, bytes);
    }
    throw isa::ProgramError(
        fmt::format("{} bytes from host address {:#x} on must lie in one host buffer", bytes, address));
}

}  // namespace systole::functional
