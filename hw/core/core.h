#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "hw/common/clock.h"
#include "hw/common/collectives.h"
#include "hw/common/command_queue.h"
#include "hw/common/host_link.h"
#include "hw/common/order_checker.h"
#include "hw/common/port_arbiter.h"
#include "hw/common/process.h"
#include "hw/common/registers.h"
#include "hw/common/semaphores.h"
#include "hw/common/shared_accesses.h"
#include "hw/common/trace.h"
#include "hw/common/unit_context.h"
#include "hw/common/unit_module.h"
#include "hw/common/value_workers.h"
#include "hw/common/wait_history.h"
#include "hw/common/weight_link.h"
#include "hw/hbm/hbm.h"
#include "hw/host_memory/host_memory.h"
#include "hw/isa/host_processor.h"
#include "hw/isa/memory.h"
#include "hw/isa/program.h"
#include "hw/isa/program_error.h"
#include "hw/isa/queue.h"
#include "hw/machine/machine_config.h"
#include "hw/sequencer/sequencer.h"
#include "hw/weight_fifo/weight_fifo.h"

namespace systole::hw {

/// What a core gets from its system. All of it must outlive the core.
struct CoreContext {
    const machine::MachineConfig& machine;
    Values values;
    const Clock& clock;
    OrderChecker& order;
    ValueWorkers& workers;
    Failure& failure;
    HostLink& host_link;
    HostMemory& host_memory;
    tlm::tlm_target_socket<>* weight_memory = nullptr;  ///< of the family tpu_v1
    Hbm* hbm = nullptr;                                 ///< of the family tensor_core: the chip's
    Collectives* collectives = nullptr;                 ///< of the family tensor_core
    /// Where the values of a weight tile are, once it has been read.
    TileValues tile_values = TileValues::InMemory;
    std::uint64_t weight_address = 0;  ///< of the program's first tile
    isa::HostProcessor* host = nullptr;
    TraceSink* trace = nullptr;
    TraceSink* host_trace = nullptr;  ///< of host interface and host processor
    RegisterSink* registers = nullptr;
    std::size_t core = 0;  ///< its number in the system
    std::size_t cores = 1;
    SharedWeights* shared_weights = nullptr;  ///< null if one FIFO alone uses the weight memory
    // What several cores share; null in a system of one.
    Semaphores* shared_semaphores = nullptr;
    SharedAccesses* shared_accesses = nullptr;
};

/// A core of a family. It creates its units and connects them in data-path order; no other code connects
/// units. A core runs one program.
class Core : public sc_core::sc_module {
public:
    const isa::Program& program() const { return program_; }
    bool halted() const { return sequencer().halted(); }
    /// The cycle in which the program ended, and the tag in force then.
    Cycle end() const { return sequencer().end(); }
    Tag last_tag() const { return sequencer().last_tag(); }
    /// Instructions issued so far.
    InstructionNumber issued() const { return sequencer().issued(); }
    /// The machine's programs have ended: the units count the cycles that they have not counted.
    void finish(Cycle end);

    // Each throws ProgramError of an instruction, with its line if the program has a text.
    [[noreturn]] void fail(const OrderViolation& violation) const;
    [[noreturn]] void fail(const InstructionError& error) const;
    [[noreturn]] void fail_in_sequencer(const isa::ProgramError& error) const;
    /// The program can never finish.
    [[noreturn]] void report_stuck() const;
    [[noreturn]] void fail(InstructionNumber number, const std::string& message) const;
    /// "5 (matmul ub=0 acc=0 rows=3)"
    std::string describe(InstructionNumber number) const;
    FailureTimes where_it_failed() const;
    /// Seconds of this computer inside the matrix products; absent where they are not timed.
    virtual std::optional<double> product_seconds() const { return std::nullopt; }
    /// The queues that the program can use, in the order of the data path.
    std::vector<TracedQueue> traced_queues() const;
    /// The values in places of one of its memories, after the run; empty if it has no such memory. `tile`: of
    /// a memory that each tile has, whose it is.
    std::span<const std::uint8_t> values(isa::MemoryId memory, std::uint64_t first, std::uint64_t places,
                                         std::size_t tile = 0) const;
    TracedCore traced() const { return {.queues = traced_queues(), .units = units()}; }

    /// In the order of the data path, which is that of their counters in reports; the host's processor is the
    /// last.
    virtual std::vector<const UnitModule*> units() const = 0;
    /// The same units in the order of their energy in reports: the array, its memories, then what feeds them.
    virtual std::vector<const UnitModule*> from_the_array() const = 0;

protected:
    /// The program, which fits the machine, must outlive the core. `ports`: of the memories whose ports units
    /// share.
    Core(const sc_core::sc_module_name& name, const CoreContext& context, const isa::Program& program,
         std::vector<PortArbiter::Places> ports);

    /// In the order of the data path; the host's processor is the last.
    virtual std::span<CommandQueue* const> queues() const = 0;
    virtual const Sequencer& sequencer() const = 0;
    /// The queues, indexed by isa::QueueId; null for those that the core does not have.
    template <class Queue = CommandQueue>
    static std::array<Queue*, isa::queue_count> by_id(std::span<CommandQueue* const> queues) {
        std::array<Queue*, isa::queue_count> found{};
        for (CommandQueue* const each : queues) found.at(static_cast<std::size_t>(each->id())) = each;
        return found;
    }
    /// How many places each memory has, as its unit says. Of the others every machine has enough: a program's
    /// tiles are checked by themselves.
    isa::ByMemory<std::uint64_t> places(const machine::MachineConfig& machine) const;
    const UnitContext& unit_context() const { return context_; }
    /// The same for units at the host.
    const UnitContext& host_context() const { return host_context_; }

private:
    /// The same for an instruction that a message names beside its own: with the line, if there is one.
    std::string describe_other(InstructionNumber number) const;
    /// The layer that an instruction works for, with a comma behind it; nothing if the program names none.
    std::string layer_of(InstructionNumber number) const;
    /// The rows that two unordered instructions both touch, in words.
    std::string conflict(InstructionNumber earlier, InstructionNumber later) const;

    const isa::Program& program_;
    const Clock& clock_;
    Semaphores semaphores_;
    PortArbiter ports_;
    WaitHistory waits_;
    const UnitContext context_;
    const UnitContext host_context_;
};

/// A core of the machine's family.
std::unique_ptr<Core> make_core(const char* name, const CoreContext& context, const isa::Program& program);

}  // namespace systole::hw
