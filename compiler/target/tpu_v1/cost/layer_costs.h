#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/cycle.h"
#include "compiler/target/tpu_v1/cost/cost.h"
#include "compiler/target/tpu_v1/network/analysed_network.h"
#include "compiler/target/tpu_v1/schedule/layer_plan.h"
#include "hw/machine/machine_config.h"

namespace systole::tpu_v1 {

/// What the layers of a network take on a machine: the one predictor, which joins, blocks, slices, strips,
/// stages and the list scheduler ask. Each cost is a function of hw/timing; how those of a product's units
/// follow each other is a recurrence (cost.h). All that it is made of must outlive it.
class LayerCosts {
public:
    LayerCosts(const AnalysedNetwork& analysed, const Target& target, const machine::MachineConfig& machine)
        : analysed_(analysed), target_(target), machine_(machine) {}

    const Network& network() const { return analysed_.network(); }
    const Target& target() const { return target_; }
    const machine::MachineConfig& machine() const { return machine_; }

    // Layers go by their numbers.

    /// Whether the machine can do the matrix work of a layer, or of all layers. If not, its costs cannot be
    /// predicted; the program is refused with its first such instruction.
    bool supports(std::uint32_t number) const;
    bool supports_all() const;

    /// The products that the parts of a layer's plan with its segments (plan_group) describe, for some images
    /// that go through the layer together.
    std::vector<MappedProduct> products(std::uint32_t number, const LayerPlan& plan,
                                        std::uint32_t images) const;
    /// The cycles of these products, one after the other.
    Cycle product_cycles(std::uint32_t number, const LayerPlan& plan, std::uint32_t images) const;
    /// Of the memory, for a tile that the program writes.
    double tile_write_cycles() const;
    /// Bytes of weight memory that tiles of a layer with a product take.
    std::uint64_t tile_bytes(std::uint32_t number, std::uint64_t tiles) const;
    /// Cycles of the activation unit for lines of pooling, for lines of an input that a concatenation copies,
    /// or for rows of element-wise work.
    Cycle vector_cycles(std::uint32_t number, std::size_t input, std::uint32_t length) const;

private:
    const Layer& layer(std::uint32_t number) const { return network().layers[number]; }
    ActivatedColumns activated_columns(const Segment& segment) const;
    MappedProduct mapped_part(std::uint32_t number, const LayerPlan& plan, const PlanPart& part,
                              std::uint32_t images) const;

    const AnalysedNetwork& analysed_;
    const Target& target_;
    const machine::MachineConfig& machine_;
};

}  // namespace systole::tpu_v1
