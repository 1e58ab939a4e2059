#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <systemc>
#include <tlm>
#include <vector>

#include "hw/common/clock.h"
#include "hw/common/counter.h"
#include "hw/common/fan_out.h"
#include "hw/common/order_checker.h"
#include "hw/common/process.h"
#include "hw/common/registers.h"
#include "hw/common/trace.h"
#include "hw/common/unit_module.h"
#include "hw/common/value_workers.h"
#include "hw/core/core.h"
#include "hw/host_memory/host_memory.h"
#include "hw/isa/host_processor.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"
#include "hw/weight_memory/weight_memory.h"

namespace systole::hw {

/// How a program is run: with or without values, and which observers are attached.
struct SystemOptions {
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

/// The whole machine: what a simulation has once (clock, failure, the host's memory, threads for values), the
/// weight memory, and the core. A SystemC simulation has one system, which runs one program.
class System final : public sc_core::sc_module {
public:
    /// Loads the program: weights into weight memory, constants into host memory. The program must outlive
    /// the system. Throws ProgramError if it was made for another machine, or has no weight values but is to
    /// be computed.
    System(const sc_core::sc_module_name& name, const machine::MachineConfig& machine,
           const isa::Program& program, SystemOptions options);

    /// The host's memory for one of the program's buffers: to be filled before the run or read after it.
    std::span<std::uint8_t> host_bytes(const isa::HostBuffer& buffer) { return host_memory_.bytes(buffer); }

    /// Simulates until `halt`. If both are given, calls `progress` with the number of issued instructions at
    /// least every `pause` cycles. Throws ProgramError for a missing sync, a program that can never finish,
    /// and rows and tiles that do not exist.
    void run(const std::function<void(InstructionNumber)>& progress = {}, Cycle pause = 0);

    /// The cycles of the whole program.
    Cycle cycles() const { return core_.end(); }
    /// The counters of every unit, in the order of the data path.
    std::vector<PlacedCounters> counters() const;
    /// A counter by its path: "matrix_unit.active_cycles", "host_read.busy_cycles". Throws std::logic_error
    /// if there is none.
    const Counter& counter(std::string_view path) const { return find_counter(counters(), path); }

    const Core& core() const { return core_; }

private:
    void simulate(const std::function<void(InstructionNumber)>& progress, Cycle pause);

    const machine::MachineConfig machine_;
    TraceSink* const trace_;
    TraceFanOut host_trace_;
    Clock clock_;
    Failure failure_;
    OrderChecker order_;
    ValueWorkers workers_;  // declared before the units, to which its jobs refer
    HostMemory host_memory_;
    std::unique_ptr<WeightMemory> weight_memory_;  ///< null if the caller has given one
    Core core_;
};

}  // namespace systole::hw
