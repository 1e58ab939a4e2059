#include "sim/functional/host_segment.h"

#include "hw/isa/program_error.h"

namespace systole::functional {

void compute_segment(const isa::HostWork& work, const isa::Program& program, HostMemory& host,
                     isa::HostProcessor* processor) {
    if (processor == nullptr) throw isa::ProgramError("there is no host that computes the segment");
    const isa::HostSegment& segment = program.host_segments[work.segment];
    const auto images = [&](const isa::SegmentTensor& tensor) {
        const std::uint64_t address = program.buffers[tensor.buffer].address;
        return host.range(address + work.first_inference * tensor.bytes, work.images * tensor.bytes);
    };
    isa::HostTensors tensors;
    for (const isa::SegmentTensor& tensor : segment.reads) tensors.reads.emplace_back(images(tensor));
    for (const isa::SegmentTensor& tensor : segment.writes) tensors.writes.push_back(images(tensor));
    processor->compute(work, tensors);
}

}  // namespace systole::functional
