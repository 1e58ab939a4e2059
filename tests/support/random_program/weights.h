#pragma once

#include <cstdint>
#include <deque>

#include "hw/isa/instruction.h"

namespace systole::tests {

/// Which `read_weights` are still waiting for room when everything before has been done, told in program
/// order. While one is, the queue of its unit does not move.
class WeightRoom {
public:
    explicit WeightRoom(std::uint64_t fifo_depth) : room_(fifo_depth + 1) {}  // and the shadow plane

    void read(std::uint64_t tiles) {
        asked_ += tiles;
        waiting_.push_back(asked_);
        settle();
    }
    void take(std::uint64_t tiles) {
        taken_ += tiles;
        settle();
    }
    /// What the instruction asks for or takes.
    void pass(const isa::Instruction& instruction);

    std::uint64_t asked() const { return asked_; }
    bool all_there() const { return waiting_.empty(); }

private:
    void settle() {
        while (!waiting_.empty() && waiting_.front() <= taken_ + room_) waiting_.pop_front();
    }

    std::uint64_t room_;
    std::uint64_t asked_ = 0;
    std::uint64_t taken_ = 0;
    std::deque<std::uint64_t> waiting_;  ///< tiles asked for with each, and before
};

}  // namespace systole::tests
