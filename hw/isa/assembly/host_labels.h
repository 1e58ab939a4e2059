#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "hw/isa/program.h"

namespace systole::isa {

/// The addresses of the host buffers declared so far, by name.
using HostAddresses = std::unordered_map<std::string, std::uint64_t>;

/// Writes host addresses as labels. A buffer's name is a label only if it needs no quotes in assembly.
class HostLabels {
public:
    HostLabels() = default;
    /// `buffers` must outlive this object and pass `validate`.
    explicit HostLabels(const std::vector<HostBuffer>& buffers);

    /// "name", "name+offset" or, outside of every buffer, a number.
    std::string text_of(std::uint64_t address) const;

private:
    std::vector<const HostBuffer*> by_address_;
};

}  // namespace systole::isa
