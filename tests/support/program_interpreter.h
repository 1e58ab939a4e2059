#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <deque>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

#include "compiler/operators/fixed_point.h"
#include "hw/isa/footprint.h"
#include "hw/isa/host_processor.h"
#include "hw/isa/multipliers.h"
#include "hw/isa/program.h"
#include "hw/isa/registers.h"

namespace systole::tests {

/// The contents of an interpreted machine's memories.
struct InterpretedMachine {
    std::uint32_t unified_buffer_rows = 0;
    std::uint32_t accumulator_rows = 0;
};

/// Executes programs element by element, as the instructions' comments define them, without time: slow and as
/// simple as possible. Memories have contents of no meaning at first, except for the program's initial rows,
/// and accesses outside of them are errors.
class ProgramInterpreter {
public:
    ProgramInterpreter(const isa::Program& program, const InterpretedMachine& machine,
                       std::span<const std::uint8_t> input)
        : program_(program),
          row_bytes_(program.geometry.rows),
          columns_(program.geometry.columns),
          buffer_(std::size_t{machine.unified_buffer_rows} * row_bytes_, 0xA5),
          accumulators_(std::size_t{machine.accumulator_rows} * columns_, 0x5A5A5A5A) {
        for (const isa::InitialRows& initial : program.initial[isa::MemoryId::UnifiedBuffer]) {
            for (std::size_t i = 0; i < initial.values.size(); ++i)
                byte(initial.first_row, i) = initial.values[i];
        }
        for (const isa::InitialRows& initial : program.initial[isa::MemoryId::Accumulators]) {
            for (std::size_t i = 0; i * 4 < initial.values.size(); ++i) {
                std::uint32_t word = 0;
                for (std::size_t b = 0; b < 4; ++b)
                    word |= std::uint32_t{initial.values[i * 4 + b]} << (8 * b);
                sum(initial.first_row + i / columns_, i % columns_) = static_cast<std::int32_t>(word);
            }
        }
        for (const isa::HostBuffer& buffer : program.buffers) {
            host_end_ = std::max<std::size_t>(host_end_, buffer.address + buffer.bytes);
        }
        host_.assign(host_end_, 0xEE);
        for (const isa::HostBuffer& buffer : program.buffers) {
            const auto at = host_.begin() + static_cast<std::ptrdiff_t>(buffer.address);
            if (buffer.kind == isa::BufferKind::Constant) {
                std::copy(buffer.contents.begin(), buffer.contents.end(), at);
            } else if (buffer.kind == isa::BufferKind::Input) {
                require(input.size() == buffer.bytes, "the input must fill its buffer");
                std::copy(input.begin(), input.end(), at);
            }
        }
    }

    /// The host for the program's host_work; without one, it is an error. Must outlive the interpreter.
    void set_host(isa::HostProcessor& processor) { processor_ = &processor; }

    /// Executes one instruction after the other. A wait without a signal before it is an error.
    void run_in_program_order() {
        isa::Registers registers;
        for (const isa::Instruction& instruction : program_.instructions) {
            if (const auto* config = std::get_if<isa::SetConfig>(&instruction)) {
                registers.set(config->reg, config->value);
            }
            require(try_execute(instruction, registers), "a wait stands before its signal");
        }
    }

