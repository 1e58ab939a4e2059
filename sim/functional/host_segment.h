#pragma once

#include "hw/isa/host_processor.h"
#include "hw/isa/program.h"
#include "sim/functional/host_memory.h"

namespace systole::functional {

/// Computes the segment of a `host_work` from host memory to host memory. `processor` may be null; then it
/// throws ProgramError.
void compute_segment(const isa::HostWork& work, const isa::Program& program, HostMemory& host,
                     isa::HostProcessor* processor);

}  // namespace systole::functional
