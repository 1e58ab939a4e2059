#include "sim/functional/host_segment.h"
#include "sim/functional/instructions/instructions.h"

namespace systole::functional {

void execute(const isa::HostWork& work, State& state) {
    compute_segment(work, state.program, state.host, state.processor);
}

}  // namespace systole::functional