    /// Executes each unit's queue in order, but draws the unit of the next instruction: only sync creates an
    /// order.
    void run_in_any_order(std::mt19937& random) {
        struct Issued {
            const isa::Instruction* instruction;
            isa::Registers registers;
        };
        std::array<std::deque<Issued>, isa::queue_count> queues;
        isa::Registers registers;
        for (const isa::Instruction& instruction : program_.instructions) {
            if (const auto* config = std::get_if<isa::SetConfig>(&instruction)) {
                registers.set(config->reg, config->value);
            }
            if (const auto unit = isa::queue_of(instruction)) {
                queues[static_cast<std::size_t>(*unit)].push_back({&instruction, registers});
            }
        }
        std::array<std::size_t, isa::queue_count> order{};
        std::iota(order.begin(), order.end(), std::size_t{0});
        while (std::any_of(queues.begin(), queues.end(), [](const auto& queue) { return !queue.empty(); })) {
            std::shuffle(order.begin(), order.end(), random);
            bool moved = false;
            for (const std::size_t unit : order) {
                // Sometimes a unit runs ahead until something holds it.
                std::uint32_t steps = random() % 4 == 0 ? 1000 : 1;
                while (steps > 0 && can_step(unit, queues[unit])) {
                    const Issued next = queues[unit].front();
                    if (!try_execute(*next.instruction, next.registers)) break;
                    queues[unit].pop_front();
                    moved = true;
                    --steps;
                }
                if (moved) break;
            }
            require(moved, "the units wait for each other");
        }
    }

    /// The contents of the Output buffer.
    std::vector<std::uint8_t> output() const {
        for (const isa::HostBuffer& buffer : program_.buffers) {
            if (buffer.kind != isa::BufferKind::Output) continue;
            const auto at = host_.begin() + static_cast<std::ptrdiff_t>(buffer.address);
            return {at, at + static_cast<std::ptrdiff_t>(buffer.bytes)};
        }
        throw std::logic_error("the program has no output");
    }

    /// The number of signals without a wait.
    std::uint64_t unused_signals() const {
        std::uint64_t sum = 0;
        for (const std::uint32_t count : semaphores_) sum += count;
        return sum;
    }
    std::size_t tiles_left() const { return fifo_.size(); }
    std::uint64_t interrupts() const { return interrupts_; }
    /// The multiply-accumulates done, by the `useful_macs` and `block_macs` of each tile.
    std::uint64_t useful_macs() const { return useful_macs_; }

private:
    using R = isa::Register;

    static void require(bool holds, const char* rule) {
        if (!holds) throw std::logic_error(rule);
    }

    /// Whether the tiles of a matrix instruction are in the FIFO, for which the hardware waits by itself.
    template <typename Queue>
    bool can_step(std::size_t unit, const Queue& queue) const {
        if (queue.empty()) return false;
        if (unit != static_cast<std::size_t>(isa::QueueId::Matrix)) return true;
        const isa::Instruction& next = *queue.front().instruction;
        if (const auto* c = std::get_if<isa::Convolve>(&next)) return has_tiles(c->flags, c->repeat);
        if (const auto* m = std::get_if<isa::MatrixMultiply>(&next)) return has_tiles(m->flags, m->repeat);
        return true;
    }
    bool has_tiles(const isa::MatrixFlags& flags, std::uint32_t repeat) const {
        return flags.keep_weights || fifo_.size() > repeat;
    }

    bool try_execute(const isa::Instruction& instruction, const isa::Registers& registers) {
        if (const auto* wait = std::get_if<isa::SyncWait>(&instruction)) {
            if (semaphores_[wait->semaphore] == 0) return false;
            --semaphores_[wait->semaphore];
            return true;
        }
        registers_ = &registers;
        std::visit(
            [this]<class Each>(const Each& each) {
                if constexpr (isa::is_for_tiles<Each> || isa::is_for_tensor_core<Each>) {
                    require(false, "an instruction of another machine");
                } else {
                    execute(each);
                }
            },
            instruction);
        return true;
    }

    std::uint32_t reg(R which) const { return (*registers_)[which]; }
    std::int32_t signed_reg(R which) const { return registers_->as_signed(which); }

    std::uint8_t& byte(std::uint64_t row, std::uint64_t offset) {
        const std::uint64_t at = row * row_bytes_ + offset;
        require(at < buffer_.size(), "a row outside the unified buffer");
        return buffer_[at];
    }
    std::int32_t& sum(std::uint64_t row, std::uint64_t column) {
        require((row + 1) * columns_ <= accumulators_.size(), "a row outside the accumulators");
        return accumulators_[row * columns_ + column];
    }
    static std::int32_t value_of(std::uint8_t bits, bool is_signed) {
        return is_signed ? static_cast<std::int8_t>(bits) : bits;
    }

