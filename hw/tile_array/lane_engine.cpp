#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "base/fixed_point.h"
#include "hw/common/clock.h"
#include "hw/isa/interpolation.h"
#include "hw/isa/tile_layout.h"
#include "hw/math/softmax.h"
#include "hw/tile_array/elements.h"
#include "hw/tile_array/engine.h"
#include "hw/timing/tiles.h"

namespace systole::hw {
namespace {

/// Moves every word of every lane in every cycle: in each, a tile reads a word of narrow memory and a row of
/// weights, and each of its lanes multiplies and adds up. Simple, and slow.
class LaneEngine final : public TileEngine {
public:
    explicit LaneEngine(const TileEngineContext& context)
        : context_(context.context),
          queue_(context.queue),
          narrow_(context.narrow),
          wide_(context.wide),
          counters_(context.counters) {}

    void begin(const Product& product, const std::uint8_t* /*parameters*/) override {
        slots_used_ = product.cost.depthwise_rate;
        in_cycle_ = false;
        if (context_.computes_values()) context_.workers.wait_for_order(queue_);
        const isa::TileGrid& grid = product.grid;
        sums_.assign(std::size_t{grid.tiles()} * context_.machine.tile_array.pixels * grid.lanes, 0);
    }

    void part(const Product& product, const ProductPart& part) override {
        if (part.weights.first_row == 0) load_parameters(product, part);
        if (product.instruction.product == isa::TileProduct::Depthwise) {
            depthwise_part(product, part);
        } else {
            convolution_part(product, part);
        }
        if (part.ends_block) write_results(product, part);
    }

    void end(const Product& product) override {
        if (product.instruction.product == isa::TileProduct::Depthwise) count_unused(product);
    }

    void dense(const Product& product) override {
        if (context_.computes_values()) context_.workers.wait_for_order(queue_);
        const isa::WeightBlocks& blocks = product.cost.blocks;
        std::vector<std::int32_t> sums(product.grid.lanes);
        std::vector<std::vector<std::int32_t>> of_tiles(product.grid.tiles(), sums);
        for (std::uint64_t pass = 0; pass < product.cost.passes; ++pass) {
            for (auto& each : of_tiles) std::fill(each.begin(), each.end(), 0);
            for (std::uint64_t row = 0; row < blocks.weight_rows; ++row) {
                std::uint64_t useful = 0;
                for (std::uint64_t tile = 0; tile < product.grid.tiles(); ++tile) {
                    const std::uint64_t group = pass * product.grid.tiles() + tile;
                    if (group < blocks.groups) useful += dense_row(product, group, row, of_tiles[tile]);
                }
                count_cycle(product, useful);
            }
            for (std::uint64_t tile = 0; tile < product.grid.tiles(); ++tile) {
                const std::uint64_t group = pass * product.grid.tiles() + tile;
                if (group < blocks.groups) write_dense(product, group, of_tiles[tile]);
            }
        }
    }

    void vector(const VectorWork& work) override {
        if (context_.computes_values()) context_.workers.wait_for_order(queue_);
        const timing::VectorSteps steps =
            timing::vector_steps(work.instruction, *work.registers, context_.machine);
        moved_ = 0;
        for (std::uint64_t index = 0; index < work.area.pixels(); ++index) {
            if (work.instruction.operation == isa::TileOperation::Softmax) {
                softmax_of_pixel(work, steps, index);
                continue;
            }
            if (work.instruction.operation == isa::TileOperation::Normalize) {
                normalize_pixel(work, steps, index);
                continue;
            }
            for (std::uint64_t channel = 0; channel < work.result.channels; ++channel) {
                for (std::uint64_t step = 0; step < steps.of_element; ++step) move_element(work, steps);
                for (std::uint64_t tile = 0; tile < work.result.grid.tiles(); ++tile) {
                    vector_element(work, tile, index, channel);
                }
            }
        }
    }

private:
    void next_cycle() { context_.clock.wait_until(context_.clock.now() + 1); }

