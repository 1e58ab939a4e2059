#include "hw/isa/host_processor.h"
#include "hw/isa/program_error.h"
#include "sim/functional/instructions/instructions.h"

namespace systole::functional {

void execute(const isa::HostWork& work, State& state) {
    if (state.processor == nullptr) throw isa::ProgramError("there is no host that computes the segment");
    const isa::HostSegment& segment = state.program.host_segments[work.segment];
    const auto images = [&](const isa::SegmentTensor& tensor) {
        const std::uint64_t address = state.program.buffers[tensor.buffer].address;
        return state.host.range(address + work.first_inference * tensor.bytes, work.images * tensor.bytes);
    };
    isa::HostTensors tensors;
    for (const isa::SegmentTensor& tensor : segment.reads) tensors.reads.emplace_back(images(tensor));
    for (const isa::SegmentTensor& tensor : segment.writes) tensors.writes.push_back(images(tensor));
    state.processor->compute(work, tensors);
}

}  // namespace systole::functional
