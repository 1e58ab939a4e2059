#include "compiler/target/tensor_core/predict.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <utility>
#include <variant>
#include <vector>

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

    /// An instruction comes over the host's link, behind those before it and beside those of the chip's other
    /// cores.
    void arrives(std::uint64_t bytes) {
        instruction_bytes_ += bytes * machine_.system.cores;
        issued_ = std::max(issued_, timing::host_read_cycles(instruction_bytes_, machine_));
    }

    void operator()(const isa::SetConfig& set) { registers_.set(set.reg, set.value); }
    void operator()(const isa::SyncSignal& signal) {
        signals_[signal.semaphore].push_back(of(signal.unit).complete);
    }
    void operator()(const isa::SyncWait& wait) {
        std::deque<Cycle>& signals = signals_[wait.semaphore];
        if (signals.empty()) return;
        Unit& unit = of(wait.unit);
        unit.free = std::max(unit.free, signals.front());
        signals.pop_front();
    }
    void operator()(const isa::LoadWeights& /*load*/) {
        Unit& unit = of(QueueId::Weights);
        const Cycle begun = std::max(start(unit), plane_free_);
        finish(unit, begun + timing::shift_cycles(machine_), 0);
        loaded_.push_back(unit.free);
    }
    void operator()(const isa::Product& product) {
        Unit& unit = of(QueueId::Matrix);
        Cycle begun = start(unit);
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
    void operator()(const isa::GatherRows& gather) {
        Unit& unit = of(QueueId::DmaIn);
        transfer(unit, 1);
        unit.free += machine_.hbm_latency();
        transfer(unit, std::uint64_t{gather.rows} * gather.blocks);
    }
    void operator()(const isa::DmaOut& dma) {
        transfer(of(QueueId::DmaOut), std::uint64_t{dma.rows} * dma.blocks);
    }
    /// All cores begin at the same time; the last one to end counts.
    void operator()(const isa::Collective& collective) {
        Cycle cycles = 0;
        for (std::size_t core = 0; core < collective.cores; ++core)
            cycles = std::max(cycles, timing::collective_cost(collective, core, machine_).cycles);
        Unit& unit = of(QueueId::Collective);
        finish(unit, start(unit) + cycles, 0);
    }
    void operator()(const isa::Infeed& infeed) {
        const std::uint64_t bytes = infeed.bytes_sent() * machine_.system.cores;
        host(of(QueueId::HostRead), timing::host_read_cycles(bytes, machine_));
    }
    void operator()(const isa::Outfeed& outfeed) {
        const std::uint64_t words = std::uint64_t{outfeed.rows} * outfeed.columns * machine_.system.cores;
        host(of(QueueId::HostWrite), timing::host_write_cycles(words * isa::word_bytes, machine_));
    }
    void operator()(const isa::DebugTag& tag) {
        end_part();
        tag_ = tag.tag;
    }
    template <class Other>
    void operator()(const Other& /*other*/) {}

    Prediction prediction() {
        end_part();
        return {.cycles = ended_,
                .memory_cycles = timing::hbm_cycles(hbm_rows_ * machine_.vector_row_bytes(), machine_),
                .parts = std::move(parts_)};
    }

private:
    struct Unit {
        Cycle free = 0;                ///< for its next instruction
        Cycle complete = 0;            ///< its last one
        std::deque<Cycle> begun = {};  ///< those that its queue may still hold
    };

    Unit& of(QueueId queue) { return units_.at(static_cast<std::size_t>(queue)); }

    /// When the unit may begin with the next instruction: it is issued when its queue has room.
    Cycle start(Unit& unit) {
        issued_ += machine_.sequencer.issue_cycles;
        if (unit.begun.size() >= machine_.sequencer.queue_depth) {
            issued_ = std::max(issued_, unit.begun.front());
            unit.begun.pop_front();
        }
        const Cycle begun = std::max(unit.free, issued_);
        unit.begun.push_back(begun);
        return begun;
    }
    void end_part() {
        Cycle last = ended_;
        for (const Unit& unit : units_) last = std::max(last, unit.complete);
        parts_.push_back({tag_, last - ended_});
        ended_ = last;
    }

    static void finish(Unit& unit, Cycle released, Cycle latency) {
        unit.free = released;
        unit.complete = std::max(unit.complete, released + latency);
    }
    void vector(Cycle cycles) {
        Unit& unit = of(QueueId::Vector);
        finish(unit, start(unit) + cycles, machine_.vector_unit.latency_cycles);
    }
    void cross_lane(Cycle cycles) {
        Unit& unit = of(QueueId::CrossLane);
        finish(unit, start(unit) + cycles, machine_.cross_lane_unit.latency_cycles);
    }
    /// The cores of a chip share the memory, and all of them ask for the same.
    void transfer(Unit& unit, std::uint64_t rows) {
        // The fractions of a cycle are kept.
        const Cycle before = timing::hbm_cycles(hbm_rows_ * machine_.vector_row_bytes(), machine_);
        hbm_rows_ += rows * machine_.system.cores;
        const Cycle after = timing::hbm_cycles(hbm_rows_ * machine_.vector_row_bytes(), machine_);
        finish(unit, take_hbm(start(unit) + 1, after - before), machine_.hbm_latency());
    }
    /// Takes the first cycles from one on in which the memory is free. Returns the end of the last one.
    Cycle take_hbm(Cycle from, Cycle cycles) {
        auto next = hbm_busy_.upper_bound(from);
        Cycle begin = from;
        if (next != hbm_busy_.begin() && std::prev(next)->second >= from) {
            --next;
            begin = next->first;
            from = next->second;
            next = hbm_busy_.erase(next);
        }
        while (next != hbm_busy_.end() && next->first <= from + cycles) {
            cycles -= next->first - from;
            from = next->second;
            next = hbm_busy_.erase(next);
        }
        hbm_busy_.emplace_hint(next, begin, from + cycles);
        return from + cycles;
    }
    void host(Unit& unit, Cycle cycles) { finish(unit, start(unit) + cycles, machine_.host_latency()); }

    const isa::Program& program_;
    const machine::MachineConfig& machine_;
    isa::Registers registers_;
    std::array<Unit, isa::queue_count> units_{};
    std::map<std::uint8_t, std::deque<Cycle>> signals_;
    std::deque<Cycle> loaded_;  ///< when weights are there that no product has taken
    Cycle plane_free_ = 0;
    std::uint64_t hbm_rows_ = 0;
    std::map<Cycle, Cycle> hbm_busy_;  ///< the end of each part of time, by its begin
    std::uint64_t instruction_bytes_ = 0;
    Cycle issued_ = 0;  ///< the last instruction
    std::uint16_t tag_ = 0;
    Cycle ended_ = 0;  ///< the last part
    std::vector<TaggedCycles> parts_;
};

}  // namespace

Prediction predict(const isa::Program& program, const machine::MachineConfig& machine) {
    UnitTimes times(program, machine);
    for (const isa::Instruction& instruction : program.instructions) {
        std::visit(
            [&](const auto& each) {
                times.arrives(each.encoded_bytes);
                times(each);
            },
            instruction);
    }
    return times.prediction();
}

}  // namespace systole::tensor_core
