#include "hw/common/unit_module.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace systole::hw {

namespace {

EndLayers ends_of(const std::vector<UnitBound>& bounds, std::size_t layers) {
    EndLayers ends;
    for (std::size_t number = 1; number <= layers; ++number) {
        const auto tag = static_cast<Tag>(number);
        const Amounts amounts(tag, {});
        const auto works = [&](const UnitBound& each) { return each.computes && each.cycles(amounts) > 0; };
        if (std::none_of(bounds.begin(), bounds.end(), works)) continue;
        if (ends.first == 0) ends.first = tag;
        ends.last = tag;
    }
    return ends;
}

std::size_t tags_of(const ProgramUnits& group) {
    std::size_t tags = group.layers + 1;
    const auto look_at = [&](const std::vector<PlacedCounters>& groups) {
        for (const PlacedCounters& placed : groups) {
            for (const Counter& counter : *placed.group) {
                tags = std::max<std::size_t>(tags, counter.last_tag() + 1U);
            }
        }
    };
    for (const UnitModule* const unit : group.units) {
        look_at(unit->counter_groups());
        look_at(unit->detail_groups());
    }
    return tags;
}

/// The counters of a core's units, each with those at the same place of all cores of the chip.
SharedCounters counters_of_chip(const std::vector<ProgramUnits>& all, const ProgramUnits& core) {
    SharedCounters shared;
    const auto add = [&](const std::vector<PlacedCounters>& own, const std::vector<PlacedCounters>& others) {
        for (std::size_t group = 0; group < own.size(); ++group) {
            auto of_other = others.at(group).group->begin();
            for (const Counter& counter : *own[group].group) shared[&counter].push_back(&*of_other++);
        }
    };
    for (const ProgramUnits& other : all) {
        if (other.chip != core.chip || other.units.size() != core.units.size()) continue;
        for (std::size_t unit = 0; unit < core.units.size(); ++unit) {
            add(core.units[unit]->counter_groups(), other.units[unit]->counter_groups());
            add(core.units[unit]->detail_groups(), other.units[unit]->detail_groups());
        }
    }
    return shared;
}

/// The machine's bound where the parts of several cores or chips work side by side.
void join(machine::Bound& before, const machine::Bound& more) {
    before.run = std::max(before.run, more.run);
    before.by_tag.resize(std::max(before.by_tag.size(), more.by_tag.size()));
    for (std::size_t tag = 0; tag < more.by_tag.size(); ++tag) {
        before.by_tag[tag] = std::max(before.by_tag[tag], more.by_tag[tag]);
    }
}

}  // namespace

machine::UnitDescription UnitModule::description(const machine::MachineConfig& machine) const {
    machine::UnitDescription unit;
    unit.name = basename();
    describe(machine, unit);
    return unit;
}

const Counter& find_counter(const std::vector<PlacedCounters>& groups, std::string_view path) {
    const std::size_t dot = path.rfind('.');
    if (dot != std::string_view::npos) {
        for (const PlacedCounters& placed : groups) {
            if (placed.path != path.substr(0, dot)) continue;
            for (const Counter& counter : *placed.group) {
                if (counter.name() == path.substr(dot + 1)) return counter;
            }
        }
    }
    throw std::logic_error("there is no counter " + std::string(path));
}

std::vector<machine::Bound> bounds_of(const std::vector<ProgramUnits>& all,
                                      const machine::MachineConfig& machine) {
    std::vector<std::pair<std::uint32_t, machine::Bound>> placed;
    for (const ProgramUnits& group : all) {
        std::vector<UnitBound> bounds;
        for (const UnitModule* const unit : group.units) {
            std::vector<UnitBound> own = unit->bounds(machine);
            std::move(own.begin(), own.end(), std::back_inserter(bounds));
        }
        const EndLayers ends = ends_of(bounds, group.layers);
        const std::size_t tags = tags_of(group);
        const SharedCounters of_chip = counters_of_chip(all, group);
        for (const UnitBound& bound : bounds) {
            const SharedCounters* const shared = bound.is_shared ? &of_chip : nullptr;
            machine::Bound own{.name = std::string(bound.name),
                               .part = std::string(bound.part),
                               .meaning = std::string(bound.meaning),
                               .run = bound.cycles(Amounts(shared)),
                               .by_tag = {},
                               .computes = bound.computes};
            for (std::size_t tag = 0; tag < tags; ++tag) {
                own.by_tag.push_back(bound.cycles(Amounts(static_cast<Tag>(tag), ends, shared)));
            }
            const auto same = std::ranges::find_if(
                placed, [&](const auto& each) { return each.second.name == bound.name; });
            if (same == placed.end()) {
                placed.emplace_back(bound.place, std::move(own));
            } else {
                join(same->second, own);
            }
        }
    }
    std::stable_sort(placed.begin(), placed.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<machine::Bound> bounds;
    std::transform(placed.begin(), placed.end(), std::back_inserter(bounds),
                   [](auto& each) { return std::move(each.second); });
    return bounds;
}

}  // namespace systole::hw
