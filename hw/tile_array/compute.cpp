#include "hw/tile_array/compute.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "base/data_type.h"
#include "base/fixed_point.h"
#include "hw/isa/interpolation.h"
#include "hw/math/gemm.h"
#include "hw/math/requantize.h"
#include "hw/math/softmax.h"
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

/// Calls visit(tile, line, first column, columns) for each line of an area that lies in the image; all
/// numbers are relative to the tile's patch.
template <class Visit>
void for_each_line(const isa::TileLayout& layout, const isa::TileArea& area, const Visit& visit) {
    for (std::size_t tile = 0; tile < layout.grid.tiles(); ++tile) {
        const isa::ImagePixel patch = isa::image_pixel(layout, tile, 0, 0);
        const std::int64_t first = std::max(area.first_column, -patch.column);
        const std::int64_t last =
            std::min(area.column(area.columns), static_cast<std::int64_t>(layout.columns) - patch.column);
        if (last <= first) continue;
        for (std::uint64_t i = 0; i < area.lines; ++i) {
            const std::int64_t line = area.line(i);
            if (!isa::image_pixel(layout, tile, line, first).is_in(layout)) continue;
            visit(tile, line, first, static_cast<std::uint64_t>(last - first));
        }
    }
}

/// Pixels of an area outside the image get this value in every channel.
void fill_outside(const isa::TileLayout& layout, const isa::TileArea& area, std::uint8_t value,
                  NarrowMemoryAccess& narrow) {
    for (std::size_t tile = 0; tile < layout.grid.tiles(); ++tile) {
        if (isa::pixels_in_image(layout, area, tile) == area.pixels()) continue;
        for (std::uint64_t index = 0; index < area.pixels(); ++index) {
            const TilePixel pixel = pixel_of(layout, area, tile, index);
            if (pixel.is_there) continue;
            std::memset(narrow.of_tile(tile) + isa::address_of(layout, pixel.line, pixel.column), value,
                        layout.channels);
        }
    }
}

/// With margins, pixels outside the image are as good as padding.
template <class Work>
void fill_margins_of(const Work& work, NarrowMemoryAccess& narrow) {
    if (!work.instruction.with_margins) return;
    fill_outside(work.result, work.area,
                 static_cast<std::uint8_t>((*work.registers)[isa::Register::OutputZeroPoint]), narrow);
}

/// Where the window of the first of some pixels of a line begins in the source's patch.
struct WindowBegin {
    template <class Work>
    WindowBegin(const Work& work, std::size_t tile, std::int64_t result_line, std::int64_t result_column)
        : line(
              isa::window_line(work.source, work.result, work.window, tile / work.grid.columns, result_line)),
          column(isa::window_column(work.source, work.result, work.window, tile % work.grid.columns,
                                    result_column)) {}

    std::int64_t line;
    std::int64_t column;
};

