#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "hw/isa/program.h"

namespace systole::isa {

/// Address by name of the host buffers declared so far.
using HostAddresses = std::unordered_map<std::string, std::uint64_t>;

/// Writes host addresses as labels. Only buffers whose names assembly writes without quotes are labels.
class HostLabels {
public:
    HostLabels() = default;
    /// `buffers` must outlive the labels and keep the rules of `validate`.
    explicit HostLabels(const std::vector<HostBuffer>& buffers);

    /// "name", "name+offset" or, outside of every buffer, a number.
    std::string text_of(std::uint64_t address) const;

private:
    std::vector<const HostBuffer*> by_address_;
};

}  // namespace systole::isa
