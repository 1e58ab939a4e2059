#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/cycle.h"

/// What a unit says of itself. Reports, drawings and traces read it and know no unit by name. Plain data: a
/// record holds it.
namespace systole::machine {

/// A counter whose every count takes energy.
struct EnergyRow {
    std::string unit;         ///< that takes it; a key of report.json
    std::string counter;      ///< its path: "matrix_unit.useful_macs"
    double picojoules = 0.0;  ///< of a count, at the voltage of the machine's watts, before calibration
    /// The work that counts: the name of a queue, or what its unit calls the work of weight tiles
    /// ("weight_fetch"). Empty if it is not known when: power over time then spreads it over the run.
    std::string during;
    bool once = false;  ///< only the first call of several has the events

    bool operator==(const EnergyRow&) const = default;
};

/// A number in a text: "bytes", "count" or the unit of a quantity ("B/s"), as in figures of a report.
struct ShownNumber {
    double number = 0.0;
    std::string format;

    bool operator==(const ShownNumber&) const = default;
};

/// A line of text with "{}" for each number.
struct ShownLine {
    std::string text;
    std::vector<ShownNumber> numbers = {};

    bool operator==(const ShownLine&) const = default;
};

/// How full a memory became.
struct Filled {
    std::uint64_t used_bytes = 0;
    std::uint64_t bytes = 0;
    std::string figure = {};  ///< the name of `used_bytes` in report.json, behind that of the unit: "peak"

    bool operator==(const Filled&) const = default;
};

/// How a memory's occupancy over time is told, where the run notes it: that of the values of instructions,
/// or, of a unit that is no memory of theirs, of the weight tiles on their way through it.
struct Occupied {
    std::string title;                ///< "Unified buffer"
    std::string figure;               ///< the name of its windows in report.json
    std::string unit;                 ///< of these: "bytes", "rows" or "tiles"
    std::uint64_t capacity = 0;       ///< in this unit
    std::uint64_t units_a_place = 1;  ///< the bytes of a row
    // Its track in timelines, and what this counts: places of the memory. Empty for no track.
    std::string track = {};
    std::string places = {};
    std::string map = {};  ///< the name of the map of its values in report.json; empty for no map
    /// A value ends where a new one begins in its place. Else both count while the instruction that replaces
    /// one by the other is under way.
    bool in_place = false;

    bool operator==(const Occupied&) const = default;
};

/// A unit's box in the drawing of the machine.
struct Box {
    std::string title;
    std::uint32_t column = 0;  ///< in the grid of the drawing, from the left
    std::uint32_t row = 0;     ///< from the top
    std::vector<ShownLine> lines;
    // A bar: the share of the run's cycles, or how full the memory is, and a word for it. None without both.
    std::string busy_counter = {};  ///< the path of a counter of cycles
    std::optional<Filled> filled = {};
    std::string word = "busy";

    bool operator==(const Box&) const = default;
};

/// Where the figures of a path stand.
enum class Side : std::uint8_t { Above, Below, Left, Right };

/// A path between two units. In the drawing, it goes straight between boxes of one row or one column; else
/// it meets the upper box from below, and the lower one at its side.
struct DataPath {
    std::string from;
    std::string to;
    std::vector<std::string> counters;  ///< paths of those that count what moved; summed
    std::string unit;                   ///< of these: "bytes", "rows", "row passes"
    Rate most;                          ///< that can move in cycles: so many of the unit
    // Of a path that counts bytes, in the report's traffic: its name and what texts call it. Empty: it is not
    // listed there.
    std::string traffic = {};
    std::string label = {};
    // In the drawing.
    Side figures = Side::Above;
    std::int32_t shift_x = 0;  ///< from the middle of the box, in its 190 x 112 points
    std::int32_t shift_y = 0;

    bool operator==(const DataPath&) const = default;
};

/// Another value for a key of the machine's file.
struct NewValue {
    std::string key;  ///< dotted: "host_interface.read_gb_per_s"
    nlohmann::ordered_json value;

    bool operator==(const NewValue&) const = default;
};

/// A change of the machine that may help where cycles are lost.
struct WhatIf {
    std::string name;    ///< by which causes refer to it
    std::string change;  ///< the subject of a sentence: "4x the weight bandwidth"
    std::vector<NewValue> values;
    bool recompiles = false;               ///< only for networks: a program is made for the old values
    std::vector<std::string> causes = {};  ///< against which it may help, besides those that refer to it

    bool operator==(const WhatIf&) const = default;
};

/// How a sentence tells a cause.
enum class CauseForm : std::uint8_t {
    Share,        ///< "HEAD: in 5 % of its cycles WORDS"
    PerTile,      ///< "HEAD: 888 of 1,344 cycles per tile wait for WORDS"
    Whole,        ///< "5 % of its cycles WORDS"
    UnusedCells,  ///< cycles of products, in cells without work; "HEAD: WORDS" with the share of the others
    UsefulCells,  ///< the same, in cells that multiply; "HEAD: WORDS" with the share of cycles and of cells
};

/// What cycles of the main unit are spent on. The cycles of all causes sum to all cycles.
struct CycleCause {
    std::string name;
    CauseForm form = CauseForm::Share;
    std::vector<std::string> counters;  ///< their paths; none for cycles of products
    std::string head;
    std::string words;                  ///< of cycles of products, with {} for each share
    std::vector<std::string> what_ifs;  ///< names of changes that may help; of units, or "batch"