    void execute(const isa::Nop&) {}
    void execute(const isa::Halt&) {}
    void execute(const isa::DebugTag&) {}
    void execute(const isa::SetConfig&) {}
    void execute(const isa::SyncWait&) {}
    void execute(const isa::SyncSignal& signal) { ++semaphores_[signal.semaphore]; }
    void execute(const isa::InterruptHost&) { ++interrupts_; }

    template <typename Move>
    void for_each_transferred_byte(std::uint64_t address, std::uint64_t row, std::uint64_t block_bytes,
                                   std::uint64_t blocks, Move move) {
        const std::uint64_t rows_of_block = (block_bytes + row_bytes_ - 1) / row_bytes_;
        const std::uint64_t gap = reg(R::HostBlockStride);
        const std::uint64_t rows_apart = reg(R::HostBlockRows) == 0 ? rows_of_block : reg(R::HostBlockRows);
        for (std::uint64_t block = 0; block < blocks; ++block) {
            for (std::uint64_t i = 0; i < block_bytes; ++i) {
                move(host_.at(address + block * (gap == 0 ? block_bytes : gap) + i),
                     byte(row + block * rows_apart, i));
            }
        }
    }
    void execute(const isa::ReadHostMemory& read) {
        for_each_transferred_byte(read.host_address, read.unified_buffer_row, read.block_bytes, read.blocks,
                                  [](std::uint8_t& host, std::uint8_t& chip) { chip = host; });
    }
    void execute(const isa::WriteHostMemory& write) {
        for_each_transferred_byte(write.host_address, write.unified_buffer_row, write.block_bytes,
                                  write.blocks, [](std::uint8_t& host, std::uint8_t& chip) { host = chip; });
    }

    void execute(const isa::HostWork& work) {
        require(processor_ != nullptr, "there is no host for host_work");
        const isa::HostSegment& segment = program_.host_segments.at(work.segment);
        const auto images = [&](const isa::SegmentTensor& tensor) {
            const isa::HostBuffer& buffer = program_.buffers.at(tensor.buffer);
            return std::span(host_).subspan(buffer.address + work.first_inference * tensor.bytes,
                                            work.images * tensor.bytes);
        };
        isa::HostTensors tensors;
        for (const isa::SegmentTensor& tensor : segment.reads) tensors.reads.emplace_back(images(tensor));
        for (const isa::SegmentTensor& tensor : segment.writes) tensors.writes.push_back(images(tensor));
        processor_->compute(work, tensors);
    }

    void execute(const isa::ReadWeights& read) {
        for (std::uint32_t i = 0; i < read.tiles; ++i) {
            const std::uint32_t number = read.first_tile + i;
            const auto found = written_.find(number);
            fifo_.push_back(found == written_.end() ? program_.tiles.at(number) : found->second);
        }
    }

    void execute(const isa::WriteWeights& write) {
        isa::WeightTile tile = program_.tiles.at(write.tile);
        std::fill(tile.values.begin(), tile.values.end(),
                  static_cast<std::uint8_t>(signed_reg(R::MultiplyWeightZeroPoint)));
        for (std::uint64_t n = 0; n < write.rows; ++n) {
            for (std::uint64_t i = 0; i < std::uint64_t{write.blocks} * write.columns; ++i) {
                const std::uint64_t block = i / write.columns;
                const std::uint64_t m = i % write.columns;
                const std::uint64_t row =
                    write.transposed ? block * write.columns + m : block * write.rows + n;
                const std::uint64_t column =
                    write.transposed ? block * write.rows + n : block * write.columns + m;
                require(row < tile.rows && column < tile.columns, "a block reaches beyond its tile");
                const std::uint8_t from =
                    byte(write.unified_buffer_row, write.first_byte + n * write.stride + i);
                tile.values[row * tile.columns + column] =
                    write.is_signed ? from : static_cast<std::uint8_t>(from - 128);
            }
        }
        written_[write.tile] = tile;
    }

