#pragma once

#include "compiler/target/family.h"

namespace systole::tensor_core {

/// Machines with a tensor core: Cloud TPUs.
extern const target::Family family;

}  // namespace systole::tensor_core
