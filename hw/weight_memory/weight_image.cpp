#include "hw/weight_memory/weight_image.h"

#include <algorithm>
#include <iterator>

namespace systole::hw {

const WeightImage::Region* WeightImage::find(std::uint64_t address) const {
    const auto behind = regions_.upper_bound(address);
    if (behind == regions_.begin()) return nullptr;
    const Region& region = std::prev(behind)->second;
    return address - region.address < region.bytes.size() ? &region : nullptr;
}

void WeightImage::read(std::uint64_t address, std::span<std::uint8_t> bytes) const {
    std::fill(bytes.begin(), bytes.end(), std::uint8_t{0});
    const std::uint64_t end = address + bytes.size();
    auto entry = regions_.upper_bound(address);
    if (entry != regions_.begin()) --entry;
    for (; entry != regions_.end() && entry->first < end; ++entry) {
        const Region& region = entry->second;
        const std::uint64_t first = std::max(address, region.address);
        const std::uint64_t last = std::min(end, region.address + region.bytes.size());
        if (first >= last) continue;
        const auto part = region.bytes.subspan(first - region.address, last - first);
        std::copy(part.begin(), part.end(), bytes.begin() + static_cast<std::ptrdiff_t>(first - address));
    }
}

}  // namespace systole::hw