    const isa::WeightTile& next_tile(bool keep) {
        if (!keep) {
            require(!fifo_.empty(), "no weight tile was fetched");
            tile_ = fifo_.front();
            fifo_.pop_front();
        }
        require(tile_.has_value(), "there are no weights in the array");
        return *tile_;
    }

    static std::uint64_t bytes_of(bool wide) { return wide ? 2 : 1; }
    /// A little-endian element of 8 or 16 bits, at a byte offset from a row.
    std::int32_t element(std::uint64_t row, std::uint64_t offset, bool wide, bool is_signed) {
        if (!wide) return value_of(byte(row, offset), is_signed);
        const std::int32_t bits = byte(row, offset) + 256 * byte(row, offset + 1);
        return is_signed ? static_cast<std::int16_t>(bits) : bits;
    }
    void store(std::uint64_t row, std::uint64_t offset, bool wide, std::int32_t value) {
        for (std::uint64_t i = 0; i < bytes_of(wide); ++i) {
            byte(row, offset + i) = static_cast<std::uint8_t>(value >> (8 * i));
        }
    }

    static std::int32_t weight_of(const isa::WeightTile& tile, std::size_t index) {
        if (tile.type == DataType::Int8) return static_cast<std::int8_t>(tile.values[index]);
        const std::uint32_t low = tile.values[2 * index];
        const std::uint32_t high = tile.values[2 * index + 1];
        return static_cast<std::int16_t>(low | high << 8U);
    }

    /// Streams one row; element(i) enters array row i.
    template <typename Element>
    void stream(const isa::WeightTile& tile, std::uint64_t accumulator_row, bool accumulate,
                Element element) {
        const std::int32_t zero_point = signed_reg(R::MultiplyWeightZeroPoint);
        for (std::uint32_t column = 0; column < tile.columns; ++column) {
            std::int64_t total = accumulate ? sum(accumulator_row, column) : 0;
            for (std::uint32_t i = 0; i < tile.rows; ++i) {
                const std::int64_t weight =
                    std::int64_t{weight_of(tile, i * tile.columns + column)} - zero_point;
                total += element(i) * weight;
            }
            sum(accumulator_row, column) = operators::wrap(total);
        }
    }

    /// Multiply-accumulates of a row that a layer needs: of a block, those for pixels inside the image.
    std::uint64_t needed_macs(const isa::WeightTile& tile, std::uint64_t block_line,
                              std::uint64_t block_column) const {
        const std::uint64_t width = reg(R::BlockWidth);
        if (tile.block_macs.empty() || width * reg(R::BlockHeight) == 1) return tile.useful_macs;
        require(tile.block_macs.size() == width * reg(R::BlockHeight), "a tile for other blocks");
        std::uint64_t macs = 0;
        for (std::uint64_t part = 0; part < tile.block_macs.size(); ++part) {
            const bool is_inside =
                block_line * reg(R::BlockHeight) + part / width < reg(R::BlockOutputHeight) &&
                block_column * width + part % width < reg(R::BlockOutputWidth);
            if (is_inside) macs += tile.block_macs[part];
        }
        return macs;
    }

    void execute(const isa::MatrixMultiply& multiply) {
        for (std::uint64_t r = 0; r <= multiply.repeat; ++r) {
            const isa::WeightTile& tile = next_tile(multiply.flags.keep_weights);
            for (std::uint64_t b = 0; b < multiply.length; ++b) {
                const bool wide = systole::bytes_of(multiply.flags.activations) == 2;
                const std::uint64_t row =
                    multiply.unified_buffer_row + b * reg(R::MultiplyRowStride) + r * bytes_of(wide);
                stream(tile, multiply.accumulator_row + b, multiply.flags.accumulate || r > 0,
                       [&](std::uint64_t i) {
                           return element(row, i * bytes_of(wide), wide,
                                          systole::is_signed(multiply.flags.activations));
                       });
                useful_macs_ += tile.useful_macs;
            }
        }
    }