    void count_cycle(const Product& product, std::uint64_t useful) {
        counters_.work.multiply_cycles.add(1, product.tag);
        counters_.work.unused_macs.add(macs_a_cycle(product.grid) - useful, product.tag);
        next_cycle();
    }

    void count_macs(const Product& product, std::uint64_t tile, std::uint64_t macs) {
        counters_.work.useful_macs.add(macs, product.tag);
        counters_.each[tile].add(macs, product.tag);
    }

    std::int32_t* sums_of(const Product& product, std::uint64_t tile, std::uint64_t pixel) {
        return sums_.data() + (tile * context_.machine.tile_array.pixels + pixel) * product.grid.lanes;
    }

    static std::uint32_t word_of(const std::uint8_t* row, std::uint64_t lane) {
        std::uint32_t value = 0;
        std::memcpy(&value, row + lane * isa::tile_word, sizeof value);
        return value;
    }

    void load_parameters(const Product& product, const ProductPart& part) {
        const isa::WeightBlocks& blocks = product.cost.blocks;
        const isa::Registers& registers = *product.registers;
        multipliers_.assign(product.grid.lanes, {registers[isa::Register::VectorMultiplier],
                                                 registers[isa::Register::VectorShift]});
        if (!context_.computes_values()) return;
        const std::uint8_t* const row = part.weights.values.data();
        for (std::uint64_t lane = 0; lane < blocks.lanes; ++lane) {
            for (std::uint64_t tile = 0; tile < product.grid.tiles(); ++tile) {
                for (std::uint64_t i = 0; i < product.cost.pixels_of(part.repeat); ++i) {
                    sums_of(product, tile, i)[lane] = static_cast<std::int32_t>(word_of(row, lane));
                }
            }
            if (product.instruction.by_channel) multipliers_[lane] = multiplier_of(product, row, lane);
        }
    }

    static MultiplierWords multiplier_of(const Product& product, const std::uint8_t* row,
                                         std::uint64_t lane) {
        const std::uint64_t row_bytes = product.cost.blocks.row_bytes();
        MultiplierWords words{.first = word_of(row + row_bytes, lane), .second = 0};
        if (product.instruction.scaling != isa::Scaling::Float) {
            words.second = word_of(row + 2 * row_bytes, lane);
        }
        return words;
    }

    /// Where a tile keeps the source's pixel under a place of a window.
    template <class Work>
    static std::uint64_t under(const Work& work, std::uint64_t tile, const TilePixel& pixel,
                               std::uint64_t tap) {
        const isa::TileWindow& window = work.window;
        const std::uint64_t y = tap / window.kernel_width * window.dilation_y;
        const std::uint64_t x = tap % window.kernel_width * window.dilation_x;
        return isa::address_of(
            work.source,
            isa::window_line(work.source, work.result, window, tile / work.grid.columns, pixel.line) +
                static_cast<std::int64_t>(y),
            isa::window_column(work.source, work.result, window, tile % work.grid.columns, pixel.column) +
                static_cast<std::int64_t>(x));
    }

    /// An element under a weight, less its zero point.
    std::int32_t source_element(const Product& product, std::uint64_t tile, const TilePixel& pixel,
                                std::uint64_t weight, std::uint64_t channel) {
        const std::uint64_t tap = product.instruction.product == isa::TileProduct::Depthwise
                                      ? weight
                                      : weight / product.source.channels;
        return element(narrow_.of_tile(tile)[under(product, tile, pixel, tap) + channel],
                       product.instruction.is_signed) -
               product.source_zero_point();
    }

    std::int32_t weight_of(const Product& product, const std::uint8_t* byte) const {
        return element(*byte, product.instruction.has_signed_weights) - product.weight_zero_point();
    }

