#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <systemc>
#include <tlm>
#include <vector>

#include "hw/accumulators/accumulators.h"
#include "hw/activation_unit/activation_unit.h"
#include "hw/common/clock.h"
#include "hw/common/command_queue.h"
#include "hw/common/counter.h"
#include "hw/common/fan_out.h"
#include "hw/common/order_checker.h"
#include "hw/common/port_arbiter.h"
#include "hw/common/process.h"
#include "hw/common/registers.h"
#include "hw/common/semaphores.h"
#include "hw/common/trace.h"
#include "hw/common/unit_module.h"
#include "hw/common/value_workers.h"
#include "hw/common/wait_history.h"
#include "hw/host_interface/host_interface.h"
#include "hw/host_memory/host_memory.h"
#include "hw/host_processor/host_processor.h"
#include "hw/isa/footprint.h"
#include "hw/isa/host_processor.h"
#include "hw/isa/program.h"
#include "hw/isa/queue.h"
#include "hw/machine/machine_config.h"
#include "hw/matrix_unit/matrix_unit.h"
#include "hw/sequencer/sequencer.h"
#include "hw/systolic_data_setup/systolic_data_setup.h"
#include "hw/unified_buffer/unified_buffer.h"
#include "hw/weight_fifo/weight_fifo.h"
#include "hw/weight_memory/weight_memory.h"

namespace systole::hw {

/// How a program is run: with or without values, and which observers are attached.
struct CoreOptions {
    Values values = Values::Computed;
    TraceSink* trace = nullptr;
    /// Receives the instructions of host interface and host processor alone, besides `trace`: there are few,
    /// so that it costs no time.
    TraceSink* host_trace = nullptr;
    RegisterSink* registers = nullptr;
    /// A weight memory of the caller's, instead of the one that the machine describes: its TLM-2.0 target
    /// socket. The core writes the weights into it with transport_dbg, before the run and without time, and
    /// reads tiles with b_transport. A read's delay is the time until its last byte arrives, 1 ns a cycle.
    /// Values are copied when their tile is read: the core asks for no direct access, which the memory could
    /// take back. In runs without values, a read asks for its delay alone, with a null data pointer. The
    /// memory must outlive the core. examples/own_weight_memory is one.
    tlm::tlm_target_socket<>* weight_memory = nullptr;
    /// Computes the program's host segments, and gives their time; a program with host_work needs one. It
    /// must outlive the core.
    isa::HostProcessor* host = nullptr;
    /// For tests; see Clock::perturb.
    std::function<unsigned()> test_delta_delay;
    /// Number of threads that compute values beside the simulation. It changes only the simulator's own
    /// speed.
    std::size_t value_threads = ValueWorkers::idle_cores();
};

/// One TPU core, which is the whole chip of a single-core machine. It creates the units and connects them in
/// data-path order; no other code connects units.
///
/// A core runs one program, and a SystemC simulation has one core.
class Core final : public sc_core::sc_module {
public:
    /// Loads the program: weights into weight memory, constants into host memory. The program must outlive
    /// the core. Throws ProgramError if it was made for another machine, or has no weight values but is to be
    /// computed.
    Core(const sc_core::sc_module_name& name, const machine::MachineConfig& machine,
         const isa::Program& program, CoreOptions options);

    /// The host's memory for one of the program's buffers: to be filled before the run or read after it.
    std::span<std::uint8_t> host_bytes(const isa::HostBuffer& buffer) { return host_memory_.bytes(buffer); }

    /// Simulates until `halt`. If both are given, calls `progress` with the number of issued instructions at
    /// least every `pause` cycles. Throws ProgramError for a missing sync, a program that can never finish,
    /// and rows and tiles that do not exist.
    void run(const std::function<void(InstructionNumber)>& progress = {}, Cycle pause = 0);

    /// The cycles of the whole program.
    Cycle cycles() const { return sequencer_.end(); }
    /// The counters of every unit, found in the tree of modules, in the order of the data path.
    std::vector<PlacedCounters> counters() const;
    /// A counter by its path: "matrix_unit.active_cycles", "host_read.busy_cycles". Throws std::logic_error
    /// if there is none.
    const Counter& counter(std::string_view path) const { return find_counter(*this, path); }

    const UnifiedBuffer& unified_buffer() const { return unified_buffer_; }
    const Accumulators& accumulators() const { return accumulators_; }
    /// Wall time inside the matrix products.
    math::GemmStatistics gemm() const { return matrix_unit_.gemm(); }

private:
    void load_initial_rows();
    void simulate(const std::function<void(InstructionNumber)>& progress, Cycle pause);
    [[noreturn]] void report_stuck();
    /// Throws ProgramError of an instruction, with its line if the program has a text.
    [[noreturn]] void fail(InstructionNumber number, const std::string& message) const;
    FailureTimes where_it_failed();
    /// The queues, indexed by isa::QueueId.
    std::array<CommandQueue*, isa::queue_count> queues();
    /// "5 (matmul ub=0 acc=0 rows=3)"
    std::string describe(InstructionNumber number) const;
    /// The same for an instruction that a message names beside its own: with the line, if there is one.
    std::string describe_other(InstructionNumber number) const;
    /// The rows that two unordered instructions both touch, in words.
    std::string conflict(InstructionNumber earlier, InstructionNumber later) const;

    const isa::Program& program_;
    const machine::MachineConfig machine_;
    TraceFanOut host_trace_;
    Clock clock_;
    Failure failure_;
    OrderChecker order_;
    ValueWorkers workers_;  // declared before the units, to which its jobs refer
    Semaphores semaphores_;
    PortArbiter ports_;
    WaitHistory waits_;
    const UnitContext context_;

    HostMemory host_memory_;
    UnifiedBuffer unified_buffer_;
    HostInterface host_interface_;
    std::unique_ptr<WeightMemory> weight_memory_;  ///< null if the caller has given one
    WeightFifo weight_fifo_;
    Accumulators accumulators_;
    MatrixUnit matrix_unit_;
    SystolicDataSetup systolic_data_setup_;
    ActivationUnit activation_unit_;
    HostProcessorUnit host_processor_;
    Sequencer sequencer_;
};

}  // namespace systole::hw
