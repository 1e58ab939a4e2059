#include "compiler/target/tensor_core/predict.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <variant>

#include "hw/isa/instruction.h"
#include "hw/isa/queue.h"
#include "hw/isa/registers.h"
#include "hw/timing/matrix_unit.h"
#include "hw/timing/tensor.h"
#include "hw/timing/transfers.h"

namespace systole::tensor_core {
namespace {

using isa::QueueId;

/// When each unit is free again, instruction by instruction.
class UnitTimes {
public:
    UnitTimes(const isa::Program& program, const machine::MachineConfig& machine)
        : program_(program), machine_(machine) {}

    void operator()(const isa::SetConfig& set) { registers_.set(set.reg, set.value); }
    void operator()(const isa::SyncSignal& signal) {
        signals_[signal.semaphore].push_back(of(signal.unit).complete);
    }
    void operator()(const isa::SyncWait& wait) {
        std::deque<Cycle>& signals = signals_[wait.semaphore];
        if (signals.empty()) return;
        of(wait.unit).free = std::max(of(wait.unit).free, signals.front());
        signals.pop_front();
    }
    void operator()(const isa::LoadWeights& /*load*/) {
        Unit& unit = of(QueueId::Weights);
        const Cycle begun = std::max(unit.free, plane_free_);
        finish(unit, begun + timing::shift_cycles(machine_), 0);
        loaded_.push_back(unit.free);
    }
    void operator()(const isa::Product& product) {
        Unit& unit = of(QueueId::Matrix);
        Cycle begun = unit.free;
        if (!product.keep_weights && !loaded_.empty()) {
            begun = std::max(begun, loaded_.front());
            loaded_.pop_front();
            plane_free_ = begun + machine_.matrix_unit.weight_switch;
        }
        const Cycle cycles = timing::streamed_product(product, registers_, machine_).shape.line_cycles;
        finish(unit, begun + cycles, timing::matrix_latency(machine_));
    }
    void operator()(const isa::RunChain& run) {
        vector(timing::chain_cost(run, program_.chains[run.chain], machine_).cycles);
    }
    void operator()(const isa::ReduceRows& reduce) {
        vector(timing::reduction_cost(reduce, machine_).cycles);
    }
    void operator()(const isa::ReduceLanes& reduce) {
        cross_lane(timing::reduction_cost(reduce, machine_).cycles);
    }
    void operator()(const isa::MoveLanes& move) { cross_lane(timing::move_cost(move, machine_).cycles); }
    void operator()(const isa::Transpose& transpose) {
        cross_lane(timing::transposition_cost(transpose, machine_).cycles);
    }
    void operator()(const isa::DmaIn& dma) {
        transfer(of(QueueId::DmaIn), std::uint64_t{dma.rows} * dma.blocks);
    }
    void operator()(const isa::DmaOut& dma) {
        transfer(of(QueueId::DmaOut), std::uint64_t{dma.rows} * dma.blocks);
    }
    void operator()(const isa::Infeed& infeed) {
        const std::uint64_t words = std::uint64_t{infeed.rows} * infeed.columns * machine_.system.cores;
        host(of(QueueId::HostRead), timing::host_read_cycles(words * isa::word_bytes, machine_));
    }
    void operator()(const isa::Outfeed& outfeed) {
        const std::uint64_t words = std::uint64_t{outfeed.rows} * outfeed.columns * machine_.system.cores;
        host(of(QueueId::HostWrite), timing::host_write_cycles(words * isa::word_bytes, machine_));
    }
    template <class Other>
    void operator()(const Other& /*other*/) {}

    Cycle end() const {
        Cycle last = timing::hbm_cycles(hbm_rows_ * machine_.vector_row_bytes(), machine_);
        for (const Unit& unit : units_) last = std::max(last, unit.complete);
        return last;
    }

private:
    struct Unit {
        Cycle free = 0;      ///< for its next instruction
        Cycle complete = 0;  ///< its last one
    };

    Unit& of(QueueId queue) { return units_.at(static_cast<std::size_t>(queue)); }

    static void finish(Unit& unit, Cycle released, Cycle latency) {
        unit.free = released;
        unit.complete = std::max(unit.complete, released + latency);
    }
    void vector(Cycle cycles) {
        Unit& unit = of(QueueId::Vector);
        finish(unit, unit.free + cycles, machine_.vector_unit.latency_cycles);
    }
    void cross_lane(Cycle cycles) {
        Unit& unit = of(QueueId::CrossLane);
        finish(unit, unit.free + cycles, machine_.cross_lane_unit.latency_cycles);
    }
    /// What goes in and what goes out shares the memory: `end` asks for the time of both. The cores of a chip
    /// share it, too, and all of them ask for the same.
    void transfer(Unit& unit, std::uint64_t rows) {
        hbm_rows_ += rows * machine_.system.cores;
        const Cycle cycles =
            timing::hbm_cycles(rows * machine_.system.cores * machine_.vector_row_bytes(), machine_);
        finish(unit, unit.free + 1 + cycles, machine_.hbm_latency());
    }
    void host(Unit& unit, Cycle cycles) { finish(unit, unit.free + cycles, machine_.host_latency()); }

    const isa::Program& program_;
    const machine::MachineConfig& machine_;
    isa::Registers registers_;
    std::array<Unit, isa::queue_count> units_{};
    std::map<std::uint8_t, std::deque<Cycle>> signals_;
    std::deque<Cycle> loaded_;  ///< when weights are there that no product has taken
    Cycle plane_free_ = 0;
    std::uint64_t hbm_rows_ = 0;
};

}  // namespace

Cycle predicted_cycles(const isa::Program& program, const machine::MachineConfig& machine) {
    UnitTimes times(program, machine);
    for (const isa::Instruction& instruction : program.instructions) {
        std::visit([&](const auto& each) { times(each); }, instruction);
    }
    return times.end();
}

}  // namespace systole::tensor_core