    void convolution_part(const Product& product, const ProductPart& part) {
        const isa::WeightBlocks& blocks = product.cost.blocks;
        const std::uint64_t outputs = blocks.outputs_of(part.group, product.grid);
        const std::uint64_t end = part.weights.first_row + part.weights.rows;
        for (std::uint64_t row = part.weights.first_row; row < end; ++row) {
            if (row < blocks.parameter_rows) continue;
            const std::uint64_t first_weight = (row - blocks.parameter_rows) * isa::tile_word;
            const std::uint64_t weights =
                std::min<std::uint64_t>(isa::tile_word, blocks.weights - first_weight);
            const std::uint8_t* const bytes =
                part.weights.values.data() + (row - part.weights.first_row) * blocks.row_bytes();
            for (std::uint64_t i = 0; i < product.cost.pixels_of(part.repeat); ++i) {
                std::uint64_t useful = 0;
                for (std::uint64_t tile = 0; tile < product.grid.tiles(); ++tile) {
                    const TilePixel pixel =
                        pixel_of(product.result, product.area, tile, part.repeat * product.cost.at_once + i);
                    if (!pixel.is_there) continue;
                    multiply_word(product, tile, pixel, {first_weight, weights}, bytes, outputs,
                                  sums_of(product, tile, i));
                    count_macs(product, tile, weights * outputs);
                    useful += weights * outputs;
                }
                count_cycle(product, useful);
            }
        }
    }

    struct Weights {
        std::uint64_t first = 0;
        std::uint64_t count = 0;
    };

    /// A cycle of a tile: a word of elements times a row of weights.
    void multiply_word(const Product& product, std::uint64_t tile, const TilePixel& pixel,
                       const Weights& weights, const std::uint8_t* row, std::uint64_t outputs,
                       std::int32_t* sums) {
        if (!context_.computes_values()) return;
        for (std::uint64_t q = 0; q < weights.count; ++q) {
            const std::uint64_t weight = weights.first + q;
            const std::int32_t a =
                source_element(product, tile, pixel, weight, weight % product.source.channels);
            for (std::uint64_t lane = 0; lane < outputs; ++lane) {
                const std::int32_t w = weight_of(product, row + lane * isa::tile_word + q);
                sums[lane] = wrapping_add(sums[lane], a * w);
            }
        }
    }

    void depthwise_part(const Product& product, const ProductPart& part) {
        const isa::WeightBlocks& blocks = product.cost.blocks;
        const std::uint64_t copies = blocks.outputs / product.source.channels;
        const std::uint64_t end = part.weights.first_row + part.weights.rows;
        for (std::uint64_t i = 0; i < product.cost.pixels_of(part.repeat); ++i) {
            for (std::uint64_t lane = 0; lane < blocks.outputs_of(part.group, product.grid); ++lane) {
                const std::uint64_t output = part.group * product.grid.lanes + lane;
                for (std::uint64_t row = part.weights.first_row; row < end; ++row) {
                    if (row < blocks.parameter_rows) continue;
                    const std::uint64_t first_tap = (row - blocks.parameter_rows) * isa::tile_word;
                    for (std::uint64_t tap = first_tap;
                         tap < std::min(first_tap + isa::tile_word, blocks.weights); ++tap) {
                        take_slot(product);
                        const std::uint8_t* const byte = part.weights.values.data() +
                                                         (row - part.weights.first_row) * blocks.row_bytes() +
                                                         lane * isa::tile_word + tap % isa::tile_word;
                        depthwise_mac(product, part, i, {lane, output / copies}, tap, byte);
                    }
                }
            }
        }
    }

    /// A multiply-accumulate of all tiles takes its place in this cycle, or begins the next.
    void take_slot(const Product& product) {
        if (slots_used_ == product.cost.depthwise_rate) {
            count_unused(product);
            slots_used_ = 0;
            counters_.work.multiply_cycles.add(1, product.tag);
            next_cycle();
        }
        ++slots_used_;
    }

    /// The cycle of a depthwise product that has begun, if there is one, gets no more multiply-accumulates.
    void count_unused(const Product& product) {
        if (!in_cycle_) {
            in_cycle_ = true;
            return;
        }
        counters_.work.unused_macs.add(macs_a_cycle(product.grid) - useful_in_cycle_, product.tag);
        useful_in_cycle_ = 0;
    }

