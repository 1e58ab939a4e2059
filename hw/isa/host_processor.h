#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/cycle.h"
#include "hw/isa/instructions/host_work.h"

namespace systole::isa {

/// The tensors of a `host_work` in host memory: those that its segment reads and those that it writes, in the
/// segment's order. Each holds the images of the instruction, packed.
struct HostTensors {
    std::vector<std::span<const std::uint8_t>> reads;
    std::vector<std::span<std::uint8_t>> writes;
};

/// The processor of the host that computes the segments of one program.
class HostProcessor {
public:
    HostProcessor() = default;
    HostProcessor(const HostProcessor&) = delete;
    HostProcessor& operator=(const HostProcessor&) = delete;
    virtual ~HostProcessor() = default;

    /// The cycles of the core that the host works, without the time of its interrupt.
    virtual Cycle cycles(const HostWork& work) const = 0;
    /// Computes the results. It may be called from another thread than the constructor, one call at a time.
    virtual void compute(const HostWork& work, const HostTensors& tensors) = 0;
};

}  // namespace systole::isa
