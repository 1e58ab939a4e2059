#include "compiler/schedule/mapped_product.h"

#include <algorithm>
#include <optional>

#include "compiler/schedule/array_weights.h"

namespace systole::schedule {

namespace {

/// The columns of a segment, which lie in a tensor of the network.
mapping::ActivatedColumns activated_columns(const LayerView& view, const Segment& segment,
                                            const std::vector<TensorPart>& parts) {
    const mapping::Layer& layer = view.network.layers[segment.layer];
    const mapping::Tensor& output = view.network.tensors[layer.output];
    const mapping::Tensor& whole = view.network.tensors[parts[layer.output].whole];
    return {.columns = segment.channels * segment.block.pixels(),
            .block = segment.block,
            .pixels = output.shape,
            .pixel_bytes = whole.shape.channels * bytes_of(whole.type),
            .output = output.type,
            .function = lookup_table(layer) != nullptr ? isa::ActivationFunction::Lookup
                                                       : isa::ActivationFunction::Identity,
            .multipliers = requantization(layer)->multipliers()};
}

mapping::MappedProduct mapped_part(const LayerView& view, const LayerPlan& plan, const PlanPart& part,
                                   std::uint32_t images, const std::vector<TensorPart>& parts) {
    const auto& product = std::get<mapping::MatrixProduct>(view.layer.work);
    const Target& target = view.target;
    const auto delay = target.mapping.parts_by_delay ? std::optional(target.activation_delay) : std::nullopt;
    const mapping::AccumulatorParts accumulators(target.accumulator_rows);
    mapping::MappedProduct mapped{.window = std::nullopt,
                                  .input = view.input().shape,
                                  .grid = part.grid,
                                  .tiling = columns_of(plan, part),
                                  .activated = {},
                                  .cut = {},
                                  .activations = view.input().type,
                                  .weights = array_weights(product, target).type,
                                  .spilled = plan.spilled};
    mapped.cut = mapping::cut_product(mapped.tiling, part.grid, images, accumulators, delay);
    if (product.window) mapped.window = mapping::window_of_blocks(*product.window, part.block);
    for (std::size_t j = part.first_tile; j < part.first_tile + part.column_tiles; ++j) {
        std::vector<mapping::ActivatedColumns>& activated = mapped.activated.emplace_back();
        for (const Segment& segment : plan.segments[j]) {
            activated.push_back(activated_columns(view, segment, parts));
        }
    }
    return mapped;
}

}  // namespace

std::vector<mapping::MappedProduct> mapped_products(const LayerView& view, const LayerPlan& plan,
                                                    std::uint32_t images,
                                                    const std::vector<TensorPart>& parts) {
    std::vector<mapping::MappedProduct> products;
    for (const PlanPart& part : plan.parts) {
        products.push_back(mapped_part(view, plan, part, images, parts));
    }
    return products;
}

std::uint64_t bytes_of_tiles(const mapping::MatrixProduct& product, std::uint64_t tiles,
                             const Target& target) {
    return tiles * target.geometry.rows * target.geometry.columns *
           bytes_of(array_weights(product, target).type);
}

bool supports_products(const mapping::Network& network, const Target& target,
                       const machine::MachineConfig& machine) {
    return std::ranges::all_of(network.layers, [&](const mapping::Layer& layer) {
        const auto* const product = std::get_if<mapping::MatrixProduct>(&layer.work);
        if (product == nullptr) return true;
        const DataType activations = network.tensors[layer.inputs[0]].type;
        return machine.matrix_unit.passes(activations, array_weights(*product, target).type).has_value();
    });
}

}  // namespace systole::schedule
