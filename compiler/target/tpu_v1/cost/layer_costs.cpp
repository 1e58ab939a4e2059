#include "compiler/target/tpu_v1/cost/layer_costs.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <variant>

#include "compiler/target/tpu_v1/network/array_weights.h"
#include "compiler/target/tpu_v1/schedule/layer_lowering.h"
#include "hw/isa/registers.h"
#include "hw/timing/activation_unit.h"
#include "hw/timing/transfers.h"

namespace systole::tpu_v1 {

using isa::Register;

bool LayerCosts::supports(std::uint32_t number) const {
    const auto* const product = std::get_if<MatrixProduct>(&layer(number).work);
    if (product == nullptr) return true;
    const DataType activations = network().tensors[layer(number).inputs[0]].type;
    return machine_.matrix_unit.passes(activations, array_weights(*product, target_).type).has_value();
}

bool LayerCosts::supports_all() const {
    for (std::uint32_t l = 0; l < network().layers.size(); ++l) {
        if (!supports(l)) return false;
    }
    return true;
}

/// The columns of a segment, which lie in a tensor of the network.
ActivatedColumns LayerCosts::activated_columns(const Segment& segment) const {
    const Layer& of = layer(segment.layer);
    const Tensor& output = network().tensors[of.output];
    const Tensor& whole = network().tensors[analysed_.parts[of.output].whole];
    return {.columns = segment.channels * segment.block.pixels(),
            .block = segment.block,
            .pixels = output.shape,
            .pixel_bytes = whole.shape.channels * bytes_of(whole.type),
            .output = output.type,
            .function = lookup_table(of) != nullptr ? isa::ActivationFunction::Lookup
                                                    : isa::ActivationFunction::Identity,
            .multipliers = requantization(of)->multipliers()};
}

MappedProduct LayerCosts::mapped_part(std::uint32_t number, const LayerPlan& plan, const PlanPart& part,
                                      std::uint32_t images) const {
    const auto& product = std::get<MatrixProduct>(layer(number).work);
    const Tensor& input = network().tensors[layer(number).inputs[0]];
    const auto delay =
        target_.mapping.parts_by_delay ? std::optional(target_.activation_delay) : std::nullopt;
    const AccumulatorParts accumulators(target_.accumulator_rows);
    MappedProduct mapped{.window = std::nullopt,
                         .input = input.shape,
                         .grid = part.grid,
                         .tiling = columns_of(plan, part),
                         .activated = {},
                         .cut = {},
                         .activations = input.type,
                         .weights = array_weights(product, target_).type,
                         .spilled = plan.spilled};
    mapped.cut = cut_product(mapped.tiling, part.grid, images, accumulators, delay);
    if (product.window) mapped.window = window_of_blocks(*product.window, part.block);
    for (std::size_t j = part.first_tile; j < part.first_tile + part.column_tiles; ++j) {
        std::vector<ActivatedColumns>& activated = mapped.activated.emplace_back();
        for (const Segment& segment : plan.segments[j]) activated.push_back(activated_columns(segment));
    }
    return mapped;
}

std::vector<MappedProduct> LayerCosts::products(std::uint32_t number, const LayerPlan& plan,
                                                std::uint32_t images) const {
    std::vector<MappedProduct> products;
    for (const PlanPart& part : plan.parts) products.push_back(mapped_part(number, plan, part, images));
    return products;
}

Cycle LayerCosts::product_cycles(std::uint32_t number, const LayerPlan& plan, std::uint32_t images) const {
    return predicted_cycles(products(number, plan, images), machine_);
}

double LayerCosts::tile_write_cycles() const {
    return static_cast<double>(timing::weight_write_cycles(machine_.tile_bytes(), machine_));
}

std::uint64_t LayerCosts::tile_bytes(std::uint32_t number, std::uint64_t tiles) const {
    const auto& product = std::get<MatrixProduct>(layer(number).work);
    return tiles * target_.geometry.rows * target_.geometry.columns *
           bytes_of(array_weights(product, target_).type);
}

Cycle LayerCosts::vector_cycles(std::uint32_t number, std::size_t input, std::uint32_t length) const {
    const Tensor& output = network().tensors[layer(number).output];
    isa::Registers registers;
    isa::Vector vector;
    vector.length = length;
    if (const auto* const work = std::get_if<Elementwise>(&layer(number).work)) {
        vector.operation = work->operation;
        vector.elements = output.type;
    } else {
        const auto* const pooling = std::get_if<Pooling>(&layer(number).work);
        const ir::Window window = pooling != nullptr ? pooling->window : ir::Window{};
        const Tensor& read = network().tensors[layer(number).inputs[input]];
        vector.operation = isa::VectorOperation::MaxPool;
        registers.set(Register::WindowChannels, read.shape.channels * bytes_of(read.type));
        registers.set(Register::WindowOutputWidth, output.shape.width);
        registers.set(Register::WindowKernelWidth, window.kernel_width);
        registers.set(Register::WindowKernelHeight, window.kernel_height);
        registers.set(Register::WindowStrideX, window.stride_x);
    }
    return timing::activation_cost(vector, registers, machine_).cycles;
}

}  // namespace systole::tpu_v1
