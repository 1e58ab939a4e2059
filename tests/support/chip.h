#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "hw/isa/assembly.h"
#include "hw/isa/queue.h"
#include "hw/machine/machine_config.h"
#include "hw/system/system.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/mixing_host.h"
#include "tests/support/source_dir.h"

namespace systole::tests {

/// A chip that runs a program of assembly and records the run.
class Chip : private FreshSimulation, private hw::TraceListener {
public:
    explicit Chip(const machine::MachineConfig& machine, const std::string& text,
                  std::function<unsigned()> test_delta_delay = {})
        : Chip(machine, isa::assemble(text, "test"), std::move(test_delta_delay)) {}
    Chip(const machine::MachineConfig& machine, isa::Program program,
         std::function<unsigned()> test_delta_delay = {}, hw::Values values = hw::Values::Computed)
        : program_(std::move(program)),
          system_("core", machine, program_,
                  {.values = values,
                   .trace = this,
                   .host = &mixing_host(),
                   .test_delta_delay = std::move(test_delta_delay)}) {}

    void run() { system_.run(); }

    hw::System& operator*() { return system_; }
    const hw::System& operator*() const { return system_; }
    hw::System* operator->() { return &system_; }
    const hw::System* operator->() const { return &system_; }

    /// The instructions that passed through a unit, in order.
    std::vector<hw::InstructionTimes> times(isa::QueueId unit) const {
        std::vector<hw::InstructionTimes> chosen;
        std::copy_if(times_.begin(), times_.end(), std::back_inserter(chosen),
                     [&](const hw::InstructionTimes& t) { return t.unit == static_cast<std::size_t>(unit); });
        return chosen;
    }
    /// The tiles that left the weight FIFO, in order.
    const std::vector<hw::TileTimes>& tiles() const { return tiles_; }
    /// The matrix unit's idle cycles before each stream, in order.
    const std::vector<hw::MatrixIdleTimes>& matrix_idle() const { return matrix_idle_; }
    const isa::Program& program() const { return program_; }

private:
    void instruction(const hw::InstructionTimes& times) override { times_.push_back(times); }
    void tile(const hw::TileTimes& times) override { tiles_.push_back(times); }
    void matrix_idle(const hw::MatrixIdleTimes& times) override { matrix_idle_.push_back(times); }

    isa::Program program_;
    std::vector<hw::InstructionTimes> times_;
    std::vector<hw::TileTimes> tiles_;
    std::vector<hw::MatrixIdleTimes> matrix_idle_;
    hw::System system_;
};

/// A chip without values, for programs that are about time alone: their `activate` need not find sums and
/// parameters that the program has written.
class TimedChip : public Chip {
public:
    explicit TimedChip(const machine::MachineConfig& machine, const std::string& text,
                       std::function<unsigned()> test_delta_delay = {})
        : Chip(machine, isa::assemble(text, "test"), std::move(test_delta_delay), hw::Values::TimingOnly) {}
};

/// Cycles of the four classes into which each cycle of the matrix unit falls.
inline std::uint64_t matrix_unit_cycles(const hw::System& system) {
    std::uint64_t cycles = 0;
    for (const char* name : {"active", "weight_stall", "weight_shift", "non_matrix"}) {
        cycles += system.counter(std::string("matrix_unit.") + name + "_cycles").value();
    }
    return cycles;
}

/// The shipped configuration of TPU v1.
inline machine::MachineConfig tpu_v1() {
    return machine::read_machine(std::filesystem::path(source_dir()) / "configs/machines/tpu_v1.json");
}

}  // namespace systole::tests
