// Sums the cycles of the tags by their kind of instruction of the main unit.
#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "sim/view/report/report.h"

namespace systole::report {
namespace {

void add(CounterValues& sum, const CounterValues& more) {
    if (sum.size() != more.size()) throw std::logic_error("counters of two kinds of units");
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i].second += more[i].second;
}

}  // namespace

MainUnit& MainUnit::operator+=(const MainUnit& other) {
    if (classes.size() != other.classes.size() || groups.size() != other.groups.size()) {
        throw std::logic_error("cycles of two kinds of units");
    }
    for (std::size_t i = 0; i < classes.size(); ++i) classes[i] += other.classes[i];
    useful_macs += other.useful_macs;
    unused_macs += other.unused_macs;
    add(counters, other.counters);
    for (std::size_t i = 0; i < groups.size(); ++i) add(groups[i].counters, other.groups[i].counters);
    return *this;
}

std::uint64_t MainUnit::cycles() const {
    return std::accumulate(classes.begin(), classes.end(), std::uint64_t{0});
}

std::uint64_t MainUnit::at(std::string_view counter) const {
    const auto found = std::ranges::find(counters, counter, &CounterValues::value_type::first);
    if (found == counters.end()) throw std::logic_error("there is no counter " + std::string(counter));
    return found->second;
}

std::vector<InstructionKind> by_instruction_kind(std::span<const run::TagFacts> tags,
                                                 const machine::UnitDescription& main,
                                                 const run::Counters& counters) {
    std::map<std::string, InstructionKind> kinds;
    for (std::size_t tag = 0; tag < tags.size(); ++tag) {
        const run::TagFacts& facts = tags[tag];
        MainUnit unit = main_unit_under(main, counters, static_cast<run::Tag>(tag));
        if (facts.executed == 0 && unit.cycles() == 0) continue;
        const auto [kind, is_new] = kinds.try_emplace(facts.instruction);
        if (is_new) {
            kind->second = {
                .instruction = facts.instruction, .executed = facts.executed, .main_unit = std::move(unit)};
        } else {
            kind->second.executed += facts.executed;
            kind->second.main_unit += unit;
        }
    }
    std::vector<InstructionKind> sorted;
    sorted.reserve(kinds.size());
    for (auto& [name, kind] : kinds) sorted.push_back(std::move(kind));
    return sorted;
}

}  // namespace systole::report
