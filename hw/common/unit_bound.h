#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "base/cycle.h"
#include "hw/common/counter.h"

namespace systole::hw {

/// The first and the last layer of the network that the chip works on; 0 if there is none.
struct EndLayers {
    Tag first = 0;
    Tag last = 0;
};

/// The counters of a core, each with the same of the other cores that share a part with it.
using SharedCounters = std::map<const Counter*, std::vector<const Counter*>>;

/// What counters have counted, in the run or under one tag.
class Amounts {
public:
    /// Of the run.
    explicit Amounts(const SharedCounters* shared = nullptr) : shared_(shared) {}
    Amounts(Tag tag, EndLayers ends, const SharedCounters* shared = nullptr)
        : tag_(tag), ends_(ends), shared_(shared) {}

    std::uint64_t of(const Counter& counter) const {
        return sum(counter, [this](const Counter& each) { return tag_ ? each.value(*tag_) : each.value(); });
    }
    // Of data over the link to the host. The network's own inputs, constants and outputs have no layer's tag:
    // what comes in counts for the first layer, what goes out for the last.
    std::uint64_t inbound(const Counter& counter) const { return of_data(counter, ends_.first); }
    std::uint64_t outbound(const Counter& counter) const { return of_data(counter, ends_.last); }

private:
    std::uint64_t of_data(const Counter& counter, Tag end) const {
        return sum(counter, [&](const Counter& each) {
            if (!tag_) return each.value();
            const std::uint64_t own = *tag_ == 0 ? 0 : each.value(*tag_);
            return *tag_ == end ? own + each.value(Tag{0}) : own;
        });
    }
    template <class Value>
    std::uint64_t sum(const Counter& counter, const Value& value) const {
        if (shared_ == nullptr) return value(counter);
        std::uint64_t all = 0;
        for (const Counter* const each : shared_->at(&counter)) all += value(*each);
        return all;
    }

    std::optional<Tag> tag_;
    EndLayers ends_;
    const SharedCounters* shared_ = nullptr;
};

/// A lower bound: the cycles that a unit needs for its work if it never waits. machine::Bound says what name,
/// part and meaning are.
struct UnitBound {
    static constexpr std::uint32_t behind_all = std::numeric_limits<std::uint32_t>::max();

    std::string_view name;
    std::string_view part;
    std::string_view meaning;
    std::uint32_t place = behind_all;  ///< among the bounds of all units, in reports
    bool computes = false;             ///< the chip works on a layer that has any of these cycles
    bool is_shared = false;            ///< the cores of a chip share the part: its amounts are of all of them
    std::function<Cycle(const Amounts&)> cycles = {};  ///< by hw/timing, from the unit's counters
};

}  // namespace systole::hw
