#pragma once

#include "compiler/target/family.h"

namespace systole::tpu_v1 {

/// Machines like the first TPU.
extern const target::Family family;

}  // namespace systole::tpu_v1