std::int64_t steps(std::uint64_t count, std::uint64_t step) {
    return static_cast<std::int64_t>(count * step);
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
    const std::uint64_t step = window.dilation_x * source.pixel_bytes;
    const bool is_packed = step == source.channels;  // the pixels of a window's line follow each other
    for_each_line(result, product.area,
                  [&](std::size_t tile, std::int64_t line, std::int64_t first, std::uint64_t columns) {
                      const std::uint8_t* const memory = narrow.of_tile(tile);
                      const WindowBegin begin(product, tile, line, first);
                      for (std::uint64_t column = 0; column < columns; ++column) {
                          for (std::uint64_t y = 0; y < window.kernel_height; ++y) {
                              const std::uint8_t* pixel =
                                  memory + isa::address_of(source, begin.line + steps(y, window.dilation_y),
                                                           begin.column + steps(column, window.stride_x));
                              if (is_packed) {
                                  scratch.insert(scratch.end(), pixel,
                                                 pixel + window.kernel_width * source.channels);
                                  continue;
                              }
                              for (std::uint64_t x = 0; x < window.kernel_width; ++x, pixel += step) {
                                  scratch.insert(scratch.end(), pixel, pixel + source.channels);
                              }
                          }
                      }
                      runs.push_back({tile, isa::address_of(result, line, first), columns});
                      pixels += columns;
                      if (pixels >= most) multiply();
                  });
    multiply();
    fill_margins_of(product, narrow);
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
    for_each_line(
        result, product.area,
        [&](std::size_t tile, std::int64_t line, std::int64_t first, std::uint64_t columns) {
            const std::uint8_t* const memory = narrow.of_tile(tile);
            const WindowBegin begin(product, tile, line, first);
            sums.assign(columns * blocks.outputs, 0);
            for (std::uint64_t column = 0; column < columns; ++column) {
                std::int32_t* const sum = sums.data() + column * blocks.outputs;
                for (std::uint64_t tap = 0; tap < blocks.weights; ++tap) {
                    const std::uint8_t* const pixel =
                        memory + isa::address_of(
                                     source, begin.line + steps(tap / window.kernel_width, window.dilation_y),
                                     begin.column + steps(column, window.stride_x) +
                                         steps(tap % window.kernel_width, window.dilation_x));
                    const std::int8_t* const weights = matrix.data() + tap * blocks.outputs;
                    for (std::uint64_t n = 0; n < blocks.outputs; ++n) {
                        elements[n] = element(pixel[copies == 1 ? n : n / copies], is_signed);
                    }
                    for (std::uint64_t n = 0; n < blocks.outputs; ++n) {
                        sum[n] = wrapping_add(sum[n], elements[n] * (weights[n] - weight_zero));
                    }
                }
            }
            math::requantize_rows(
                sums.data(), blocks.outputs, columns, blocks.outputs, requantization, element_type(product),
                narrow.of_tile(tile) + isa::address_of(result, line, first), result.pixel_bytes);
        });
    fill_margins_of(product, narrow);
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
void pool_pixel(const VectorWork& work, const ElementRules& rules, std::size_t tile, const TilePixel& pixel,
                const std::uint8_t* memory, std::uint8_t* out) {
    const isa::TileWindow& window = work.window;
    const WindowBegin begin(work, tile, pixel.line, pixel.column);
    for (std::uint64_t channel = 0; channel < work.result.channels; ++channel) {
        std::int32_t sum = 0;
        std::int32_t count = 0;
        std::int32_t largest = std::numeric_limits<std::int32_t>::min();
        for (std::uint64_t y = 0; y < window.kernel_height; ++y) {
            for (std::uint64_t x = 0; x < window.kernel_width; ++x) {
                const std::int64_t line = begin.line + steps(y, 1);
                const std::int64_t column = begin.column + steps(x, 1);
                if (!isa::image_pixel(work.source, tile, line, column).is_in(work.source)) continue;
                const std::int32_t value =
                    element(memory[isa::address_of(work.source, line, column) + channel], rules.is_signed);
                sum += value;
                largest = std::max(largest, value);
                ++count;
            }
        }
        out[channel] = pooled(rules, sum, largest, count);
    }
}

/// Tables of a tile: its own units, one after the other.
std::vector<std::uint8_t> table_of(const VectorWork& work, std::uint64_t tile, WideMemoryAccess& wide) {
    const std::uint64_t units = work.instruction.table_units();
    std::vector<std::uint8_t> table(units * isa::tile_unit_bytes);
    for (std::uint64_t unit = 0; unit < units; ++unit) {
        std::memcpy(table.data() + unit * isa::tile_unit_bytes,
                    wide.from_unit((work.instruction.other + unit) * work.grid.tiles() + tile),
                    isa::tile_unit_bytes);
    }
    return table;
}

/// Shares of the channels of a pixel.
void softmax_pixel(const ElementRules& rules, const std::uint8_t* a, const std::uint8_t* table,
                   std::uint64_t channels, std::uint8_t* out) {
    std::int32_t largest = std::numeric_limits<std::int32_t>::min();
    for (std::uint64_t c = 0; c < channels; ++c) largest = std::max(largest, element(a[c], rules.is_signed));
    const auto exponential = [&](std::uint64_t c) {
        return table_word(table, static_cast<std::size_t>(largest - element(a[c], rules.is_signed)));
    };
    std::int32_t sum = 0;
    for (std::uint64_t c = 0; c < channels; ++c) {
        sum = wrapping_add(sum, math::softmax_summand(exponential(c)));
    }
    const math::SoftmaxShare share(sum);
    for (std::uint64_t c = 0; c < channels; ++c) out[c] = rules.scaled(share.of(exponential(c)));
}

/// The channels of a pixel, divided by the root of the sum of their squares.
void normalize_pixel(const ElementRules& rules, const std::uint8_t* a, std::uint64_t channels,
                     std::uint8_t* out) {
    const auto number = [&](std::uint64_t c) { return element(a[c], rules.is_signed) - rules.zero_point_a; };
    std::int32_t sum = 0;
    for (std::uint64_t c = 0; c < channels; ++c) sum = wrapping_add(sum, number(c) * number(c));
    const math::InverseRoot root(sum);
    for (std::uint64_t c = 0; c < channels; ++c) out[c] = normalized(rules, number(c), root);
}

void interpolate_pixel(const VectorWork& work, const ElementRules& rules, std::size_t tile,
                       const TilePixel& pixel, const std::uint8_t* memory, std::uint8_t* out) {
    const isa::Interpolation rule = isa::interpolation_of(work.instruction);
    const isa::ImagePixel at = isa::image_pixel(work.result, tile, pixel.line, pixel.column);
    const isa::ImagePixel patch = isa::image_pixel(work.source, tile, 0, 0);
    const isa::InterpolatedPlace line = isa::interpolated_place(rule, work.source.lines, work.result.lines,
                                                                static_cast<std::uint64_t>(at.line));
    const isa::InterpolatedPlace column = isa::interpolated_place(
        rule, work.source.columns, work.result.columns, static_cast<std::uint64_t>(at.column));
    const auto corner = [&](std::int64_t y, std::int64_t x) {
        return memory + isa::address_of(work.source, y - patch.line, x - patch.column);
    };
    const std::array corners{corner(line.lower, column.lower), corner(line.upper, column.lower),
                             corner(line.lower, column.upper), corner(line.upper, column.upper)};
    for (std::uint64_t channel = 0; channel < work.result.channels; ++channel) {
        Corners numbers{};
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            numbers.at(i) = element(corners.at(i)[channel], rules.is_signed);
        }
        out[channel] = rules.stored(interpolated(numbers, line, column, rule.in_float));
    }
}

}  // namespace

