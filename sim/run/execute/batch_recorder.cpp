#include "sim/run/execute/batch_recorder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <variant>

#include "base/arithmetic.h"
#include "hw/isa/footprint.h"
#include "hw/isa/registers.h"

namespace systole::run {
namespace {

/// A transfer between chip, or host, and host memory.
struct Moved {
    isa::RowRange range;      ///< of host memory, from the lowest byte to the highest
    std::uint64_t bytes = 0;  ///< in the range
    bool is_written = false;
    Cycle begun = 0;
    Cycle complete = 0;
};

/// Walks a program as the sequencer does: a register holds until it is set again.
class TransferWalk {
public:
    TransferWalk(const isa::Program& program, std::uint32_t core) : program_(program), registers_(core) {}

    /// What an instruction moved; those of the calls ascend.
    void add(hw::InstructionNumber number, Cycle begun, Cycle complete) {
        for (; next_ < number; ++next_) {
            const auto* config = std::get_if<isa::SetConfig>(&program_.instructions[next_]);
            if (config != nullptr) registers_.set(config->reg, config->value);
        }
        const isa::Instruction& instruction = program_.instructions[number];
        const isa::Footprint touched = isa::footprint(instruction, registers_, program_);
        for (const auto& [memory, access, bytes] : touched) {
            if (memory != isa::MemoryId::HostMemory) continue;
            moved_.push_back(
                {bytes, moved_bytes(instruction, bytes), access == isa::Access::Write, begun, complete});
        }
    }

    const std::vector<Moved>& moved() const { return moved_; }

private:
    /// Without the gaps between blocks.
    static std::uint64_t moved_bytes(const isa::Instruction& instruction, const isa::RowRange& bytes) {
        const auto of_blocks = [](const auto& transfer) {
            return std::uint64_t{transfer.block_bytes} * transfer.blocks;
        };
        if (const auto* read = std::get_if<isa::ReadHostMemory>(&instruction)) return of_blocks(*read);
        if (const auto* write = std::get_if<isa::WriteHostMemory>(&instruction)) return of_blocks(*write);
        return bytes.count();
    }

    const isa::Program& program_;
    isa::Registers registers_;
    hw::InstructionNumber next_ = 0;
    std::vector<Moved> moved_;
};

/// The first and the last byte of each batch, as far as they are known.
class Borders {
public:
    explicit Borders(const isa::Program& program) : batches_(batches_of(program)) {
        std::size_t inputs = 0;
        std::size_t outputs = 0;
        for (const isa::HostBuffer& buffer : program.buffers) {
            const bool is_output = buffer.kind == isa::BufferKind::Output;
            if (!is_output && buffer.kind != isa::BufferKind::Input) continue;
            const std::uint64_t inferences = is_output ? isa::inferences_of_output(program, outputs++)
                                                       : isa::inferences_of_input(program, inputs++);
            const std::uint64_t inference_bytes = buffer.bytes / inferences;
            if (inference_bytes == 0) continue;
            // State comes in with the first batch, and goes out with the last.
            const std::uint64_t later = is_output ? (program.inferences - inferences) / program.batch : 0;
            buffers_.push_back({{buffer.address, buffer.address + inference_bytes * inferences},
                                inference_bytes * program.batch,
                                is_output,
                                later});
        }
        std::ranges::sort(buffers_, {}, [](const Buffer& buffer) { return buffer.whole.first; });
    }

    static std::uint64_t batches_of(const isa::Program& program) {
        return divide_up(program.inferences, std::uint64_t{program.batch});
    }

