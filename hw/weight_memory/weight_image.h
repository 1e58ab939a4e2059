#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>

#include "base/zeroed_memory.h"

namespace systole::hw {

/// The contents of weight memory before the program begins: regions that do not overlap, with zeros between
/// them. Weights with the same layout in the program and in weight memory are not copied, unless the program
/// writes them.
class WeightImage {
public:
    struct Region {
        std::uint64_t address = 0;
        std::span<const std::uint8_t> bytes;
    };

    /// Adds a region that refers to these bytes, which must outlive the image.
    void refer_to(std::uint64_t address, std::span<const std::uint8_t> bytes) {
        if (!bytes.empty()) regions_[address] = {address, bytes};
    }
    /// Adds a region of the image's own memory, all zero, and returns it to be filled.
    std::span<std::uint8_t> make(std::uint64_t address, std::size_t bytes) {
        std::uint8_t* const data = own_.emplace_back(bytes).data();
        refer_to(address, {data, bytes});
        own_at_[address] = data;
        return {data, bytes};
    }
    /// The bytes of a region that `make` made, by its address; null if it made none there.
    std::uint8_t* own_bytes(std::uint64_t address) const {
        const auto found = own_at_.find(address);
        return found == own_at_.end() ? nullptr : found->second;
    }

    /// All regions, by address.
    const std::map<std::uint64_t, Region>& regions() const { return regions_; }
    /// The region that contains the address, or null.
    const Region* find(std::uint64_t address) const;
    /// Reads bytes from an address on; bytes between regions are zero.
    void read(std::uint64_t address, std::span<std::uint8_t> bytes) const;

private:
    std::map<std::uint64_t, Region> regions_;  ///< by address
    std::deque<ZeroedMemory<std::uint8_t>> own_;
    std::map<std::uint64_t, std::uint8_t*> own_at_;  ///< the first byte of each, by address
};

}  // namespace systole::hw
