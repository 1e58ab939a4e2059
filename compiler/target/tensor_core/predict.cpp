#include "compiler/target/tensor_core/predict.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <variant>

#include "hw/isa/instruction.h"
#include "hw/isa/registers.h"
#include "hw/timing/tensor.h"

namespace systole::tensor_core {
namespace {

/// The cycles of each unit in a layer.
class LayerCycles {
public:
    explicit LayerCycles(const isa::Program& program, const machine::MachineConfig& machine)
        : program_(program), machine_(machine) {}

    void operator()(const isa::SetConfig& set) { registers_.set(set.reg, set.value); }
    void operator()(const isa::LoadWeights& /*load*/) {
        // The weights of a product shift in while the one before it streams.
        array_ += std::max<Cycle>(streamed_, machine_.matrix_unit.rows);
        streamed_ = 0;
    }
    void operator()(const isa::Product& product) {
        streamed_ += timing::streamed_product(product, registers_, machine_).shape.line_cycles;
    }
    void operator()(const isa::RunChain& run) {
        vector_ += timing::chain_cost(run, program_.chains[run.chain], machine_).cycles;
    }
    void operator()(const isa::ReduceRows& reduce) {
        vector_ += timing::reduction_cost(reduce, machine_).cycles;
    }
    void operator()(const isa::ReduceLanes& reduce) {
        cross_lane_ += timing::reduction_cost(reduce, machine_).cycles;
    }
    void operator()(const isa::MoveLanes& move) { cross_lane_ += timing::move_cost(move, machine_).cycles; }
    void operator()(const isa::Transpose& transpose) {
        cross_lane_ += timing::transposition_cost(transpose, machine_).cycles;
    }
    void operator()(const isa::DmaIn& dma) { hbm_rows_ += std::uint64_t{dma.rows} * dma.blocks; }
    void operator()(const isa::DmaOut& dma) { hbm_rows_ += std::uint64_t{dma.rows} * dma.blocks; }
    template <class Other>
    void operator()(const Other& /*other*/) {}

    Cycle take() {
        const Cycle hbm = timing::hbm_cycles(hbm_rows_ * machine_.vector_row_bytes(), machine_);
        const Cycle most = std::max({array_ + streamed_, vector_, cross_lane_, hbm});
        array_ = streamed_ = vector_ = cross_lane_ = 0;
        hbm_rows_ = 0;
        return most;
    }

private:
    const isa::Program& program_;
    const machine::MachineConfig& machine_;
    isa::Registers registers_;
    Cycle array_ = 0;
    Cycle streamed_ = 0;  ///< since weights were loaded
    Cycle vector_ = 0;
    Cycle cross_lane_ = 0;
    std::uint64_t hbm_rows_ = 0;
};

}  // namespace

Cycle predicted_cycles(const isa::Program& program, const machine::MachineConfig& machine) {
    LayerCycles layer(program, machine);
    Cycle cycles = 0;
    for (const isa::Instruction& instruction : program.instructions) {
        if (std::holds_alternative<isa::DebugTag>(instruction)) cycles += layer.take();
        std::visit([&](const auto& each) { layer(each); }, instruction);
    }
    return cycles + layer.take();
}

}  // namespace systole::tensor_core
