#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <systemc>
#include <tlm>
#include <vector>

#include "hw/common/clock.h"
#include "hw/common/collectives.h"
#include "hw/common/counter.h"
#include "hw/common/fan_out.h"
#include "hw/common/host_link.h"
#include "hw/common/order_checker.h"
#include "hw/common/port_arbiter.h"
#include "hw/common/process.h"
#include "hw/common/registers.h"
#include "hw/common/semaphores.h"
#include "hw/common/shared_accesses.h"
#include "hw/common/trace.h"
#include "hw/common/unit_module.h"
#include "hw/common/value_workers.h"
#include "hw/core/core.h"
#include "hw/core/edge_tpu_core.h"
#include "hw/core/tensor_core.h"
#include "hw/core/tpu_v1_core.h"
#include "hw/hbm/hbm.h"
#include "hw/host_memory/host_memory.h"
#include "hw/isa/host_processor.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"
#include "hw/weight_memory/weight_memory.h"

namespace systole::hw {

/// What listens to a core: to all its events, or to those of host interface and host processor alone.
struct CoreObservers {
    TraceSink* trace = nullptr;
    TraceSink* host_trace = nullptr;
};

/// How a program is run: with or without values, and which observers are attached.
struct SystemOptions {
    Values values = Values::Computed;
    // Of the first core.
    TraceSink* trace = nullptr;
    /// Receives the instructions of host interface and host processor alone, besides `trace`: there are few,
    /// so that it costs no time.
    TraceSink* host_trace = nullptr;
    RegisterSink* registers = nullptr;
    /// The observers of the second core and of those behind it; a core without an entry has none.
    std::vector<CoreObservers> other_cores = {};
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

/// The programs of a system, one for each core. They must outlive the system.
using Programs = std::vector<const isa::Program*>;

/// Each core takes four of the arbiter's users.
inline constexpr std::size_t most_cores = PortArbiter::user_limit / 4;
static_assert(most_cores >= machine::most_cores);

/// What the cores of a chip of the family tensor_core share.
struct Chip final : sc_core::sc_module {
    Chip(const sc_core::sc_module_name& name, const machine::MachineConfig& machine, const Clock& clock)
        : sc_module(name), hbm("hbm", machine, clock) {}

    Hbm hbm;
};

/// The whole machine: what a simulation has once (clock, failure, the host's link, memory and processor,
/// threads for values), the memories that cores share, and the cores. A SystemC simulation has one system.
/// Each core runs a program of its own, or all run the same, each with the part of the data that
/// `host.core_bytes` gives it.
///
/// Several cores share the host and the weight memory; docs/timing.md, "Several cores", has the rules. Their
/// programs' tiles lie in weight memory one after the other. A host buffer of two programs at the same place,
/// with as many bytes, is shared; semaphores from isa::first_shared_semaphore on are the system's.
class System final : public sc_core::sc_module {
public:
    /// Loads the program, which all cores of the machine run: weights into weight memory, constants into host
    /// memory. The program must outlive the system. Throws ProgramError if it was made for another machine,
    /// or has no weight values but is to be computed.
    System(const sc_core::sc_module_name& name, const machine::MachineConfig& machine,
           const isa::Program& program, SystemOptions options);
    /// The same, with a core for each program. A machine of the family tensor_core says how many it has; of
    /// the family tpu_v1, there are as many as programs. Registers and a weight memory of the caller's are
    /// for systems of one core.
    System(const sc_core::sc_module_name& name, const machine::MachineConfig& machine,
           const Programs& programs, SystemOptions options);

    /// The host's memory for one of the program's buffers: to be filled before the run or read after it.
    std::span<std::uint8_t> host_bytes(const isa::HostBuffer& buffer) { return host_memory_.bytes(buffer); }

    /// The same for what is behind it: inferences that fill up the last batch.
    std::span<std::uint8_t> host_padding(const isa::HostBuffer& buffer) {
        return host_memory_.padding(buffer);
    }

    /// Simulates until all programs have halted. If both are given, calls `progress` with the number of
    /// issued instructions at least every `pause` cycles. Throws ProgramError for a missing sync, a race
    /// between cores, a program that can never finish, and rows and tiles that do not exist.
    void run(const std::function<void(InstructionNumber)>& progress = {}, Cycle pause = 0);