    bool operator==(const CycleCause&) const = default;
};

/// A class of the main unit's cycles.
struct CycleClass {
    std::string counter;  ///< its path: "matrix_unit.active_cycles"
    std::string name;     ///< in texts: "array active"
    std::string column;   ///< heads a column of few letters: "active"
    std::string meaning;  ///< what the unit did in these cycles
    bool waits_for_weights = false;

    bool operator==(const CycleClass&) const = default;
};

/// What texts call a counter of cycles in a group of the main unit: a reason for cycles, or a kind of work.
/// One without such words has its name, and what it counts.
struct CyclePart {
    std::string counter;  ///< its path
    std::string name;     ///< "RAW"
    std::string meaning;  ///< "rows were still being activated"; empty: what the counter counts

    bool operator==(const CyclePart&) const = default;
};

/// The unit whose cycles reports divide, for the run and for each layer. A core has one.
struct MainUnit {
    std::string words;  ///< in sentences: "the matrix unit"
    /// Every cycle counts in exactly one. In those of the first class the unit works.
    std::vector<CycleClass> classes;
    // Paths of counters.
    std::string products;              ///< cycles in which it multiplied
    std::string macs;                  ///< multiply-accumulates that it did
    std::string useful_macs;           ///< cells with work for results, each for a cycle
    std::string unused_macs;           ///< cells without, in cycles of products
    std::vector<std::string> weights;  ///< bytes of weights that came for it, summed
    std::vector<std::string> works;    ///< where the chip computes, one of these has counted
    std::vector<std::string> groups;   ///< of counters: parts of its cycles, and what else it did
    std::string divided;               ///< the class of which the groups have the parts
    std::string parts_words;           ///< what these are: "reasons for non-matrix"
    std::vector<CyclePart> parts = {};
    // Words of texts.
    std::string cells;         ///< which cells have work: "of the cells in active cycles"
    std::string full;          ///< with work for all cells: "full array"
    std::string full_meaning;  ///< "with every cell useful in every cycle"
    std::string fill_meaning;  ///< what `fill` is: "full array over the array's passes"
    std::string
        energy_of;  ///< where events have an energy, that of a run is of these: "chip and weight memory"

    bool operator==(const MainUnit&) const = default;
};

/// A value with the ends of its error bar.
struct Estimate {
    double nominal = 0.0;
    double low = 0.0;
    double high = 0.0;

    bool operator==(const Estimate&) const = default;
};

/// The published die of a family, of which its units say what they take (hw/machine/floorplan.h).
struct DieAnchor {
    double mm2 = 0.0;
    double process_nm = 0.0;
    double io_percent = 0.0;       ///< pads and links that no unit takes; they stay as they are
    double unnamed_percent = 0.0;  ///< what lies between the units: it grows with them, or stays
    std::string note = {};         ///< in texts: what is in these two

    bool operator==(const DieAnchor&) const = default;
};

/// What a unit takes of the die (hw/machine/floorplan.h).
struct DiePart {
    std::string name;         ///< a key of report.json
    std::string label;        ///< in texts
    std::uint32_t place = 0;  ///< among the parts, in reports
    Estimate percent;         ///< of the family's anchor, in its process
    bool shrinks = true;      ///< with the process
    /// The percentage of the anchor's unit, if what no unit takes grows with this one.
    double core_percent = 0.0;
    /// That of a unit that the floorplan does not name.
    double unnamed_percent = 0.0;

    bool operator==(const DiePart&) const = default;
};

struct UnitDescription {
    std::string name;    ///< its path in the machine
    bool on_die = true;  ///< else its energy is neither calibrated nor scaled with the voltage
    std::vector<EnergyRow> energy = {};  ///< also of memories that it reads and writes
    std::optional<Box> box = {};
    std::vector<DataPath> paths = {};  ///< a path is described by one of its two units
    std::vector<WhatIf> what_ifs = {};
    std::vector<CycleCause> causes = {};  ///< of the main unit's cycles, in the order of reports
    std::optional<MainUnit> main = {};    ///< absent for all other units
    std::optional<Occupied> occupied = {};
    std::optional<DiePart> die_part = {};
    std::optional<DieAnchor> die = {};  ///< of the main unit, where areas are known

    bool operator==(const UnitDescription&) const = default;
};

/// A lower bound, in cycles: what a part of the machine needs for the run's work, or for that under a tag, if
/// it never waits.
struct Bound {
    std::string name;           ///< "weight_memory": a key of report.json
    std::string part;           ///< of the machine, in a sentence: "weight memory"
    std::string meaning;        ///< what happens in these cycles: "weights are fetched"
    Cycle run = 0;              ///< differs from the sum of the tags by rounding, or by a maximum
    std::vector<Cycle> by_tag;  ///< 0 for tags after the last
    bool computes = false;      ///< the part makes results; false: it moves data, or is the whole machine

    Cycle value() const { return run; }
    Cycle value(std::uint16_t tag) const { return tag < by_tag.size() ? by_tag[tag] : 0; }
    bool operator==(const Bound&) const = default;
};

/// The unit that is the main one. Throws std::logic_error if none is.
const UnitDescription& main_unit_of(const std::vector<UnitDescription>& units);

/// "latency 1 cycle + 4.25 µs": a line of a box.
ShownLine latency_line(std::uint32_t cycles, double nanoseconds);

}  // namespace systole::machine