    /// Notes the transfer for the batches of which a buffer has an inference in the range. The inferences lie
    /// one after the other in their buffer.
    void note(const Moved& moved) {
        // Buffers do not overlap, so their ends ascend as well.
        auto buffer = std::ranges::upper_bound(buffers_, moved.range.first, {},
                                               [](const Buffer& each) { return each.whole.last; });
        for (; buffer != buffers_.end() && buffer->whole.overlaps(moved.range); ++buffer) {
            if (buffer->is_output != moved.is_written) continue;
            const isa::RowRange& whole = buffer->whole;
            const std::uint64_t first = std::max(moved.range.first, whole.first) - whole.first;
            const std::uint64_t last = std::min(moved.range.last, whole.last) - 1 - whole.first;
            for (std::uint64_t batch = first / buffer->batch_bytes; batch <= last / buffer->batch_bytes;
                 ++batch) {
                note(moved, batches_[buffer->first_batch + batch]);
            }
        }
    }

    std::vector<BatchTimes> times(Cycle cycles) const {
        std::vector<BatchTimes> times;
        Cycle ended = 0;  // all batches before this one
        for (const Batch& batch : batches_) {
            if (!batch.last_write) return {};
            times.push_back(
                {.begin = std::min(batch.first_read.value_or(ended), ended), .end = *batch.last_write});
            ended = std::max(ended, times.back().end);
        }
        if (!times.empty()) times.back().end = cycles;
        return times;
    }

private:
    /// An input or output of the program.
    struct Buffer {
        isa::RowRange whole;  ///< the bytes of all inferences
        std::uint64_t batch_bytes = 0;
        bool is_output = false;
        std::uint64_t first_batch = 0;
    };

    struct Batch {
        std::optional<Cycle> first_read;
        std::optional<Cycle> last_write;
    };

    static void note(const Moved& moved, Batch& batch) {
        if (moved.is_written) {
            batch.last_write = std::max(batch.last_write.value_or(moved.complete), moved.complete);
        } else {
            batch.first_read = std::min(batch.first_read.value_or(moved.begun), moved.begun);
        }
    }

    std::vector<Buffer> buffers_;  ///< by address
    std::vector<Batch> batches_;
};

}  // namespace

std::vector<BatchTimes> BatchRecorder::batches(const isa::Program& program, Cycle cycles) const {
    return batches_of({*this}, program, cycles);
}

std::vector<BatchTimes> batches_of(const std::deque<BatchRecorder>& cores, const isa::Program& program,
                                   Cycle cycles) {
    if (program.batch == 0 || program.inferences == 0) return {};
    std::vector<Moved> moved;
    for (const BatchRecorder& core : cores) {
        std::vector<BatchRecorder::Transfer> in_order = core.times_;
        std::ranges::sort(in_order, {}, &BatchRecorder::Transfer::number);
        TransferWalk walk(program, core.core_);
        for (const BatchRecorder::Transfer& transfer : in_order) {
            walk.add(transfer.number, transfer.begun, transfer.complete);
        }
        moved.insert(moved.end(), walk.moved().begin(), walk.moved().end());
    }
    // A program may state any number of inferences. Each batch takes memory here, and has a byte of its own.
    std::uint64_t written = 0;
    for (const Moved& each : moved) {
        if (each.is_written) written = saturating_sum(written, each.bytes);
    }
    if (written < Borders::batches_of(program)) return {};
    Borders borders(program);
    for (const Moved& each : moved) borders.note(each);
    return borders.times(cycles);
}

std::optional<BatchLatency> latency_of(const std::vector<BatchTimes>& batches, std::uint64_t full) {
    if (batches.empty()) return std::nullopt;
    BatchLatency latency{.first = batches.front().latency()};
    for (const BatchTimes& batch : batches) {
        latency.sum += batch.latency();
        latency.largest = std::max(latency.largest, batch.latency());
    }
    // The first batches fill the pipeline, and the last ones leave it sooner than those that have others
    // behind them: where the layers of several batches take turns, those behind delay those in front.
    if (full < BatchLatency::enough) return latency;
    const std::uint64_t begin = full / 4;
    const std::uint64_t end = full - 1 - full * 3 / 8;
    if (batches[end].end <= batches[begin].end) return latency;
    latency.intervals = end - begin;
    latency.between = batches[end].end - batches[begin].end;
    return latency;
}

}  // namespace systole::run