    struct Channel {
        std::uint64_t lane = 0;
        std::uint64_t of_source = 0;
    };

    void depthwise_mac(const Product& product, const ProductPart& part, std::uint64_t i,
                       const Channel& channel, std::uint64_t tap, const std::uint8_t* weight) {
        for (std::uint64_t tile = 0; tile < product.grid.tiles(); ++tile) {
            const TilePixel pixel =
                pixel_of(product.result, product.area, tile, part.repeat * product.cost.at_once + i);
            if (!pixel.is_there) continue;
            count_macs(product, tile, 1);
            ++useful_in_cycle_;
            if (!context_.computes_values()) continue;
            std::int32_t& sum = sums_of(product, tile, i)[channel.lane];
            const std::int32_t a = source_element(product, tile, pixel, tap, channel.of_source);
            sum = wrapping_add(sum, a * weight_of(product, weight));
        }
    }

    std::uint8_t result_of(const Product& product, std::int32_t sum,
                           const MultiplierWords& multiplier) const {
        const isa::Registers& registers = *product.registers;
        const std::int32_t scaled = scale_sum(sum, product.instruction.scaling, multiplier);
        return static_cast<std::uint8_t>(
            std::clamp(wrapping_add(scaled, registers.as_signed(isa::Register::OutputZeroPoint)),
                       registers.as_signed(isa::Register::OutputMinimum),
                       registers.as_signed(isa::Register::OutputMaximum)));
    }

    /// What pixels outside the image become, where margins are computed.
    static std::uint8_t outside(const isa::Registers& registers) {
        return static_cast<std::uint8_t>(registers[isa::Register::OutputZeroPoint]);
    }

    /// The sums of a block are complete.
    void write_results(const Product& product, const ProductPart& part) {
        const std::uint64_t outputs = product.cost.blocks.outputs_of(part.group, product.grid);
        for (std::uint64_t tile = 0; tile < product.grid.tiles(); ++tile) {
            for (std::uint64_t i = 0; i < product.cost.pixels_of(part.repeat); ++i) {
                const std::uint64_t index = part.repeat * product.cost.at_once + i;
                const TilePixel pixel = pixel_of(product.result, product.area, tile, index);
                if (pixel.is_there) counters_.work.results.add(outputs, product.tag);
                if (!context_.computes_values() || !(pixel.is_there || product.instruction.with_margins))
                    continue;
                std::uint8_t* const out = narrow_.of_tile(tile) +
                                          isa::address_of(product.result, pixel.line, pixel.column) +
                                          part.group * product.grid.lanes;
                for (std::uint64_t lane = 0; lane < outputs; ++lane) {
                    out[lane] = pixel.is_there
                                    ? result_of(product, sums_of(product, tile, i)[lane], multipliers_[lane])
                                    : outside(*product.registers);
                }
            }
        }
    }

    /// A word of a row of a dense product's block, in the tile's own memory.
    const std::uint8_t* dense_word(const Product& product, std::uint64_t group, std::uint64_t row,
                                   std::uint64_t lane) {
        const isa::WeightBlocks& blocks = product.cost.blocks;
        const std::uint64_t byte = row * blocks.row_bytes() + lane * isa::tile_word;
        const std::uint64_t unit = isa::dense_unit(blocks, product.grid, product.instruction.parameters,
                                                   group, byte / isa::tile_unit_bytes);
        return wide_.from_unit(unit) + byte % isa::tile_unit_bytes;
    }
    MultiplierWords dense_multiplier(const Product& product, std::uint64_t group, std::uint64_t lane) {
        const auto word = [&](std::uint64_t row) {
            return word_of(dense_word(product, group, row, lane), 0);
        };
        return {.first = word(1), .second = product.instruction.scaling == isa::Scaling::Float ? 0 : word(2)};
    }