    /// An element of a tensor; nullopt outside the image.
    std::optional<std::int32_t> tensor_element(std::uint64_t first_row, std::uint64_t image, std::int64_t y,
                                               std::int64_t x, std::uint64_t channel, bool wide,
                                               bool is_signed) {
        if (y < 0 || x < 0 || y >= reg(R::WindowInputHeight) || x >= reg(R::WindowInputWidth)) return {};
        const std::uint64_t pixel =
            static_cast<std::uint64_t>(y) * reg(R::WindowInputWidth) + static_cast<std::uint64_t>(x);
        return element(first_row + image * reg(R::WindowImageRows),
                       (pixel * reg(R::WindowChannels) + channel) * bytes_of(wide), wide, is_signed);
    }

    /// Element (kernel row, kernel column, channel) of a window; nullopt outside the image.
    std::optional<std::int32_t> window_element(std::uint64_t first_row, std::uint64_t line,
                                               std::uint64_t output_x, std::uint64_t kernel_row,
                                               std::uint64_t kernel_column, std::uint64_t channel, bool wide,
                                               bool is_signed) {
        const std::uint64_t output_y = line % reg(R::WindowOutputHeight);
        const auto y =
            static_cast<std::int64_t>(output_y * reg(R::WindowStrideY) + kernel_row) - reg(R::WindowPadTop);
        const auto x = static_cast<std::int64_t>(output_x * reg(R::WindowStrideX) + kernel_column) -
                       reg(R::WindowPadLeft);
        return tensor_element(first_row, line / reg(R::WindowOutputHeight), y, x, channel, wide, is_signed);
    }

    void execute(const isa::Convolve& convolve) {
        const std::uint64_t channels = reg(R::WindowChannels);
        const std::uint64_t kernel_width = reg(R::WindowKernelWidth);
        const std::uint64_t elements = reg(R::WindowKernelHeight) * kernel_width * channels;
        const bool wide = systole::bytes_of(convolve.flags.activations) == 2;
        const bool is_signed = systole::is_signed(convolve.flags.activations);
        const std::int32_t padding = padding_value(wide, is_signed);
        for (std::uint64_t r = 0; r <= convolve.repeat; ++r) {
            const isa::WeightTile& tile = next_tile(convolve.flags.keep_weights);
            const std::uint64_t first_element = (reg(R::WindowTile) + r) * row_bytes_;
            require(first_element + tile.rows <= elements, "a tile reaches beyond the window");
            std::uint64_t accumulator_row = convolve.accumulator_row;
            for (std::uint64_t l = 0; l < convolve.lines; ++l) {
                for (std::uint64_t x = 0; x < reg(R::WindowOutputWidth); ++x, ++accumulator_row) {
                    stream(tile, accumulator_row, convolve.flags.accumulate || r > 0, [&](std::uint64_t i) {
                        const std::uint64_t number = first_element + i;
                        const std::uint64_t pixel = number / channels;
                        const auto value = window_element(
                            convolve.unified_buffer_row, convolve.first_line + l, x, pixel / kernel_width,
                            pixel % kernel_width, number % channels, wide, is_signed);
                        return value.value_or(padding);
                    });
                    useful_macs_ +=
                        needed_macs(tile, (convolve.first_line + l) % reg(R::WindowOutputHeight), x);
                }
            }
        }
    }

    std::int32_t padding_value(bool wide, bool is_signed) const {
        const std::uint32_t bits = reg(R::WindowPadValue);
        if (!wide) return value_of(static_cast<std::uint8_t>(bits), is_signed);
        return is_signed ? static_cast<std::int16_t>(bits) : static_cast<std::uint16_t>(bits);
    }

