#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "hw/common/trace.h"
#include "hw/isa/program.h"
#include "sim/run/record/record.h"

namespace systole::run {

/// The cycles of one batch in the chip.
struct BatchTimes {
    Cycle begin = 0;
    Cycle end = 0;

    Cycle latency() const { return end - begin; }
    bool operator==(const BatchTimes&) const = default;
};

/// Records when each batch of a run was in the chip, from the transfers of its inputs and results. A transfer
/// belongs to the batches whose inferences lie in the host memory that it moves, so that slices, strips and
/// segments of the host need no marks. Weights, parameters and tensors inside the network belong to no batch.
class BatchRecorder final : public hw::TraceListener {
public:
    /// `core`: the number of the core whose transfers it is told.
    explicit BatchRecorder(std::uint32_t core = 0) : core_(core) {}
    /// Of host interface and host processor.
    void instruction(const hw::InstructionTimes& times) override {
        times_.push_back({times.number, times.begun, times.complete});
    }

    /// The batches, in order. A batch begins when its first byte is read; but the first begins with the run,
    /// and one that comes after the end of those before it begins at that end: what the chip does until then,
    /// such as fetching instructions, it does for this batch. It ends when its last byte is in host memory;
    /// the last ends with the run, after `cycles`. Empty for a program that states no batches, or that ended
    /// before it had written results of each.
    std::vector<BatchTimes> batches(const isa::Program& program, Cycle cycles) const;

private:
    friend std::vector<BatchTimes> batches_of(const std::deque<BatchRecorder>& cores,
                                              const isa::Program& program, Cycle cycles);

    struct Transfer {
        hw::InstructionNumber number = 0;
        Cycle begun = 0;
        Cycle complete = 0;
    };
    std::uint32_t core_;
    std::vector<Transfer> times_;
};

/// The same, of all cores that run the program: a batch begins with the first byte for any of them, and ends
/// with the last of any of them.
std::vector<BatchTimes> batches_of(const std::deque<BatchRecorder>& cores, const isa::Program& program,
                                   Cycle cycles);

/// Of batches of which the first `full` have all their inferences. Absent without batches.
std::optional<BatchLatency> latency_of(const std::vector<BatchTimes>& batches, std::uint64_t full);

}  // namespace systole::run