    /// Returns the multiply-accumulates of the cycle in this tile.
    std::uint64_t dense_row(const Product& product, std::uint64_t group, std::uint64_t row,
                            std::vector<std::int32_t>& sums) {
        const isa::WeightBlocks& blocks = product.cost.blocks;
        const std::uint64_t tile = group % product.grid.tiles();
        const std::uint64_t outputs = blocks.outputs_of(group, product.grid);
        const std::uint64_t first = row * isa::tile_word;
        const std::uint64_t count = std::min<std::uint64_t>(isa::tile_word, blocks.weights - first);
        count_macs(product, tile, count * outputs);
        if (!context_.computes_values()) return count * outputs;
        for (std::uint64_t q = 0; q < count; ++q) {
            const std::int32_t a = element(narrow_.of_tile(tile)[product.instruction.source + first + q],
                                           product.instruction.is_signed) -
                                   product.source_zero_point();
            for (std::uint64_t lane = 0; lane < outputs; ++lane) {
                const std::uint8_t* const word =
                    dense_word(product, group, blocks.parameter_rows + row, lane);
                sums[lane] = wrapping_add(sums[lane], a * weight_of(product, word + q));
            }
        }
        return count * outputs;
    }

    void write_dense(const Product& product, std::uint64_t group, const std::vector<std::int32_t>& sums) {
        const std::uint64_t outputs = product.cost.blocks.outputs_of(group, product.grid);
        counters_.work.results.add(outputs, product.tag);
        if (!context_.computes_values()) return;
        const isa::LaneVector result = product.lanes();
        const isa::Registers& registers = *product.registers;
        const MultiplierWords common{registers[isa::Register::VectorMultiplier],
                                     registers[isa::Register::VectorShift]};
        for (std::uint64_t lane = 0; lane < outputs; ++lane) {
            const std::uint64_t output = group * product.grid.lanes + lane;
            const auto bias = static_cast<std::int32_t>(word_of(dense_word(product, group, 0, lane), 0));
            narrow_.of_tile(result.tile_of(output))[result.address_of(output)] =
                result_of(product, wrapping_add(sums[lane], bias),
                          product.instruction.by_channel ? dense_multiplier(product, group, lane) : common);
        }
    }

    /// A step of work without weights takes its place in this cycle, or begins the next.
    void move_element(const VectorWork& work, const timing::VectorSteps& steps) {
        if (moved_++ % steps.a_cycle != 0) return;
        counters_.work.vector_cycles.add(1, work.tag);
        next_cycle();
    }

    /// A byte of a table in the tile's own wide memory.
    std::uint8_t table_byte(const VectorWork& work, std::uint64_t tile, std::uint64_t index) {
        const std::uint64_t unit = work.instruction.other + index / isa::tile_unit_bytes;
        return wide_.from_unit(unit * work.grid.tiles() + tile)[index % isa::tile_unit_bytes];
    }

    std::uint8_t* place_of(const isa::TileLayout& layout, std::uint64_t tile, const TilePixel& pixel) {
        return narrow_.of_tile(tile) + isa::address_of(layout, pixel.line, pixel.column);
    }

    void vector_element(const VectorWork& work, std::uint64_t tile, std::uint64_t index,
                        std::uint64_t channel) {
        const TilePixel pixel = pixel_of(work.result, work.area, tile, index);
        if (pixel.is_there) counters_.work.results.add(1, work.tag);
        if (!context_.computes_values() || !(pixel.is_there || work.instruction.with_margins)) return;
        std::uint8_t& result = place_of(work.result, tile, pixel)[channel];
        result = pixel.is_there ? element_of(work, tile, pixel, channel) : outside(*work.registers);
    }

    std::uint8_t element_of(const VectorWork& work, std::uint64_t tile, const TilePixel& pixel,
                            std::uint64_t channel) {
        const ElementRules rules = element_rules(work.instruction, *work.registers);
        const isa::TileVector& vector = work.instruction;
        const std::uint8_t* const memory = narrow_.of_tile(tile);
        if (vector.is_pooling()) return pooled_window(work, rules, memory, {tile, pixel}, channel);
        if (vector.operation == isa::TileOperation::Interpolate) {
            return between_corners(work, rules, memory, {tile, pixel}, channel);
        }
        const std::uint8_t a = place_of(work.source, tile, pixel)[channel];
        if (vector.operation == isa::TileOperation::Lookup) {
            return rules.stored(element(table_byte(work, tile, a), rules.is_signed));
        }
        const std::uint8_t b =
            vector.has_other() ? place_of(work.other, tile, pixel)[channel] : std::uint8_t{0};
        return combine(rules, a, b);
    }

