#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <systemc>
#include <vector>

#include "base/cycle.h"
#include "hw/common/clock.h"
#include "hw/isa/instructions/collective.h"

namespace systole::hw {

/// A core's part in a collective.
struct CollectivePart {
    isa::Collective instruction = {};
    /// Its vector memory, from row 0 on; null in a run without values.
    std::uint32_t* memory = nullptr;
};

/// Where the cores of a machine meet for a collective.
class Collectives {
public:
    Collectives(std::size_t cores, const Clock& clock) : clock_(clock), parts_(cores) {}

    /// Waits until all cores are there, and returns that cycle. `join` is called once, by the last of them,
    /// with the parts by core; others wait until it has returned.
    using Join = std::function<void(std::span<const CollectivePart> parts)>;
    Cycle meet(std::size_t core, const CollectivePart& part, const Join& join) {
        parts_.at(core) = part;
        if (++arrived_ == parts_.size()) {
            arrived_ = 0;
            ++round_;
            join(parts_);
            all_there_.notify(sc_core::SC_ZERO_TIME);
            return clock_.now();
        }
        for (const std::uint64_t round = round_; round_ == round;) clock_.wait(all_there_);
        return clock_.now();
    }

private:
    const Clock& clock_;
    std::vector<CollectivePart> parts_;
    std::size_t arrived_ = 0;
    std::uint64_t round_ = 0;
    sc_core::sc_event all_there_;
};

}  // namespace systole::hw