    std::int32_t parameter_word(std::uint64_t index) {
        std::uint32_t word = 0;
        for (std::uint32_t i = 0; i < 4; ++i) {
            word |= std::uint32_t{byte(reg(R::ActivationParametersRow), index * 4 + i)} << (8 * i);
        }
        return static_cast<std::int32_t>(word);
    }

    void load_table(bool wide) {
        const std::uint64_t entries = wide ? 513 : 256;
        auto& table = wide ? interpolated_table_ : table_;
        table.clear();
        for (std::uint64_t i = 0; i < entries; ++i) {
            table.push_back(element(reg(R::ActivationTableRow), i * bytes_of(wide), wide, wide));
        }
    }

    std::int32_t looked_up(std::int32_t value, bool wide) const {
        if (!wide) return table_.at(static_cast<std::uint8_t>(value));
        const std::int32_t offset = static_cast<std::int16_t>(value) + 32768;
        const auto entry = static_cast<std::size_t>(offset / 128);
        const double slope = interpolated_table_.at(entry + 1) - interpolated_table_.at(entry);
        // Exact in floating point.
        return interpolated_table_.at(entry) +
               static_cast<std::int32_t>(std::floor(slope * (offset % 128) / 128 + 0.5));
    }

    void load_parameters(bool with_table, bool wide, bool real) {
        const std::uint64_t count = reg(R::ActivationColumns);
        bias_.clear();
        multiplier_.clear();
        shift_.clear();
        real_multiplier_.clear();
        for (std::uint64_t c = 0; c < count; ++c) {
            bias_.push_back(parameter_word(c));
            if (real) {
                const auto low = static_cast<std::uint32_t>(parameter_word(count + 2 * c));
                const auto high = static_cast<std::uint32_t>(parameter_word(count + 2 * c + 1));
                real_multiplier_.push_back(std::bit_cast<double>(std::uint64_t{high} << 32 | low));
                continue;
            }
            multiplier_.push_back(parameter_word(count + c));
            shift_.push_back(static_cast<std::int8_t>(byte(reg(R::ActivationParametersRow), 8 * count + c)));
        }
        if (with_table) load_table(wide);
    }

    /// The pixel of the image that part `part` of an output is; nullopt outside the image.
    std::optional<std::uint64_t> pixel_of(std::uint64_t output, std::uint64_t part) const {
        const std::uint64_t width = reg(R::BlockWidth);
        if (width * reg(R::BlockHeight) == 1) return output;
        const std::uint64_t image_width = reg(R::BlockOutputWidth);
        const std::uint64_t across = (image_width + width - 1) / width;
        const std::uint64_t x = output % across * width + part % width;
        const std::uint64_t y = output / across * reg(R::BlockHeight) + part / width;
        if (x >= image_width || y >= reg(R::BlockOutputHeight)) return {};
        return y * image_width + x;
    }