void compute_vector(const VectorWork& work, NarrowMemoryAccess& narrow, WideMemoryAccess& wide) {
    const ElementRules rules = element_rules(work.instruction, *work.registers);
    const isa::TileVector& vector = work.instruction;
    std::vector<std::vector<std::uint8_t>> tables;
    if (vector.table_units() > 0) {
        for (std::uint64_t tile = 0; tile < work.grid.tiles(); ++tile) {
            tables.push_back(table_of(work, tile, wide));
        }
    }
    const auto pixel = [&](std::size_t tile, const TilePixel& at, std::uint8_t* memory) {
        std::uint8_t* const out = memory + isa::address_of(work.result, at.line, at.column);
        if (vector.is_pooling()) return pool_pixel(work, rules, tile, at, memory, out);
        if (vector.operation == isa::TileOperation::Interpolate) {
            return interpolate_pixel(work, rules, tile, at, memory, out);
        }
        const std::uint8_t* const a = memory + isa::address_of(work.source, at.line, at.column);
        const std::uint64_t channels = work.result.channels;
        if (vector.operation == isa::TileOperation::Softmax) {
            return softmax_pixel(rules, a, tables[tile].data(), channels, out);
        }
        if (vector.operation == isa::TileOperation::Normalize) {
            return normalize_pixel(rules, a, channels, out);
        }
        if (vector.operation == isa::TileOperation::Lookup) {
            for (std::uint64_t c = 0; c < channels; ++c) {
                out[c] = rules.stored(element(tables[tile][a[c]], rules.is_signed));
            }
            return;
        }
        const std::uint8_t* const b =
            vector.has_other() ? memory + isa::address_of(work.other, at.line, at.column) : a;
        for (std::uint64_t c = 0; c < channels; ++c) out[c] = combine(rules, a[c], b[c]);
    };
    for_each_line(work.result, work.area,
                  [&](std::size_t tile, std::int64_t line, std::int64_t first, std::uint64_t columns) {
                      for (std::uint64_t i = 0; i < columns; ++i) {
                          pixel(tile, {.is_there = true, .line = line, .column = first + steps(i, 1)},
                                narrow.of_tile(tile));
                      }
                  });
    fill_margins_of(work, narrow);
}

}  // namespace systole::hw