    /// In three passes over the channels: the largest, the sum, and the shares.
    void softmax_of_pixel(const VectorWork& work, const timing::VectorSteps& steps, std::uint64_t index) {
        const ElementRules rules = element_rules(work.instruction, *work.registers);
        const std::uint64_t tiles = work.grid.tiles();
        const std::uint64_t channels = work.result.channels;
        std::vector<std::int32_t> largest(tiles, std::numeric_limits<std::int32_t>::min());
        std::vector<std::int32_t> sum(tiles, 0);
        const auto each = [&](const auto& visit) {
            for (std::uint64_t channel = 0; channel < channels; ++channel) {
                move_element(work, steps);
                for (std::uint64_t tile = 0; tile < tiles; ++tile) {
                    const TilePixel pixel = pixel_of(work.result, work.area, tile, index);
                    visit(tile, pixel, channel);
                }
            }
        };
        const auto number = [&](std::uint64_t tile, const TilePixel& pixel, std::uint64_t channel) {
            return element(place_of(work.source, tile, pixel)[channel], rules.is_signed);
        };
        const auto exponential = [&](std::uint64_t tile, const TilePixel& pixel, std::uint64_t channel) {
            const auto entry = static_cast<std::uint64_t>(largest[tile] - number(tile, pixel, channel));
            std::uint32_t word = 0;
            for (unsigned i = 0; i < isa::tile_word; ++i) {
                word |= std::uint32_t{table_byte(work, tile, entry * isa::tile_word + i)} << (8 * i);
            }
            return static_cast<std::int32_t>(word);
        };
        const bool computes = context_.computes_values();
        each([&](std::uint64_t tile, const TilePixel& pixel, std::uint64_t channel) {
            if (!computes || !pixel.is_there) return;
            largest[tile] = std::max(largest[tile], number(tile, pixel, channel));
        });
        each([&](std::uint64_t tile, const TilePixel& pixel, std::uint64_t channel) {
            if (!computes || !pixel.is_there) return;
            sum[tile] = wrapping_add(sum[tile], math::softmax_summand(exponential(tile, pixel, channel)));
        });
        each([&](std::uint64_t tile, const TilePixel& pixel, std::uint64_t channel) {
            if (pixel.is_there) counters_.work.results.add(1, work.tag);
            if (!computes || !(pixel.is_there || work.instruction.with_margins)) return;
            place_of(work.result, tile, pixel)[channel] =
                pixel.is_there
                    ? rules.scaled(math::SoftmaxShare(sum[tile]).of(exponential(tile, pixel, channel)))
                    : outside(*work.registers);
        });
    }

    /// In two passes over the channels: the sum of the squares, and the quotients.
    void normalize_pixel(const VectorWork& work, const timing::VectorSteps& steps, std::uint64_t index) {
        const ElementRules rules = element_rules(work.instruction, *work.registers);
        const std::uint64_t tiles = work.grid.tiles();
        std::vector<std::int32_t> sums(tiles, 0);
        const auto number = [&](std::uint64_t tile, const TilePixel& pixel, std::uint64_t channel) {
            return element(place_of(work.source, tile, pixel)[channel], rules.is_signed) - rules.zero_point_a;
        };
        for (const bool is_last_pass : {false, true}) {
            for (std::uint64_t channel = 0; channel < work.result.channels; ++channel) {
                move_element(work, steps);
                for (std::uint64_t tile = 0; tile < tiles; ++tile) {
                    const TilePixel pixel = pixel_of(work.result, work.area, tile, index);
                    if (is_last_pass && pixel.is_there) counters_.work.results.add(1, work.tag);
                    if (!context_.computes_values()) continue;
                    if (is_last_pass && (pixel.is_there || work.instruction.with_margins)) {
                        place_of(work.result, tile, pixel)[channel] =
                            pixel.is_there ? normalized(rules, number(tile, pixel, channel),
                                                        math::InverseRoot(sums[tile]))
                                           : outside(*work.registers);
                    } else if (pixel.is_there) {
                        const std::int32_t each = number(tile, pixel, channel);
                        sums[tile] = wrapping_add(sums[tile], each * each);
                    }
                }
            }
        }
    }