    void execute(const isa::Activate& activate) {
        const bool lookup = activate.function == isa::ActivationFunction::Lookup;
        const bool wide = systole::bytes_of(activate.output) == 2;
        const bool real = isa::are_real(activate.multipliers);
        const bool even = isa::round_to_even(activate.multipliers);
        if (activate.load_parameters) load_parameters(lookup, wide, real);
        require(bias_.size() == reg(R::ActivationColumns), "the parameters are not loaded");
        require(real != real_multiplier_.empty(), "the parameters are not of this kind");
        const std::uint64_t first_column = reg(R::ActivationFirstColumn);
        for (std::uint64_t i = 0; i < activate.length; ++i) {
            const std::uint64_t output = activate.first_output + i;
            const std::uint64_t image = output / reg(R::ActivationOutputsPerImage);
            const std::uint64_t parts = std::uint64_t{reg(R::BlockWidth)} * reg(R::BlockHeight);
            const std::uint64_t channels = bias_.size() / parts;
            require(channels * parts == bias_.size(), "columns of a part of a pixel");
            for (std::uint64_t c = 0; c < bias_.size(); ++c) {
                const auto pixel = pixel_of(output % reg(R::ActivationOutputsPerImage), c / channels);
                if (!pixel) continue;
                const std::int32_t biased = operators::wrap(
                    std::int64_t{sum(activate.accumulator_row + i, first_column + c)} + bias_[c]);
                const auto scale_real = even ? operators::scale_real_to_even : operators::scale_real;
                const std::int32_t scaled = real ? scale_real(biased, real_multiplier_[c])
                                                 : rule(even)(biased, multiplier_[c], shift_[c]);
                const std::int32_t result =
                    operators::offset_and_clamp(scaled, signed_reg(R::OutputZeroPoint),
                                                signed_reg(R::OutputMinimum), signed_reg(R::OutputMaximum));
                store(activate.unified_buffer_row + image * reg(R::ActivationImageRows),
                      *pixel * reg(R::ActivationPixelBytes) + reg(R::ActivationChannelOffset) +
                          c % channels * bytes_of(wide),
                      wide, lookup ? looked_up(result, wide) : result);
            }
        }
    }

    void execute(const isa::Vector& vector) {
        bias_.clear();  // it is not specified that loaded parameters outlive vector work
        if (vector.is_pooling()) return pool(vector);
        const bool wide = systole::bytes_of(vector.elements) == 2;
        if (vector.operation == isa::VectorOperation::Lookup) load_table(wide);
        const std::uint64_t rows = reg(R::VectorRowsPerImage);
        const std::uint64_t step = rows == 0 ? vector.length : rows;
        for (std::uint64_t image = 0; image * step < vector.length; ++image) {
            const auto first = [&](std::uint32_t row, R image_rows) {
                return row + (rows == 0 ? 0 : image * reg(image_rows));
            };
            const std::uint64_t from = first(vector.source_row, R::VectorSourceImageRows);
            const std::uint64_t other = first(vector.other_row, R::VectorOtherImageRows);
            const std::uint64_t to = first(vector.destination_row, R::VectorDestinationImageRows);
            const std::uint64_t bytes = std::min(step, vector.length - image * step) * row_bytes_;
            for (std::uint64_t i = 0; i + bytes_of(wide) <= bytes; i += bytes_of(wide)) {
                const bool is_signed = systole::is_signed(vector.elements);
                const std::int32_t a = element(from, i, wide, is_signed);
                const auto b = [&] { return element(other, i, wide, is_signed); };
                switch (vector.operation) {
                    case isa::VectorOperation::Add:
                        store(to, i, wide, sum_of(a, b(), wide, rule(vector.half_to_even)));
                        break;
                    case isa::VectorOperation::Multiply:
                        store(to, i, wide, product_of(a, b(), rule(vector.half_to_even)));
                        break;
                    case isa::VectorOperation::Lookup:
                        store(to, i, wide, looked_up(a, wide));
                        break;
                    case isa::VectorOperation::MaxPool:
                    case isa::VectorOperation::AveragePool:
                        throw std::logic_error("pooling is not element-wise");
                }
            }
        }
    }

    using Scaling = std::int32_t (*)(std::int32_t, std::int32_t, int);

    static Scaling rule(bool half_to_even) {
        return half_to_even ? operators::scale_to_even : operators::scale;
    }

    std::int32_t finished(std::int64_t value, Scaling scale) const {
        const std::int32_t scaled =
            scale(operators::wrap(value), signed_reg(R::VectorMultiplier), signed_reg(R::VectorShift));
        return operators::offset_and_clamp(scaled, signed_reg(R::OutputZeroPoint),
                                           signed_reg(R::OutputMinimum), signed_reg(R::OutputMaximum));
    }

    std::int32_t product_of(std::int32_t a, std::int32_t b, Scaling scale) const {
        return finished(
            std::int64_t{a - signed_reg(R::VectorZeroPointA)} * (b - signed_reg(R::VectorZeroPointB)), scale);
    }