    /// The cycles of the slowest core.
    Cycle cycles() const;
    /// The counters of a core, or of what a chip's cores share.
    struct CountedPart {
        std::string path;  ///< of several cores, "chip2.core1." or "chip2.", without levels of one member
        std::optional<std::size_t> core = {};  ///< its number; absent for what cores share
        /// In the order of the data path, with paths inside the part; details behind the counters that they
        /// explain.
        std::vector<PlacedCounters> groups = {};
        std::vector<PlacedCounters> details = {};
    };
    /// The cores with their counters, in the order of the data path: what they share is before the host's
    /// processor of the last core.
    std::vector<CountedPart> counted_parts() const;
    /// The same counters in one list. Of several cores, paths begin with the core, "core1.matrix_unit", and
    /// of several chips with the chip: "chip2.core1.matrix_unit", "chip2.hbm".
    std::vector<PlacedCounters> counters() const;
    /// What the units of a core and of what it shares say of themselves, in the order of their energy in
    /// reports. All cores are alike, and so are all chips.
    std::vector<machine::UnitDescription> descriptions() const;
    /// The lower bounds of all units, in their order in reports.
    std::vector<machine::Bound> bounds() const;
    /// A counter by its path: "matrix_unit.active_cycles", "host_read.busy_cycles". Throws std::logic_error
    /// if there is none.
    const Counter& counter(std::string_view path) const { return find_counter(counters(), path); }

    const Core& core(std::size_t number = 0) const { return *cores_.at(number); }
    // The same, of the machine's family. Throws std::bad_cast for another.
    const TpuV1Core& tpu_v1_core(std::size_t number = 0) const {
        return dynamic_cast<const TpuV1Core&>(core(number));
    }
    const EdgeTpuCore& edge_tpu_core(std::size_t number = 0) const {
        return dynamic_cast<const EdgeTpuCore&>(core(number));
    }
    const TensorCore& tensor_core(std::size_t number = 0) const {
        return dynamic_cast<const TensorCore&>(core(number));
    }

private:
    /// A memory that cores share.
    struct SharedMemory {
        std::size_t chip = 0;
        std::string path;  ///< of its chip: "chip2.", or empty
        const UnitModule* unit = nullptr;
    };

    std::vector<SharedMemory> shared_memories() const;
    /// What the counters' paths of a core begin with: "chip2.core1.", or nothing.
    std::string path_of(std::size_t core) const;
    std::string path_of_chip(std::size_t chip) const;
    std::size_t chip_of(std::size_t core) const;
    /// Between host memory and high-bandwidth memory, without time: what is there before the program, or
    /// stays behind it.
    void copy_residents(isa::ResidentSide side);
    void simulate(const std::function<void(InstructionNumber)>& progress, Cycle pause);
    InstructionNumber issued() const;
    template <class Tell>
    void for_each_trace(const Tell& tell) const;
    const Core& failed_core() const { return *cores_[failure_.failed_core()]; }
    /// Calls `fail`, which throws ProgramError; of several cores, the message names the core.
    template <class Fail>
    void in_core(const Core& core, const Fail& fail) const;
    [[noreturn]] void fail(const CoreRace& race) const;

    const machine::MachineConfig machine_;
    /// By core.
    const std::vector<CoreObservers> observers_;
    std::deque<TraceFanOut> host_traces_;
    Clock clock_;
    Failure failure_;
    const Programs programs_;
    const bool computes_values_;
    OrderChecker order_;
    ValueWorkers workers_;  // declared before the units, to which its jobs refer
    HostLink host_link_;
    HostMemory host_memory_;
    /// Of the family tpu_v1; null if the caller has given one.
    std::unique_ptr<WeightMemory> weight_memory_;
    std::vector<std::unique_ptr<Chip>> chips_;  ///< of the family tensor_core
    Collectives collectives_;
    std::unique_ptr<Semaphores> semaphores_;    ///< of several cores
    std::unique_ptr<SharedAccesses> accesses_;  ///< of several cores
    std::vector<std::unique_ptr<Core>> cores_;
};

}  // namespace systole::hw
