#pragma once

#include "hw/machine/machine_config.h"

namespace systole::report {

/// What reports have only for machines of some families. No other code of the views asks for the family.
struct FamilyParts {
    /// Weights come from a memory of their own, whose bandwidth is a roof: roofline, spilled weights.
    bool weight_memory = false;
    bool batching = false;  ///< a batch may be cut, by what a memory of the chip holds
    bool claim = false;     ///< a published claim is about it
    bool calls = false;     ///< the host calls the chip for each batch; the first call differs
    /// Reports say which classes the main unit's cycles have. Those of tpu_v1 are in the list of
    /// report.json's keys since its first version.
    bool names_classes = false;
    /// Reports say whose energy they have. Those of the other families have had no such key since their first
    /// version, and the page has words for them.
    bool names_energy = false;
};

FamilyParts parts_of(machine::Family family);

}  // namespace systole::report
