// The cycles of the main unit, and their sums by kind of its instructions.
#include "sim/view/report/main_unit.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "hw/machine/main_units.h"

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

machine::CyclePart part_words(const machine::MainUnit& main, const run::Counter& counter) {
    const auto part = std::ranges::find(main.parts, counter.path, &machine::CyclePart::counter);
    if (part != main.parts.end()) {
        return {part->counter, part->name, part->meaning.empty() ? counter.meaning : part->meaning};
    }
    const std::string_view key = counter.name();
    std::string name(key.substr(0, key.rfind("_cycles")));
    std::ranges::replace(name, '_', ' ');
    return {counter.path, std::move(name), counter.meaning};
}

nlohmann::ordered_json part_words_json() {
    auto words = nlohmann::ordered_json::object();
    for (const machine::NamedMainUnit& each : machine::main_units()) {
        for (const machine::CyclePart& part : each.unit.parts) {
            words[part.counter.substr(part.counter.rfind('.') + 1)] = {{"name", part.name},
                                                                       {"meaning", part.meaning}};
        }
    }
    return words;
}

std::uint64_t MainUnit::cycles() const {
    return std::accumulate(classes.begin(), classes.end(), std::uint64_t{0});
}

MainUnit main_unit(const machine::UnitDescription& main, const run::Counters& counters,
                   std::optional<run::Tag> tag) {
    const auto value = [tag](const run::Counter& counter) {
        return tag ? counter.value(*tag) : counter.value();
    };
    const auto named = [&](std::string_view path) { return value(counters.at(path)); };
    const auto read = [&](std::string_view group) {
        CounterValues values;
        for (const run::Counter& counter : counters.of(group)) {
            values.emplace_back(counter.name(), value(counter));
        }
        return values;
    };
    MainUnit unit{.classes = {},
                  .useful_macs = named(main.main->useful_macs),
                  .unused_macs = named(main.main->unused_macs),
                  .counters = read(main.name),
                  .groups = {}};
    for (const machine::CycleClass& each : main.main->classes) unit.classes.push_back(named(each.counter));
    for (const std::string& group : main.main->groups) {
        unit.groups.push_back({group.substr(group.rfind('.') + 1), read(group)});
    }
    return unit;
}

nlohmann::ordered_json to_json(const CounterValues& counters) {
    auto object = nlohmann::ordered_json::object();
    for (const auto& [name, value] : counters) object[name] = value;
    return object;
}

nlohmann::ordered_json to_json(const MainUnit& unit) {
    nlohmann::ordered_json object = to_json(unit.counters);
    for (const MainGroup& group : unit.groups) object[group.name] = to_json(group.counters);
    return object;
}

std::vector<InstructionKind> by_instruction_kind(std::span<const run::TagFacts> tags,
                                                 const machine::UnitDescription& main,
                                                 const run::Counters& counters) {
    std::map<std::string, InstructionKind> kinds;
    for (std::size_t tag = 0; tag < tags.size(); ++tag) {
        const run::TagFacts& facts = tags[tag];
        MainUnit unit = main_unit(main, counters, static_cast<run::Tag>(tag));
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
