#include "sim/view/report/family.h"

#include <stdexcept>

namespace systole::report {

FamilyParts parts_of(machine::Family family) {
    switch (family) {
        case machine::Family::TpuV1:
            return {.weight_memory = true,
                    .batching = true,
                    .claim = true,
                    .calls = false,
                    .names_classes = false,
                    .names_energy = false};
        case machine::Family::EdgeTpu:
            return {.weight_memory = false,
                    .batching = false,
                    .claim = false,
                    .calls = true,
                    .names_classes = true,
                    .names_energy = false};
        case machine::Family::TensorCore:
            return {.weight_memory = false,
                    .batching = false,
                    .claim = false,
                    .calls = false,
                    .names_classes = true,
                    .names_energy = true};
    }
    throw std::logic_error("a family without reports");
}

}  // namespace systole::report
