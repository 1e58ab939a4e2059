#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <systemc>

#include "hw/common/command_queue.h"
#include "hw/common/counter.h"
#include "hw/common/trace.h"
#include "hw/common/unit_context.h"
#include "hw/common/unit_counters.h"
#include "hw/common/unit_module.h"
#include "hw/common/wait_history.h"
#include "hw/isa/access_history.h"
#include "hw/isa/footprint.h"
#include "hw/isa/loaded_values.h"
#include "hw/isa/memory.h"
#include "hw/isa/program.h"
#include "hw/isa/queue.h"

namespace systole::hw {

struct SequencerCounters final : UnitCounters {
    Counter& instructions =
        add("instructions", CounterUnit::Instructions, "instructions issued, sync included");
    Counter& empty_cycles = add("empty_cycles", CounterUnit::Cycles, "the next instruction had not arrived");
    Counter& queue_full_cycles =
        add("queue_full_cycles", CounterUnit::Cycles, "the next instruction's queue was full");
};

/// The instruction buffer and the logic that issues instructions, in program order, to the units' queues.
///
/// Timing: the host sends instructions as long as they fit in the instruction buffer; an instruction leaves
/// the buffer when it is issued. Issues are at least `issue_cycles` apart. A full queue delays all later
/// instructions. `halt` ends the program in the cycle in which all earlier instructions are complete.
class Sequencer final : public UnitModule {
public:
    /// `queues`: null for units that the machine does not have.
    Sequencer(const sc_core::sc_module_name& name, const UnitContext& context, InstructionPath& path,
              const std::array<CommandSink*, isa::queue_count>& queues);

    /// The program must outlive the run. In a run with values, an `activate` that uses what nothing has
    /// written is an error. `places`: how many each memory has.
    void load(const isa::Program& program, const isa::ByMemory<std::uint64_t>& places) {
        program_ = &program;
        places_ = places;
        if (context_.computes_values() && program.geometry.has_unified_buffer()) {
            loaded_values_.emplace(program, places_[isa::MemoryId::Accumulators]);
        }
    }

    bool halted() const { return halted_; }
    void finish(Cycle end, Tag tag) override { counters_.finish(end, tag); }
    /// The cycle in which the program ended.
    Cycle end() const { return end_; }
    /// The tag in force at the end.
    Tag last_tag() const { return tag_; }
    /// Instructions issued so far.
    InstructionNumber issued() const { return next_; }

    /// The next instruction, not issued by cycle `now`.
    std::optional<IssueTimes> waiting(Cycle now) const;

private:
    void describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const override;
    void run();
    /// Lets the host send as many instructions as fit in the instruction buffer.
    void receive();
    /// Issues the instruction and returns the cycle of issue; for `halt`, the cycle in which it could be
    /// issued.
    Cycle issue(const isa::Instruction& instruction);
    /// Ends the program when all units have finished.
    void halt();
    void push(const isa::Instruction& instruction, isa::QueueId unit, Command&& command);
    void set(const isa::SetConfig& set);
    /// Throws ProgramError if the footprint lies outside the machine's memories.
    void check_rows(const isa::Instruction& instruction, const isa::Footprint& footprint) const;
    void check_tiles(const isa::ReadWeights& read) const;

    const UnitContext context_;
    const std::uint64_t buffer_bytes_;
    const Cycle issue_cycles_;
    InstructionPath& path_;
    const std::array<CommandSink*, isa::queue_count> queues_;

    const isa::Program* program_ = nullptr;
    isa::ByMemory<std::uint64_t> places_;
    InstructionNumber next_ = 0;       ///< the next instruction to issue
    InstructionNumber next_sent_ = 0;  ///< the next instruction that the host sends
    Tag sent_tag_ = 0;                 ///< the tag in force when the last one sent is issued
    std::uint64_t buffered_bytes_ = 0;
    std::optional<Cycle> arrival_;  ///< of the next instruction, once it is known
    isa::ProgramHistory history_;
    std::optional<isa::LoadedValues> loaded_values_;  ///< only in a run with values
    std::shared_ptr<isa::Registers> registers_;
    bool registers_issued_ = false;  ///< an issued instruction refers to them: they must not change
    Tag tag_ = 0;
    std::optional<Cycle> asked_;  ///< the cycle in which the next instruction could have been issued
    bool halted_ = false;
    Cycle end_ = 0;
    SequencerCounters counters_;
};

}  // namespace systole::hw
