#include "hw/tile_array/compute.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "base/data_type.h"
#include "base/fixed_point.h"
#include "hw/math/gemm.h"
#include "hw/math/requantize.h"
#include "hw/tile_array/elements.h"

namespace systole::hw {
namespace {

DataType element_type(const Product& product) {
    return product.instruction.is_signed ? DataType::Int8 : DataType::Uint8;
}

std::uint32_t word(const std::uint8_t* bytes) {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

/// Biases and multipliers of all output channels.
class OutputParameters {
public:
    explicit OutputParameters(const Product& product)
        : product_(product), bias_(product.cost.blocks.outputs) {
        const isa::Scaling scaling = product.instruction.scaling;
        const std::size_t outputs = bias_.size();
        if (scaling == isa::Scaling::Float) {
            float_.resize(outputs);
        } else if (scaling == isa::Scaling::Real) {
            real_.resize(outputs);
        } else {
            multiplier_.resize(outputs);
            shift_.resize(outputs);
        }
        if (product.instruction.by_channel) return;
        const isa::Registers& registers = *product.registers;
        const MultiplierWords words{registers[isa::Register::VectorMultiplier],
                                    registers[isa::Register::VectorShift]};
        for (std::size_t output = 0; output < outputs; ++output) set_multiplier(output, words);
    }

    /// Takes those of a group from its block.
    void read(std::uint64_t group, const std::uint8_t* block) {
        const isa::WeightBlocks& blocks = product_.cost.blocks;
        for (std::uint64_t lane = 0; lane < blocks.outputs_of(group, product_.grid); ++lane) {
            const std::size_t output = group * product_.grid.lanes + lane;
            const std::uint8_t* const bias = block + lane * isa::tile_word;
            bias_[output] = static_cast<std::int32_t>(word(bias));
            if (!product_.instruction.by_channel) continue;
            const std::uint8_t* const first = bias + blocks.row_bytes();
            MultiplierWords words{.first = word(first), .second = 0};
            if (product_.instruction.scaling != isa::Scaling::Float) {
                words.second = word(first + blocks.row_bytes());
            }
            set_multiplier(output, words);
        }
    }
    /// A zero point of the source takes its part of every sum.
    void subtract(std::size_t output, std::int32_t amount) {
        bias_[output] = wrapping_subtract(bias_[output], amount);
    }

    math::Requantization requantization() const {
        const isa::Registers& registers = *product_.registers;
        return {.bias = bias_,
                .multiplier = multiplier_,
                .shift = shift_,
                .zero_point = registers.as_signed(isa::Register::OutputZeroPoint),
                .minimum = registers.as_signed(isa::Register::OutputMinimum),
                .maximum = registers.as_signed(isa::Register::OutputMaximum),
                .real_multiplier = real_,
                .half_to_even = product_.instruction.scaling == isa::Scaling::ToEven,
                .float_multiplier = float_};
    }

private:
    void set_multiplier(std::size_t output, const MultiplierWords& words) {
        switch (product_.instruction.scaling) {
            case isa::Scaling::FixedPoint:
            case isa::Scaling::ToEven:
                multiplier_[output] = static_cast<std::int32_t>(words.first);
                shift_[output] = static_cast<std::int8_t>(shift_of(words));
                return;
            case isa::Scaling::Real:
                real_[output] = real_multiplier(words);
                return;
            case isa::Scaling::Float:
                float_[output] = std::bit_cast<float>(words.first);
                return;
        }
        throw std::logic_error("a scaling that does not exist");
    }

    const Product& product_;
    std::vector<std::int32_t> bias_;
    std::vector<std::int32_t> multiplier_;
    std::vector<std::int8_t> shift_;
    std::vector<double> real_;
    std::vector<float> float_;
};

/// Weights as int8 with a zero point: unsigned ones are moved by 128, and so is their zero point.
struct SignedWeights {
    explicit SignedWeights(const Product& product)
        : flip(product.instruction.has_signed_weights ? 0 : 0x80),
          zero_point(product.weight_zero_point() - (product.instruction.has_signed_weights ? 0 : 128)) {}

    std::int8_t of(std::uint8_t byte) const { return static_cast<std::int8_t>(byte ^ flip); }

    std::uint8_t flip;
    std::int32_t zero_point;
};

/// The weights of all output channels, row by row of the matrix: weight k of output n at k * outputs + n. The
/// parameters take their biases and multipliers, and each sum's part of the source's zero point.
void unpack(const Product& product, const std::uint8_t* const block, std::uint64_t group, std::int8_t* matrix,
            OutputParameters& parameters) {
    const isa::WeightBlocks& blocks = product.cost.blocks;
    const SignedWeights weights(product);
    const std::int32_t source_zero = product.source_zero_point();
    const std::uint64_t first = group * product.grid.lanes;
    const std::uint64_t count = blocks.outputs_of(group, product.grid);
    const std::uint8_t* const rows = block + blocks.parameter_rows * blocks.row_bytes();
    std::vector<std::int32_t> sums(count);
    for (std::uint64_t k = 0; k < blocks.weights; ++k) {
        const std::uint8_t* const row = rows + k / isa::tile_word * blocks.row_bytes() + k % isa::tile_word;
        std::int8_t* const line = matrix + k * blocks.outputs + first;
        for (std::uint64_t lane = 0; lane < count; ++lane) {
            line[lane] = weights.of(row[lane * isa::tile_word]);
            sums[lane] += line[lane] - weights.zero_point;
        }
    }
    parameters.read(group, block);
    for (std::uint64_t lane = 0; lane < count; ++lane) {
        parameters.subtract(first + lane, wrapping_multiply(source_zero, sums[lane]));
    }
}

/// Calls visit(tile, line of the patch, first column of the image, columns) for each line of each patch.
template <class Visit>
void for_each_patch_line(const isa::TileLayout& layout, const Visit& visit) {
    for (std::size_t tile = 0; tile < layout.grid.tiles(); ++tile) {
        const isa::OwnRange lines = isa::own_lines(layout, tile / layout.grid.columns);
        const isa::OwnRange columns = isa::own_columns(layout, tile % layout.grid.columns);
        if (columns.count() == 0) continue;
        for (std::uint64_t line = lines.first; line < lines.last; ++line) {
            visit(tile, line, columns.first, columns.count());
        }
    }
}

/// Where a tile keeps a pixel that it owns.
std::uint64_t place_of(const isa::TileLayout& layout, std::uint64_t line, std::uint64_t column) {
    return layout.at(layout.top + line % layout.own_lines(), layout.left + column % layout.own_columns());
}

/// Bytes of the elements under windows that are gathered for one product.
constexpr std::size_t gathered_bytes = std::size_t{1} << 20;

}  // namespace

void compute_convolution(const Product& product, const std::uint8_t* parameters, NarrowMemoryAccess& narrow,
                         ValueWorkers::Scratch& scratch) {
    const isa::WeightBlocks& blocks = product.cost.blocks;
    const isa::TileLayout& source = product.source;
    const isa::TileLayout& result = product.result;
    const isa::TileWindow& window = product.window;
    OutputParameters outputs(product);
    std::vector<std::int8_t> matrix(blocks.weights * blocks.outputs);
    for (std::uint64_t group = 0; group < blocks.groups; ++group) {
        unpack(product, parameters + group * blocks.block_bytes(), group, matrix.data(), outputs);
    }
    const math::Requantization requantization = outputs.requantization();
    const std::int32_t weight_zero = SignedWeights(product).zero_point;
    const std::size_t most = std::max<std::size_t>(1, gathered_bytes / blocks.weights);

    struct Run {
        std::size_t tile = 0;
        std::uint64_t address = 0;
        std::size_t pixels = 0;
    };
    std::vector<Run> runs;
    std::vector<std::int32_t> sums;
    scratch.clear();
    std::size_t pixels = 0;
    const auto multiply = [&] {
        if (pixels == 0) return;
        sums.resize(pixels * blocks.outputs);
        math::multiply_accumulate(
            {.data = scratch.data(), .row_bytes = blocks.weights, .type = element_type(product)},
            {.data = reinterpret_cast<const std::uint8_t*>(matrix.data()),
             .row_bytes = blocks.outputs,
             .type = DataType::Int8,
             .zero_point = weight_zero},
            sums.data(), blocks.outputs, pixels, blocks.outputs, blocks.weights, false);
        const std::int32_t* next = sums.data();
        for (const Run& run : runs) {
            math::requantize_rows(next, blocks.outputs, run.pixels, blocks.outputs, requantization,
                                  element_type(product), narrow.of_tile(run.tile) + run.address,
                                  result.pixel_bytes);
            next += run.pixels * blocks.outputs;
        }
        runs.clear();
        scratch.clear();
        pixels = 0;
    };
    for_each_patch_line(
        result, [&](std::size_t tile, std::uint64_t line, std::uint64_t first, std::uint64_t columns) {
            const std::uint8_t* const memory = narrow.of_tile(tile);
            const std::uint64_t stored_line = isa::stored_line(source, result, window, line, 0);
            const std::uint64_t stored_column = isa::stored_column(source, result, window, first, 0);
            for (std::uint64_t column = 0; column < columns; ++column) {
                for (std::uint64_t y = 0; y < window.kernel_height; ++y) {
                    const std::uint8_t* pixel = memory + source.at(stored_line + y * window.dilation_y,
                                                                   stored_column + column * window.stride_x);
                    const std::uint64_t step = window.dilation_x * source.pixel_bytes;
                    if (step == source.channels) {  // the pixels of the line follow each other
                        scratch.insert(scratch.end(), pixel, pixel + window.kernel_width * source.channels);
                        continue;
                    }
                    for (std::uint64_t x = 0; x < window.kernel_width; ++x, pixel += step) {
                        scratch.insert(scratch.end(), pixel, pixel + source.channels);
                    }
                }
            }
            runs.push_back({tile, place_of(result, line, first), columns});
            pixels += columns;
            if (pixels >= most) multiply();
        });
    multiply();
}

void compute_depthwise(const Product& product, const std::uint8_t* parameters, NarrowMemoryAccess& narrow,
                       ValueWorkers::Scratch& scratch) {
    const isa::WeightBlocks& blocks = product.cost.blocks;
    const isa::TileLayout& source = product.source;
    const isa::TileLayout& result = product.result;
    const isa::TileWindow& window = product.window;
    OutputParameters outputs(product);
    std::vector<std::int8_t> matrix(blocks.weights * blocks.outputs);
    for (std::uint64_t group = 0; group < blocks.groups; ++group) {
        unpack(product, parameters + group * blocks.block_bytes(), group, matrix.data(), outputs);
    }
    const math::Requantization requantization = outputs.requantization();
    const std::int32_t weight_zero = SignedWeights(product).zero_point;
    const std::uint64_t copies = blocks.outputs / source.channels;
    const bool is_signed = product.instruction.is_signed;
    std::vector<std::int32_t> sums;
    std::vector<std::int32_t> elements(blocks.outputs);
    static_cast<void>(scratch);
    for_each_patch_line(
        result, [&](std::size_t tile, std::uint64_t line, std::uint64_t first, std::uint64_t columns) {
            const std::uint8_t* const memory = narrow.of_tile(tile);
            const std::uint64_t stored_line = isa::stored_line(source, result, window, line, 0);
            const std::uint64_t stored_column = isa::stored_column(source, result, window, first, 0);
            sums.assign(columns * blocks.outputs, 0);
            for (std::uint64_t column = 0; column < columns; ++column) {
                std::int32_t* const sum = sums.data() + column * blocks.outputs;
                for (std::uint64_t tap = 0; tap < blocks.weights; ++tap) {
                    const std::uint8_t* const pixel =
                        memory + source.at(stored_line + tap / window.kernel_width * window.dilation_y,
                                           stored_column + column * window.stride_x +
                                               tap % window.kernel_width * window.dilation_x);
                    const std::int8_t* const weights = matrix.data() + tap * blocks.outputs;
                    for (std::uint64_t n = 0; n < blocks.outputs; ++n) {
                        elements[n] = element(pixel[copies == 1 ? n : n / copies], is_signed);
                    }
                    for (std::uint64_t n = 0; n < blocks.outputs; ++n) {
                        sum[n] = wrapping_add(sum[n], elements[n] * (weights[n] - weight_zero));
                    }
                }
            }
            math::requantize_rows(sums.data(), blocks.outputs, columns, blocks.outputs, requantization,
                                  element_type(product), narrow.of_tile(tile) + place_of(result, line, first),
                                  result.pixel_bytes);
        });
}

void compute_dense(const Product& product, NarrowMemoryAccess& narrow, WideMemoryAccess& wide,
                   ValueWorkers::Scratch& scratch) {
    const isa::WeightBlocks& blocks = product.cost.blocks;
    const isa::LaneVector result = product.lanes();
    OutputParameters outputs(product);
    std::vector<std::int8_t> matrix(blocks.weights * blocks.outputs);
    for (std::uint64_t group = 0; group < blocks.groups; ++group) {
        scratch.resize(blocks.block_bytes());
        for (std::uint64_t unit = 0; unit < blocks.block_units(); ++unit) {
            std::memcpy(scratch.data() + unit * isa::tile_unit_bytes,
                        wide.from_unit(isa::dense_unit(blocks, product.grid, product.instruction.parameters,
                                                       group, unit)),
                        isa::tile_unit_bytes);
        }
        unpack(product, scratch.data(), group, matrix.data(), outputs);
    }
    std::vector<std::int32_t> sums(blocks.outputs);
    math::multiply_accumulate({.data = narrow.of_tile(0) + product.instruction.source,
                               .row_bytes = blocks.weights,
                               .type = element_type(product)},
                              {.data = reinterpret_cast<const std::uint8_t*>(matrix.data()),
                               .row_bytes = blocks.outputs,
                               .type = DataType::Int8,
                               .zero_point = SignedWeights(product).zero_point},
                              sums.data(), blocks.outputs, 1, blocks.outputs, blocks.weights, false);
    scratch.resize(blocks.outputs);
    math::requantize_rows(sums.data(), blocks.outputs, 1, blocks.outputs, outputs.requantization(),
                          element_type(product), scratch.data(), blocks.outputs);
    for (std::uint64_t output = 0; output < blocks.outputs; ++output) {
        narrow.of_tile(result.tile_of(output))[result.address_of(output)] = scratch[output];
    }
}

namespace {

/// Pools the windows of a pixel, channel by channel.
void pool_pixel(const VectorWork& work, const ElementRules& rules, std::uint64_t line, std::uint64_t column,
                const std::uint8_t* memory, std::uint8_t* out) {
    const isa::TileWindow& window = work.window;
    const bool is_mean = rules.operation == isa::TileOperation::AveragePool;
    const auto outside = [](std::uint64_t at, std::uint64_t pad, std::uint64_t extent) {
        return at < pad || at - pad >= extent;
    };
    for (std::uint64_t channel = 0; channel < work.result.channels; ++channel) {
        std::int32_t sum = 0;
        std::int32_t count = 0;
        std::int32_t largest = std::numeric_limits<std::int32_t>::min();
        for (std::uint64_t y = 0; y < window.kernel_height; ++y) {
            if (outside(line * window.stride_y + y, window.pad_top, work.source.lines)) continue;
            const std::uint64_t stored_line = isa::stored_line(work.source, work.result, window, line, y);
            for (std::uint64_t x = 0; x < window.kernel_width; ++x) {
                if (outside(column * window.stride_x + x, window.pad_left, work.source.columns)) continue;
                const std::uint64_t stored_column =
                    isa::stored_column(work.source, work.result, window, column, x);
                const std::int32_t value =
                    element(memory[work.source.at(stored_line, stored_column) + channel], rules.is_signed);
                sum += value;
                largest = std::max(largest, value);
                ++count;
            }
        }
        out[channel] = is_mean ? mean(rules, sum, count) : rules.stored(largest);
    }
}

}  // namespace

void compute_vector(const VectorWork& work, NarrowMemoryAccess& narrow) {
    const ElementRules rules = element_rules(work.instruction, *work.registers);
    const bool is_pooling = work.instruction.is_pooling();
    const bool has_other = work.instruction.has_other();
    for_each_patch_line(
        work.result, [&](std::size_t tile, std::uint64_t line, std::uint64_t first, std::uint64_t columns) {
            std::uint8_t* const memory = narrow.of_tile(tile);
            for (std::uint64_t column = first; column < first + columns; ++column) {
                std::uint8_t* const out = memory + place_of(work.result, line, column);
                if (is_pooling) {
                    pool_pixel(work, rules, line, column, memory, out);
                    continue;
                }
                const std::uint8_t* const a = memory + place_of(work.source, line, column);
                const std::uint8_t* const b = has_other ? memory + place_of(work.other, line, column) : a;
                for (std::uint64_t channel = 0; channel < work.result.channels; ++channel) {
                    out[channel] = combine(rules, a[channel], b[channel]);
                }
            }
        });
}

}  // namespace systole::hw
