#pragma once

#include "hw/common/fresh_simulation.h"

namespace systole::tests {

using hw::FreshSimulation;

}  // namespace systole::tests
