#include "hw/isa/assembly/host_labels.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/isa/assembly/lexer.h"

namespace systole::isa {

HostLabels::HostLabels(const std::vector<HostBuffer>& buffers) {
    for (const HostBuffer& buffer : buffers) {
        if (is_name(buffer.name)) by_address_.push_back(&buffer);
    }
    std::sort(by_address_.begin(), by_address_.end(),
              [](const HostBuffer* a, const HostBuffer* b) { return a->address < b->address; });
}

std::string HostLabels::text_of(std::uint64_t address) const {
    const auto above = std::upper_bound(
        by_address_.begin(), by_address_.end(), address,
        [](std::uint64_t wanted, const HostBuffer* buffer) { return wanted < buffer->address; });
    if (above != by_address_.begin()) {
        const HostBuffer& buffer = **std::prev(above);
        const std::uint64_t offset = address - buffer.address;
        if (offset == 0) return buffer.name;
        if (offset < buffer.bytes) return fmt::format("{}+{}", buffer.name, offset);
    }
    return fmt::format("{:#x}", address);
}

}  // namespace systole::isa
