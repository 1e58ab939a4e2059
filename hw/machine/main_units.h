#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hw/machine/unit_description.h"

/// The units that are the main one in some family of machines. Their descriptions, which a record has, are
/// made from this list; who has no record but a report.json, which does not hold descriptions, reads the
/// list.
namespace systole::machine {

struct NamedMainUnit {
    std::string name;  ///< of the unit, and of its section in texts
    MainUnit unit;     ///< in the first family that has it
};

/// In the order of texts. Reports that do not say which unit is the main one are of the first.
const std::vector<NamedMainUnit>& main_units();

/// Throws std::logic_error if there is none of this name.
const MainUnit& main_unit_named(std::string_view name);

}  // namespace systole::machine
