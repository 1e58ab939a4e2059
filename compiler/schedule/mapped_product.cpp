#include "compiler/schedule/mapped_product.h"

#include <optional>

#include "compiler/schedule/array_weights.h"

namespace systole::schedule {

mapping::MappedProduct mapped_product(const LayerView& view, const LayerPlan& plan, std::uint32_t images,
                                      std::uint32_t pixel_bytes) {
    const auto& product = std::get<mapping::MatrixProduct>(view.layer.work);
    const Target& target = view.target;
    const auto delay = target.mapping.parts_by_delay ? std::optional(target.activation_delay) : std::nullopt;
    const mapping::AccumulatorParts accumulators(target.accumulator_rows);
    const auto window =
        product.window ? std::optional(mapping::window_of_blocks(*product.window, plan.block)) : std::nullopt;
    return {.window = window,
            .block = plan.block,
            .pixel_bytes = pixel_bytes,
            .input = view.input().shape,
            .pixels = view.output().shape,
            .grid = plan.grid,
            .tiling = plan.tiling,
            .cut = mapping::cut_product(plan.tiling, plan.grid, images, accumulators, delay),
            .activations = view.input().type,
            .weights = array_weights(product, target).type,
            .output = view.output().type,
            .function = lookup_table(view.layer) != nullptr ? isa::ActivationFunction::Lookup
                                                            : isa::ActivationFunction::Identity};
}

std::uint64_t bytes_of_tiles(const mapping::MatrixProduct& product, std::uint64_t tiles,
                             const Target& target) {
    return tiles * target.geometry.rows * target.geometry.columns *
           bytes_of(array_weights(product, target).type);
}

std::uint32_t pixel_bytes_of(const mapping::Tensor& whole) {
    return whole.shape.channels * bytes_of(whole.type);
}

}  // namespace systole::schedule
