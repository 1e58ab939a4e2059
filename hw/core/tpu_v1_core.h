#pragma once

#include <memory>
#include <span>
#include <systemc>
#include <vector>

#include "hw/accumulators/accumulators.h"
#include "hw/activation_unit/activation_unit.h"
#include "hw/common/unit_module.h"
#include "hw/core/core.h"
#include "hw/host_interface/host_interface.h"
#include "hw/host_processor/host_processor.h"
#include "hw/isa/program.h"
#include "hw/isa/queue.h"
#include "hw/matrix_unit/matrix_unit.h"
#include "hw/sequencer/sequencer.h"
#include "hw/systolic_data_setup/systolic_data_setup.h"
#include "hw/unified_buffer/unified_buffer.h"
#include "hw/weight_fifo/weight_fifo.h"
#include "hw/weight_writer/weight_writer.h"

namespace systole::hw {

/// A core of the family tpu_v1: a systolic array with its unified buffer, accumulators and weights.
class TpuV1Core final : public Core {
public:
    TpuV1Core(const sc_core::sc_module_name& name, const CoreContext& context, const isa::Program& program);

    std::vector<const UnitModule*> units() const override;
    std::vector<const UnitModule*> from_the_array() const override;
    const UnifiedBuffer& unified_buffer() const { return unified_buffer_; }
    const Accumulators& accumulators() const { return accumulators_; }
    /// Wall time inside the matrix products.
    math::GemmStatistics gemm() const { return matrix_unit_.gemm(); }
    std::optional<double> product_seconds() const override { return gemm().seconds; }

private:
    std::span<CommandQueue* const> queues() const override { return queues_; }
    const Sequencer& sequencer() const override { return sequencer_; }
    void load_initial_rows(const isa::Program& program);
    std::vector<CommandQueue*> all_queues();

    UnifiedBuffer unified_buffer_;
    HostInterface host_interface_;
    WeightFifo weight_fifo_;
    std::unique_ptr<WeightWriter> weight_writer_;  ///< null if the weight memory is read-only
    Accumulators accumulators_;
    MatrixUnit matrix_unit_;
    SystolicDataSetup systolic_data_setup_;
    ActivationUnit activation_unit_;
    HostProcessorUnit host_processor_;
    const std::vector<CommandQueue*> queues_;
    Sequencer sequencer_;
};

}  // namespace systole::hw
