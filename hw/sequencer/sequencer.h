#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <systemc>

#include "hw/common/clock.h"
#include "hw/common/command_queue.h"
#include "hw/common/counter.h"
#include "hw/common/order_checker.h"
#include "hw/common/process.h"
#include "hw/common/ring_queue.h"
#include "hw/common/trace.h"
#include "hw/common/unit_counters.h"
#include "hw/common/unit_module.h"
#include "hw/common/wait_state.h"
#include "hw/isa/access_history.h"
#include "hw/isa/footprint.h"
#include "hw/isa/program.h"
#include "hw/isa/unit.h"
#include "hw/machine/machine_config.h"

namespace systole::hw {

struct SequencerCounters final : UnitCounters {
    Counter& instructions =
        add("instructions", CounterUnit::Instructions, "instructions issued, sync included");
    Counter& empty_cycles = add("empty_cycles", CounterUnit::Cycles, "the next instruction had not arrived");
    Counter& queue_full_cycles =
        add("queue_full_cycles", CounterUnit::Cycles, "the next instruction's queue was full");
};

/// The instruction buffer and what issues from it, in program order, to the units' queues.
///
/// Timing: the host sends instructions as long as they fit the instruction buffer; one leaves the
/// buffer when it is issued. Issues are `issue_cycles` apart. A full queue holds up all that follows.
/// `halt` ends the program in the cycle in which all earlier instructions are complete.
class Sequencer final : public UnitModule {
public:
    using Sink = CommandSink;

    Sequencer(const sc_core::sc_module_name& name, const machine::MachineConfig& machine, const Clock& clock,
              OrderChecker& order, InstructionPath& path, std::array<Sink*, isa::unit_count> units,
              Failure& failure, TraceSink* trace = nullptr);

    /// The program must outlive the run.
    void load(const isa::Program& program) { program_ = &program; }

    bool halted() const { return halted_; }
    /// The cycle in which the program ended.
    Cycle end() const { return end_; }
    /// The tag in force at the end.
    Tag last_tag() const { return tag_; }
    /// Instructions issued so far.
    InstructionNumber issued() const { return next_; }

    /// The instruction that it is dealing with and has not issued by cycle `now`.
    std::optional<IssueTimes> waiting(Cycle now) const;

    const WaitState& wait_state() const { return wait_state_; }

private:
    void run();
    /// Lets the host send what fits the instruction buffer.
    void receive();
    /// Gives the cycle in which the instruction was issued; of `halt`, the one in which it could be.
    Cycle issue(const isa::Instruction& instruction);
    /// Ends the program when all units have finished.
    void halt();
    void push(const isa::Instruction& instruction, isa::Unit unit, Command command);
    void set(const isa::SetConfig& set);
    /// Throws ProgramError where the footprint lies outside the machine's memories.
    void check_rows(const isa::Instruction& instruction, const isa::Footprint& footprint) const;
    void check_tiles(const isa::ReadWeights& read) const;

    const std::uint64_t buffer_rows_;
    const std::uint64_t accumulator_rows_;
    const std::uint64_t buffer_bytes_;
    const Cycle issue_cycles_;
    const Clock& clock_;
    OrderChecker& order_;
    InstructionPath& path_;
    const std::array<Sink*, isa::unit_count> units_;
    TraceSink* const trace_;

    const isa::Program* program_ = nullptr;
    InstructionNumber next_ = 0;       ///< to issue
    InstructionNumber next_sent_ = 0;  ///< by the host
    std::uint64_t buffered_bytes_ = 0;
    RingQueue<Cycle> arrivals_;  ///< of the instructions in the buffer
    isa::ProgramHistory history_;
    std::shared_ptr<isa::Registers> registers_ = std::make_shared<isa::Registers>();
    bool registers_issued_ = false;  ///< an instruction has them: not to be changed any more
    Tag tag_ = 0;
    std::optional<Cycle> asked_;  ///< when the instruction to issue could have been
    bool halted_ = false;
    Cycle end_ = 0;
    WaitState wait_state_{"sequencer"};
    SequencerCounters counters_;
};

}  // namespace systole::hw