    std::int32_t sum_of(std::int32_t a, std::int32_t b, bool wide, Scaling scale) const {
        const auto term = [&](std::int32_t value, R zero_point, R multiplier, R shift) {
            const std::int32_t centered = value - signed_reg(zero_point);
            return scale(centered * (1 << (wide ? 15 : 20)), signed_reg(multiplier), signed_reg(shift));
        };
        return finished(std::int64_t{term(a, R::VectorZeroPointA, R::VectorMultiplierA, R::VectorShiftA)} +
                            term(b, R::VectorZeroPointB, R::VectorMultiplierB, R::VectorShiftB),
                        scale);
    }

    void pool(const isa::Vector& vector) {
        const std::int32_t padding = padding_value(false, systole::is_signed(vector.elements));
        for (std::uint64_t line = vector.first_line; line < vector.first_line + vector.length; ++line) {
            for (std::uint64_t x = 0; x < reg(R::WindowOutputWidth); ++x) {
                for (std::uint64_t c = 0; c < reg(R::WindowChannels); ++c) {
                    std::vector<std::int32_t> values;
                    for (std::uint64_t kernel_row = 0; kernel_row < reg(R::WindowKernelHeight);
                         ++kernel_row) {
                        for (std::uint64_t column = 0; column < reg(R::WindowKernelWidth); ++column) {
                            auto value = window_element(vector.source_row, line, x, kernel_row, column, c,
                                                        false, systole::is_signed(vector.elements));
                            if (!value && vector.count_padding) value = padding;
                            if (value) values.push_back(*value);
                        }
                    }
                    const std::uint64_t image = line / reg(R::WindowOutputHeight);
                    const std::uint64_t pixel =
                        (line % reg(R::WindowOutputHeight)) * reg(R::WindowOutputWidth) + x;
                    const std::uint64_t pixel_bytes =
                        reg(reg(R::ActivationPixelBytes) == 0 ? R::WindowChannels : R::ActivationPixelBytes);
                    byte(vector.destination_row + image * reg(R::ActivationImageRows),
                         pixel * pixel_bytes + reg(R::ActivationChannelOffset) + c) =
                        pooled(values, vector.operation);
                }
            }
        }
    }

    static std::uint8_t pooled(const std::vector<std::int32_t>& values, isa::VectorOperation operation) {
        require(!values.empty(), "a window without elements");
        if (operation == isa::VectorOperation::MaxPool) {
            return static_cast<std::uint8_t>(*std::max_element(values.begin(), values.end()));
        }
        double total = 0;
        for (const std::int32_t value : values) total += value;
        // Floating-point division is exact at halves, and its error does not matter elsewhere.
        return static_cast<std::uint8_t>(std::lround(total / static_cast<double>(values.size())));
    }

    const isa::Program& program_;
    const std::uint64_t row_bytes_;
    const std::uint64_t columns_;
    std::vector<std::uint8_t> buffer_;
    std::vector<std::int32_t> accumulators_;
    std::size_t host_end_ = 0;
    std::vector<std::uint8_t> host_;
    std::array<std::uint32_t, 256> semaphores_{};
    std::map<std::uint32_t, isa::WeightTile> written_;  ///< tiles, by number
    std::deque<isa::WeightTile> fifo_;                  ///< as they were when they were fetched
    std::optional<isa::WeightTile> tile_;
    const isa::Registers* registers_ = nullptr;
    isa::HostProcessor* processor_ = nullptr;
    std::vector<std::int32_t> bias_, multiplier_;
    std::vector<std::int8_t> shift_;
    std::vector<double> real_multiplier_;
    std::vector<std::int32_t> table_, interpolated_table_;
    std::uint64_t interrupts_ = 0;
    std::uint64_t useful_macs_ = 0;
};

}  // namespace systole::tests
