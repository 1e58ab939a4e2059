#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hw/machine/unit_description.h"
#include "sim/run/record/record.h"

namespace systole::report {

/// Counters by name, in the order in which their unit declares them.
using CounterValues = std::vector<std::pair<std::string, std::uint64_t>>;

/// A group of counters that belongs to the main unit: parts of its cycles, and what else it did.
struct MainGroup {
    std::string name;  ///< its key in report.json, in the main unit's: "non_matrix_reasons"
    CounterValues counters;
};

/// The cycles of the main unit by class, for the run, a layer or several layers.
struct MainUnit {
    std::vector<std::uint64_t> classes;  ///< cycles, in the order of machine::MainUnit
    std::uint64_t useful_macs = 0;
    std::uint64_t unused_macs = 0;
    CounterValues counters;         ///< all counters of the unit, including those of the classes
    std::vector<MainGroup> groups;  ///< those of machine::MainUnit

    /// Adds cycles, MACs and counters of the same unit.
    MainUnit& operator+=(const MainUnit& other);

    std::uint64_t cycles() const;
};

/// The main unit's cycles in the run, or under one tag.
MainUnit main_unit(const machine::UnitDescription& main, const run::Counters& counters,
                   std::optional<run::Tag> tag);

/// The words for a counter in a group of the main unit: its own, or what the counter says.
machine::CyclePart part_words(const machine::MainUnit& main, const run::Counter& counter);

/// The words for the parts of cycles of all main units, by the name of their counter: for reports that have
/// none.
nlohmann::ordered_json part_words_json();

nlohmann::ordered_json to_json(const CounterValues& counters);
nlohmann::ordered_json to_json(const MainUnit& unit);

/// The main unit's cycles under all tags that use one kind of its instructions.
struct InstructionKind {
    std::string instruction;     ///< as in assembly; "mixed" under tags with several kinds, "none" with none
    std::uint64_t executed = 0;  ///< of these instructions, repeats not counted
    MainUnit main_unit;
};

/// The cycles by kind of the main unit's instructions: all cycles of a tag count for the kind that the
/// program uses under it.
std::vector<InstructionKind> by_instruction_kind(std::span<const run::TagFacts> tags,
                                                 const machine::UnitDescription& main,
                                                 const run::Counters& counters);

}  // namespace systole::report