    struct PixelOfTile {
        std::uint64_t tile = 0;
        TilePixel pixel;
    };

    static std::uint8_t between_corners(const VectorWork& work, const ElementRules& rules,
                                        const std::uint8_t* memory, const PixelOfTile& at,
                                        std::uint64_t channel) {
        const isa::Interpolation rule = isa::interpolation_of(work.instruction);
        const isa::ImagePixel own = isa::image_pixel(work.result, at.tile, at.pixel.line, at.pixel.column);
        const isa::ImagePixel patch = isa::image_pixel(work.source, at.tile, 0, 0);
        const isa::InterpolatedPlace line = isa::interpolated_place(
            rule, work.source.lines, work.result.lines, static_cast<std::uint64_t>(own.line));
        const isa::InterpolatedPlace column = isa::interpolated_place(
            rule, work.source.columns, work.result.columns, static_cast<std::uint64_t>(own.column));
        Corners corners{};
        for (std::size_t i = 0; i < corners.size(); ++i) {
            const std::int64_t y = i % 2 == 0 ? line.lower : line.upper;
            const std::int64_t x = i < 2 ? column.lower : column.upper;
            corners.at(i) =
                element(memory[isa::address_of(work.source, y - patch.line, x - patch.column) + channel],
                        rules.is_signed);
        }
        return rules.stored(interpolated(corners, line, column, rule.in_float));
    }

    static std::uint8_t pooled_window(const VectorWork& work, const ElementRules& rules,
                                      const std::uint8_t* memory, const PixelOfTile& at,
                                      std::uint64_t channel) {
        // The window's pixels of the image, from the pixel's own place in it.
        const isa::ImagePixel own = isa::image_pixel(work.result, at.tile, at.pixel.line, at.pixel.column);
        std::vector<std::int32_t> met;
        for (std::uint64_t tap = 0; tap < work.window.taps(); ++tap) {
            const auto number = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
            const isa::ImagePixel pixel{
                .line = own.line * number(work.window.stride_y) - number(work.window.pad_top) +
                        number(tap / work.window.kernel_width),
                .column = own.column * number(work.window.stride_x) - number(work.window.pad_left) +
                          number(tap % work.window.kernel_width)};
            if (!pixel.is_in(work.source)) continue;
            met.push_back(element(memory[under(work, at.tile, at.pixel, tap) + channel], rules.is_signed));
        }
        std::int32_t sum = 0;
        for (const std::int32_t each : met) sum += each;
        return pooled(rules, sum, *std::max_element(met.begin(), met.end()),
                      static_cast<std::int32_t>(met.size()));
    }

    const UnitContext& context_;
    const std::size_t queue_;
    NarrowMemoryAccess& narrow_;
    WideMemoryAccess& wide_;
    TileCounters& counters_;
    std::vector<std::int32_t> sums_;            ///< by tile, pixel and lane
    std::vector<MultiplierWords> multipliers_;  ///< by lane
    std::uint64_t moved_ = 0;                   ///< steps of work without weights
    // Of a depthwise product.
    std::uint64_t slots_used_ = 0;  ///< of this cycle, in the fullest tile
    std::uint64_t useful_in_cycle_ = 0;
    bool in_cycle_ = false;  ///< it has begun its first cycle
};

}  // namespace

std::unique_ptr<TileEngine> make_lane_engine(const TileEngineContext& context) {
    return std::make_unique<LaneEngine>(context);
}

}  // namespace systole::hw
