#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <optional>

#include "hw/isa/program_error.h"
#include "hw/math/floats/float_values.h"
#include "sim/functional/tensor/tensor_instructions.h"

namespace systole::functional {
namespace {

const isa::TensorShape& shape_of(const TensorState& state) {
    return state.program.geometry.tensor;
}

/// The elements of the rows that a product streams.
class StreamedRows {
public:
    StreamedRows(const isa::Product& product, TensorState& state)
        : state_(state), part_(product.part), first_(state.registers[isa::Register::ProductFirst]) {
        const std::uint64_t elements = first_ + product.depth;
        if (product.windows) {
            window_ = isa::pixel_windows(state.registers);
            panels_ = isa::pixel_panels(state.registers, shape_of(state), product.source, product.rows,
                                        elements, product.packed);
        } else {
            panels_ =
                isa::panels_of(state.registers, shape_of(state), product.source, {product.rows, elements},
                               isa::Register::SourcePanelRows, product.packed);
        }
    }

    float element(std::uint64_t row, std::uint64_t k) {
        return part_of(window_ ? of_window(row, first_ + k) : state_.number(panels_, row, first_ + k), part_);
    }

private:
    float of_window(std::uint64_t window, std::uint64_t element) {
        const isa::PixelWindows& w = *window_;
        const std::uint64_t image = window / w.windows_of_image();
        const std::uint64_t place = window % w.windows_of_image();
        const std::uint64_t channel = element % w.channels;
        const std::uint64_t tap = element / w.channels;
        const auto at = [](std::uint64_t output, std::uint64_t stride, std::uint64_t kernel,
                           std::uint64_t dilation, std::uint64_t pad) {
            return static_cast<std::int64_t>(output * stride + kernel * dilation) -
                   static_cast<std::int64_t>(pad);
        };
        const std::int64_t line =
            at(place / w.output_width, w.stride_y, tap / w.kernel_width, w.dilation_y, w.pad_top);
        const std::int64_t column =
            at(place % w.output_width, w.stride_x, tap % w.kernel_width, w.dilation_x, w.pad_left);
        if (line < 0 || line >= static_cast<std::int64_t>(w.height)) return 0.0F;
        if (column < 0 || column >= static_cast<std::int64_t>(w.width)) return 0.0F;
        const std::uint64_t pixel = image * w.image_rows + static_cast<std::uint64_t>(line) * w.width +
                                    static_cast<std::uint64_t>(column);
        return state_.number(panels_, pixel, channel);
    }

    TensorState& state_;
    unsigned part_;
    std::uint64_t first_;
    isa::Panels panels_;
    std::optional<isa::PixelWindows> window_;
};

const WeightMatrix& weights_for(const isa::Product& product, TensorState& state) {
    if (!product.keep_weights) {
        if (state.loaded.empty()) throw isa::ProgramError("no weights are loaded for it");
        state.in_array = std::move(state.loaded.front());
        state.loaded.pop_front();
    }
    if (!state.in_array)
        throw isa::ProgramError("it keeps the weights in the array, where there are none yet");
    const WeightMatrix& weights = *state.in_array;
    if (weights.depth == product.depth && weights.columns == product.columns) return weights;
    throw isa::ProgramError(
        fmt::format("the weights that it meets are {} x {}; it must have their depth and columns",
                    weights.depth, weights.columns));
}

}  // namespace

void execute(const isa::LoadWeights& load, TensorState& state) {
    const isa::MatrixSize size = load.transposed ? isa::MatrixSize{load.columns, load.depth}
                                                 : isa::MatrixSize{load.depth, load.columns};
    const isa::Panels panels = isa::panels_of(state.registers, shape_of(state), load.source, size,
                                              isa::Register::WeightsPanelRows, load.packed);
    WeightMatrix matrix{.depth = load.depth, .columns = load.columns};
    for (std::uint64_t k = 0; k < load.depth; ++k) {
        for (std::uint64_t column = 0; column < load.columns; ++column) {
            const float weight =
                load.transposed ? state.number(panels, column, k) : state.number(panels, k, column);
            matrix.weights.push_back(part_of(weight, load.part));
        }
    }
    state.loaded.push_back(std::move(matrix));
}

void execute(const isa::Product& product, TensorState& state) {
    const WeightMatrix& weights = weights_for(product, state);
    StreamedRows rows(product, state);
    const isa::Panels result =
        isa::panels_of(state.registers, shape_of(state), product.result, {product.rows, product.columns},
                       isa::Register::ResultPanelRows);
    for (std::uint64_t row = 0; row < product.rows; ++row) {
        for (std::uint64_t column = 0; column < product.columns; ++column) {
            float sum = 0.0F;
            for (std::uint64_t k = 0; k < product.depth; ++k) {
                sum = math::settled(
                    std::fma(rows.element(row, k), weights.weights[k * product.columns + column], sum));
            }
            std::uint32_t& word = state.word_of(result, row, column);
            if (product.accumulate) sum = math::settled(std::bit_cast<float>(word) + sum);
            word = std::bit_cast<std::uint32_t>(sum);
        }
    }
}

}  // namespace systole::functional
