#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>

#include "base/conversion.h"
#include "hw/isa/fields.h"
#include "hw/isa/instruction.h"
#include "hw/isa/program.h"

namespace systole::isa::tests {

/// Draws valid instructions and programs from a seed that the tests print.
class RandomPrograms {
public:
    explicit RandomPrograms(std::uint64_t seed) : engine_(seed) {}

    std::uint64_t from(std::uint64_t lowest, std::uint64_t highest) {
        // The extremes are where encodings break.
        switch (std::uniform_int_distribution<int>(0, 7)(engine_)) {
            case 0:
                return lowest;
            case 1:
                return highest;
            default:
                return std::uniform_int_distribution<std::uint64_t>(lowest, highest)(engine_);
        }
    }
    bool coin() { return from(0, 1) == 1; }

    /// An instruction of the kind with this index in `Instruction`.
    Instruction instruction(std::size_t kind) {
        Instruction result;
        std::size_t index = 0;
        for_each_kind([&](auto each) {
            if (index++ == kind) {
                fill(each);
                result = each;
            }
        });
        return result;
    }
    Instruction instruction() { return instruction(from(0, std::variant_size_v<Instruction> - 1)); }

    /// A program for an array, for tiles or for a tensor core.
    Program program() {
        Program program;
        const std::uint64_t kind = from(0, 2);
        if (kind == 0) {
            program.geometry.tiles = grid();
        } else {
            program.geometry = {.rows = number32(1, 40), .columns = number32(1, 40)};
            if (kind == 1) program.geometry.tensor = {.lanes = number32(1, 1024), .cores = number32(0, 255)};
        }
        if (coin()) {
            program.model = name();
            program.batch = number32(0, UINT32_MAX);
            program.inferences = from(0, UINT64_MAX);
        }
        for (std::uint64_t i = from(0, 3); i > 0; --i)
            program.layers.push_back({name(), name(), from(0, UINT64_MAX)});
        for (std::uint64_t i = from(0, 2); i > 0; --i) program.inputs.push_back(input());
        for (std::uint64_t i = from(0, 2); i > 0; --i) program.outputs.push_back(tensor());
        add_state(program);
        add_arrays(program);
        for (std::uint64_t i = from(0, 2); i > 0; --i) program.host_operations.push_back({name(), name()});
        add_buffers(program);
        add_residents(program);
        for (std::uint64_t i = coin() ? 0 : from(0, 2); i > 0; --i) add_segment(program);
        if (program.geometry.has_tensor_core()) {
            for (std::uint64_t i = from(0, 3); i > 0; --i) program.chains.push_back(chain(i));
            std::uint64_t row = 0;
            for (std::uint64_t i = coin() ? 0 : from(0, 2); i > 0; --i) {
                row += from(0, 1000);
                std::vector<InitialRows>& initial = program.initial[MemoryId::Hbm];
                initial.push_back({.first_row = row, .values = bytes(from(1, 100), 1)});
                row = rows_of(initial.back(), MemoryId::Hbm, program.geometry).last;
            }
        }
        if (program.geometry.has_unified_buffer()) {
            add_initial_rows(program);
            for (std::uint64_t i = from(0, 3); i > 0; --i) program.tiles.push_back(tile(program.geometry));
        }
        for (std::uint64_t i = from(0, 60); i > 0; --i) add_instruction(program);
        return program;
    }

private:
    std::uint32_t number32(std::uint64_t lowest, std::uint64_t highest) {
        return static_cast<std::uint32_t>(from(lowest, highest));
    }
    std::uint32_t row() { return number32(0, 0xffffff); }
    std::uint16_t number16(std::uint64_t lowest = 0) {
        return static_cast<std::uint16_t>(from(lowest, 0xffff));
    }
    std::uint8_t number8(std::uint64_t highest = 0xff) { return static_cast<std::uint8_t>(from(0, highest)); }

    std::uint64_t host_address() { return from(0, 0xff'ffff'ffff); }
    /// Units of a row of weights, in tiles with the most lanes.
    std::uint8_t row_units() { return static_cast<std::uint8_t>(from(1, 16)); }

    TileGrid grid() {
        TileGrid grid{.lines = number32(1, 16), .columns = number32(1, 16), .lanes = number32(1, 16) * 16};
        grid.units = number32(1, (1U << 24) / grid.tiles());
        return grid;
    }

    MatrixFlags matrix_flags() { return {coin(), coin(), data_type(), data_type()}; }
    /// Those behind float32 have no codes in instructions.
    DataType data_type() {
        return static_cast<DataType>(number8(static_cast<std::uint8_t>(DataType::Float32)));
    }

    /// A number format of the activation unit.
    DataType vector_type() {
        constexpr std::array types{DataType::Uint8, DataType::Int8, DataType::Int16};
        return types[from(0, types.size() - 1)];
    }

    template <class Each>
    void fill(Each& each) {
        if constexpr (std::is_same_v<Each, SyncWait> || std::is_same_v<Each, SyncSignal>) {
            each = {static_cast<QueueId>(number8(queue_count - 1)), number8()};
        } else if constexpr (std::is_same_v<Each, DebugTag>) {
            each = {number16()};
        } else if constexpr (std::is_same_v<Each, SetConfig>) {
            each = {static_cast<Register>(number8(register_count - 1)), number32(0, UINT32_MAX)};
        } else if constexpr (std::is_same_v<Each, ReadHostMemory> || std::is_same_v<Each, WriteHostMemory>) {
            each = {host_address(), row(), number32(1, UINT32_MAX), number16(1)};
        } else if constexpr (std::is_same_v<Each, ReadWeights>) {
            each = {number32(0, UINT32_MAX), number16(1)};
        } else if constexpr (std::is_same_v<Each, WriteWeights>) {
            each = {number32(0, UINT32_MAX),
                    row(),
                    number16(),
                    number32(0, UINT32_MAX),
                    number16(1),
                    number16(1),
                    number16(1),
                    coin(),
                    coin()};
        } else if constexpr (std::is_same_v<Each, HostWork>) {
            each = {number16(), number32(0, UINT32_MAX), number32(1, UINT32_MAX)};
        } else if constexpr (std::is_same_v<Each, MatrixMultiply>) {
            each = {row(), number16(), number32(1, UINT32_MAX), matrix_flags(), number8()};
            if (each.flags.keep_weights) each.repeat = 0;
        } else if constexpr (std::is_same_v<Each, Convolve>) {
            each = {row(), number16(), number16(), number16(1), matrix_flags(), number8()};
            if (each.flags.keep_weights) each.repeat = 0;
        } else if constexpr (std::is_same_v<Each, Activate>) {
            const bool load = coin();
            each = {number16(),
                    row(),
                    number16(load ? 0 : 1),
                    number32(0, UINT32_MAX),
                    static_cast<ActivationFunction>(number8(1)),
                    load,
                    multipliers_of(coin(), coin()),
                    vector_type()};
        } else if constexpr (std::is_same_v<Each, Vector>) {
            each.operation = static_cast<VectorOperation>(number8(4));
            each.destination_row = row();
            each.source_row = row();
            each.length = number32(1, UINT32_MAX);
            each.elements = vector_type();
            if (each.is_pooling() && each.elements == DataType::Int16) each.elements = DataType::Uint8;
            if (each.has_other()) {
                each.other_row = row();
                each.half_to_even = coin();
            }
            if (each.is_pooling()) {
                each.first_line = number32(0, UINT32_MAX);
                each.count_padding = coin();
            }
        } else if constexpr (is_for_tiles<Each>) {
            fill_for_tiles(each);
        } else if constexpr (is_for_tensor_core<Each>) {
            fill_for_tensor_core(each);
        }  // the rest have no fields
    }

    template <class Each>
    void fill_for_tiles(Each& each) {
        if constexpr (std::is_same_v<Each, ReadProgram>) {
            each = {number32(1, UINT32_MAX)};
        } else if constexpr (std::is_same_v<Each, ReadParameters>) {
            each = {host_address(), row(), number32(1, UINT32_MAX)};
        } else if constexpr (std::is_same_v<Each, ReadTensor>) {
            each = {host_address(), row()};
        } else if constexpr (std::is_same_v<Each, WriteTensor>) {
            each = {host_address(), row(), coin()};
        } else if constexpr (std::is_same_v<Each, StreamParameters>) {
            each = {host_address(), number32(1, UINT32_MAX), row_units(), number16(1),
                    number32(1, UINT32_MAX)};
        } else if constexpr (std::is_same_v<Each, Multicast>) {
            each = {host_address(), number32(1, UINT32_MAX), row_units(),
                    number16(1),    number32(1, UINT32_MAX), coin()};
        } else if constexpr (std::is_same_v<Each, Collect>) {
            each = {row(), row(), coin()};
        } else if constexpr (std::is_same_v<Each, Exchange>) {
            each = {row()};
        } else if constexpr (std::is_same_v<Each, Move>) {
            each = {coin(), coin(), row(), row()};
        } else if constexpr (std::is_same_v<Each, Permute>) {
            each = {static_cast<AxisOrder>(number8(5)), row(), row()};
        } else if constexpr (std::is_same_v<Each, TileMultiply>) {
            each = {static_cast<TileProduct>(number8(2)),
                    static_cast<Scaling>(number8(3)),
                    coin(),
                    coin(),
                    coin(),
                    coin(),
                    coin(),
                    row(),
                    row(),
                    host_address()};
            if (each.product == TileProduct::Dense) each.streamed = each.with_margins = false;
            if (each.scaling == Scaling::Real) each.by_channel = true;
        } else {
            static_assert(std::is_same_v<Each, TileVector>);
            each.operation = static_cast<TileOperation>(number8(tile_operation_count - 1));
            each.scaling = static_cast<Scaling>(number8(1));
            if (coin()) each.scaling = Scaling::Float;
            each.is_signed = coin();
            each.with_margins = coin();
            each.result = row();
            each.source = row();
            if (each.has_other() || each.table_units() > 0) each.other = row();
            const bool interpolates = each.operation == TileOperation::Interpolate;
            each.half_pixel = interpolates && coin();
            each.align_corners = interpolates && !each.half_pixel && coin();
            const bool rounds = each.scales() || each.operation == TileOperation::AveragePool || interpolates;
            if (!rounds || (each.scaling == Scaling::ToEven && !each.scales())) {
                each.scaling = Scaling::FixedPoint;
            }
            if (each.operation == TileOperation::SquaredDifference) each.scaling = Scaling::FixedPoint;
            if (each.operation == TileOperation::BiasedSumPool) each.scaling = Scaling::Float;
        }
    }

    template <class Each>
    void fill_for_tensor_core(Each& each) {
        if constexpr (std::is_same_v<Each, Infeed>) {
            each = {host_address(), number32(0, UINT32_MAX), number32(1, UINT32_MAX), number32(1, 0xffffff),
                    coin()};
        } else if constexpr (std::is_same_v<Each, Outfeed>) {
            each = {host_address(), number32(0, UINT32_MAX), number32(1, UINT32_MAX),
                    number32(1, UINT32_MAX)};
        } else if constexpr (std::is_same_v<Each, DmaIn> || std::is_same_v<Each, DmaOut>) {
            each = {number32(0, UINT32_MAX), row(), number32(1, 0xffffff), number32(1, 0xffffff)};
        } else if constexpr (std::is_same_v<Each, GatherRows>) {
            each = {
                number32(0, UINT32_MAX), number32(1, UINT32_MAX), number32(0, UINT32_MAX), row(), number16(1),
                number32(1, 0xffffff)};
        } else if constexpr (std::is_same_v<Each, LoadWeights>) {
            each = {row(), number16(1), number16(1), number8(2), coin(), coin()};
            if (each.packed) each.part = 0;
        } else if constexpr (std::is_same_v<Each, Product>) {
            each = {
                row(),  row(), number32(1, UINT32_MAX), number16(1), number16(1), number8(2), coin(), coin(),
                coin(), coin()};
            if (each.packed) each.part = 0;
        } else if constexpr (std::is_same_v<Each, RunChain>) {
            each = {number16(),
                    number32(1, UINT32_MAX),
                    number32(1, UINT32_MAX),
                    {row(), row()},
                    {row(), row(), row(), row()}};
        } else if constexpr (std::is_same_v<Each, ReduceRows>) {
            each = {reduction(), coin(), row(), row(), number32(1, UINT32_MAX), number32(1, UINT32_MAX)};
        } else if constexpr (std::is_same_v<Each, ReduceLanes>) {
            each = {reduction(), row(), row(), number32(1, UINT32_MAX), number32(1, UINT32_MAX)};
        } else if constexpr (std::is_same_v<Each, Transpose>) {
            each = {row(), row(), number16(1), number16(1)};
        } else if constexpr (std::is_same_v<Each, Collective>) {
            each = {static_cast<CollectiveKind>(number8(collective_names.size() - 1)),
                    static_cast<std::uint8_t>(1 + number8(UINT8_MAX - 1)), row(), row(),
                    1 + row() % 0xFFFFFF};
        } else {
            static_assert(std::is_same_v<Each, MoveLanes>);
            each = {row(),
                    row(),
                    number32(1, UINT32_MAX),
                    number32(1, UINT32_MAX),
                    number32(0, UINT32_MAX),
                    number32(0, UINT32_MAX)};
        }
    }

    Reduction reduction() { return static_cast<Reduction>(number8(reduction_names.size() - 1)); }

    Chain chain(std::uint64_t number) {
        Chain chain{.name = name() + std::to_string(number)};
        for (std::uint64_t i = from(0, 4); i > 0; --i) {
            const auto spread = static_cast<Spread>(number8(3));
            chain.sources.push_back({.spread = spread, .packed = spread == Spread::Rows && coin()});
        }
        for (std::uint64_t i = from(chain.sources.empty() ? 1 : 0, 6); i > 0; --i) {
            ChainStep step{.operation = static_cast<WordOperation>(number8(word_operation_count - 1))};
            if (chain.values() == 0) step.operation = WordOperation::Constant;
            if (step.operation == WordOperation::Constant) step.constant = number32(0, UINT32_MAX);
            for (unsigned operand = 0; operand < traits_of(step.operation).operands; ++operand) {
                step.operands.push_back(number8(chain.values() - 1));
            }
            chain.steps.push_back(std::move(step));
        }
        for (std::uint64_t i = from(1, 2); i > 0; --i) {
            chain.results.push_back({.value = number8(chain.values() - 1), .packed = coin()});
        }
        return chain;
    }

    std::string name() {
        constexpr std::array<const char*, 6> simple = {"x", "conv2d/kernel:0", "a b", "", "50%", "signed"};
        if (coin()) return simple[from(0, simple.size() - 1)];
        std::string text;
        for (std::uint64_t i = from(0, 12); i > 0; --i) text += static_cast<char>(number8());
        return text;
    }

    BorderTensor tensor() {
        BorderTensor tensor;
        tensor.name = name();
        for (std::uint64_t i = from(0, 3); i > 0; --i) tensor.shape.push_back(number32(1, 1000));
        tensor.scale = std::uniform_real_distribution<double>(1e-9, 3)(engine_);
        tensor.zero_point = static_cast<std::int32_t>(number32(0, UINT32_MAX));
        tensor.type = static_cast<DataType>(number8(coin() ? 2 : data_type_count - 1));
        return tensor;
    }

    BorderTensor input() {
        BorderTensor input = tensor();
        if (is_integer(input.type)) input.conversion = static_cast<Conversion>(number8(conversion_count - 1));
        return input;
    }

    /// Random or all equal values, which assembly writes differently.
    std::vector<std::uint8_t> bytes(std::size_t count, std::size_t element_bytes) {
        std::vector<std::uint8_t> bytes(count);
        const bool alike = coin();
        for (std::size_t i = 0; i < count; ++i) {
            bytes[i] = alike && i >= element_bytes ? bytes[i - element_bytes] : number8();
        }
        return bytes;
    }

    WeightTile tile(const Geometry& geometry) {
        WeightTile tile;
        tile.rows = number32(1, geometry.rows);
        tile.columns = number32(1, geometry.columns);
        tile.type = coin() ? DataType::Int8 : DataType::Int16;
        tile.useful_macs = number32(0, tile.rows * tile.columns);
        if (coin()) {
            std::uint32_t left = tile.useful_macs;
            for (std::uint64_t i = from(1, geometry.columns); i > 1; --i) {
                tile.block_macs.push_back(number32(0, left));
                left -= tile.block_macs.back();
            }
            tile.block_macs.push_back(left);
        }
        tile.values = bytes(std::size_t{tile.rows} * tile.columns * bytes_of(tile.type), bytes_of(tile.type));
        return tile;
    }

    /// Some of the inputs, each with an output behind the others.
    void add_state(Program& program) {
        if (!program.geometry.has_tensor_core() || coin()) return;
        for (std::uint32_t input = 0; input < program.inputs.size(); ++input) {
            if (coin()) continue;
            BorderTensor output = program.inputs[input];
            output.name = name();
            output.conversion = Conversion::Nearest;
            program.state.push_back(
                {.input = input, .output = static_cast<std::uint32_t>(program.outputs.size())});
            program.outputs.push_back(std::move(output));
            program.batch = number32(1, 9);
            program.inferences = program.batch * from(1, 9);
        }
    }

    /// Arrays in files, of one replica or several, and constant outputs.
    void add_arrays(Program& program) {
        if (!program.geometry.has_tensor_core() || coin()) return;
        ArrayFiles& arrays = program.arrays.emplace();
        if (coin()) {
            arrays.replicas = number32(2, 9);
            program.batch = arrays.replicas;
            program.inferences = program.batch * from(1, 9);
            for (auto* const tensors : {&program.inputs, &program.outputs}) {
                for (BorderTensor& each : *tensors) {
                    if (!each.shape.empty() && coin()) each.split_axis = number32(0, each.shape.size() - 1);
                }
            }
        }
        std::uint32_t place = 0;
        for (std::uint64_t i = from(0, 2); i > 0; --i) {
            ConstantOutput constant{.place = place + number32(0, 3), .tensor = tensor()};
            for (std::uint32_t& size : constant.tensor.shape) size = 1 + size % 4;
            std::uint64_t elements = 1;
            for (const std::uint32_t size : constant.tensor.shape) elements *= size;
            constant.words = bytes(elements * word_bytes, word_bytes);
            place = constant.place + 1;
            arrays.constants.push_back(std::move(constant));
        }
    }

    void add_buffers(Program& program) {
        std::uint64_t address = 0;
        for (std::uint64_t i = from(0, 4); i > 0; --i) {
            HostBuffer buffer;
            buffer.name = name() + std::to_string(i);
            buffer.kind = static_cast<BufferKind>(number8(coin() ? 2 : 3));
            buffer.address = address + from(0, 100'000);
            buffer.bytes = from(1, 90);
            if (buffer.kind == BufferKind::Constant) buffer.contents = bytes(buffer.bytes, 1);
            if (program.geometry.has_tensor_core() && coin()) buffer.padding = from(0, 50);
            address = buffer.address + buffer.all_bytes();
            program.buffers.push_back(std::move(buffer));
        }
    }

    /// Some of the inputs and outputs that are in no state stay in memory. Their buffers are there, or stand
    /// behind all others.
    void add_residents(Program& program) {
        if (!program.geometry.has_tensor_core() || from(0, 3) == 0) return;
        for (const ResidentSide side : {ResidentSide::Input, ResidentSide::Output}) {
            const bool is_input = side == ResidentSide::Input;
            const std::vector<BorderTensor>& tensors = is_input ? program.inputs : program.outputs;
            for (std::uint32_t number = 0; number < tensors.size(); ++number) {
                const bool is_state = std::ranges::any_of(program.state, [&](const StateTensors& state) {
                    return (is_input ? state.input : state.output) == number;
                });
                if (!is_state && from(0, 3) > 0) add_resident(program, side, number, tensors[number]);
            }
        }
    }

    void add_resident(Program& program, ResidentSide side, std::uint32_t number, const BorderTensor& tensor) {
        ResidentTensor resident{.side = side,
                                .number = number,
                                .inferences = number32(1, 3),
                                .first_row = number32(0, 1U << 31),
                                .inference_rows = number32(0, 1000)};
        // The last sizes of the shape are columns, the others are axes.
        const std::size_t axes = from(0, tensor.shape.size());
        for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
            if (i < axes) {
                resident.axes.push_back({.extent = tensor.shape[i], .apart = number32(0, 1000)});
            } else {
                resident.columns *= tensor.shape[i];
            }
        }
        resident.panel_rows =
            number32(0, (1U << 30) / (1 + resident.columns / program.geometry.tensor.lanes));
        const BufferKind kind = side == ResidentSide::Input ? BufferKind::Input : BufferKind::Output;
        const std::uint64_t needed =
            std::max(program.geometry.tensor.cores, 1U) * resident.words() * word_bytes;
        const auto has_kind = [&](const HostBuffer& buffer) { return buffer.kind == kind; };
        while (std::ranges::count_if(program.buffers, has_kind) <= number) {
            const std::uint64_t end =
                program.buffers.empty() ? 0
                                        : program.buffers.back().address + program.buffers.back().all_bytes();
            if (needed > host_memory_limit - end) return;
            program.buffers.push_back({.name = name() + "/" + std::to_string(program.buffers.size()),
                                       .kind = kind,
                                       .address = end,
                                       .bytes = needed});
        }
        std::uint32_t before = 0;
        for (const HostBuffer& buffer : program.buffers) {
            if (has_kind(buffer) && before++ == number && buffer.all_bytes() >= needed)
                program.residents.push_back(resident);
        }
    }

    /// A segment that reads and writes some of the buffers; none if there is no buffer to write.
    void add_segment(Program& program) {
        HostSegment segment;
        segment.name = name();
        for (std::uint64_t i = from(0, 2); i > 0; --i) segment.layers.push_back(name());
        if (!segment.layers.empty() && coin()) {
            segment.macs.resize(segment.layers.size(), 0);
            segment.macs[from(0, segment.macs.size() - 1)] = from(1, UINT64_MAX);
        }
        segment.operations = from(0, UINT64_MAX);
        segment.bytes = from(0, UINT64_MAX);
        segment.constant_bytes = from(0, UINT64_MAX);
        for (std::uint32_t i = 0; i < program.buffers.size(); ++i) {
            const HostBuffer& buffer = program.buffers[i];
            const SegmentTensor tensor{.buffer = i, .bytes = from(1, buffer.bytes)};
            const bool is_exchange = buffer.kind == BufferKind::Exchange;
            if (buffer.kind == BufferKind::Input || (is_exchange && coin())) {
                segment.reads.push_back(tensor);
            } else if (buffer.kind == BufferKind::Output || is_exchange) {
                segment.writes.push_back(tensor);
            }
        }
        for (std::uint64_t i = from(0, 3); i > 0; --i) segment.graph += name() + "\n";
        if (!segment.writes.empty()) program.host_segments.push_back(std::move(segment));
    }

    void add_initial_rows(Program& program) {
        std::uint64_t row = 0;
        for (std::uint64_t i = coin() ? 0 : from(0, 2); i > 0; --i) {
            row += from(0, 1000);
            std::vector<InitialRows>& initial = program.initial[MemoryId::UnifiedBuffer];
            initial.push_back({.first_row = row, .values = bytes(from(1, 100), 1)});
            row = rows_of(initial.back(), MemoryId::UnifiedBuffer, program.geometry).last;
        }
        row = 0;
        for (std::uint64_t i = coin() ? 0 : from(0, 2); i > 0; --i) {
            row += from(0, 1000);
            const std::uint64_t rows = from(1, 3);
            program.initial[MemoryId::Accumulators].push_back(
                {.first_row = row,
                 .values = bytes(rows * row_bytes(MemoryId::Accumulators, program.geometry), 4)});
            row += rows;
        }
    }

    /// The unit that a `sync` names; null for other instructions.
    template <class Sync>
    static QueueId* unit_of(Instruction& instruction) {
        auto* const sync = std::get_if<Sync>(&instruction);
        return sync == nullptr ? nullptr : &sync->unit;
    }

    /// One of the units of the program's machine.
    QueueId unit(const Geometry& geometry) {
        using enum QueueId;
        constexpr std::array of_array{HostRead, HostWrite, Weights, Matrix, Activation, Host, WeightWrite};
        constexpr std::array of_tiles{HostRead, HostWrite, Host, Ring, Mesh, Tiles};
        constexpr std::array of_tensor_core{HostRead, HostWrite, Weights, Matrix,    Host,
                                            DmaIn,    DmaOut,    Vector,  CrossLane, Collective};
        if (geometry.has_tensor_core()) return of_tensor_core[from(0, of_tensor_core.size() - 1)];
        if (geometry.has_tiles()) return of_tiles[from(0, of_tiles.size() - 1)];
        return of_array[from(0, of_array.size() - 1)];
    }

    void add_instruction(Program& program) {
        Instruction added = instruction();
        const Geometry& geometry = program.geometry;
        const bool is_of_another_kind = std::visit(
            [&]<class Each>(const Each&) {
                return (is_for_tiles<Each> && !geometry.has_tiles()) ||
                       (is_for_tensor_core<Each> && !geometry.has_tensor_core()) ||
                       (is_for_array<Each> && !geometry.has_unified_buffer());
            },
            added);
        if (is_of_another_kind) return;
        if (auto* run = std::get_if<RunChain>(&added)) {
            if (program.chains.empty()) return;
            run->chain = static_cast<std::uint16_t>(from(0, program.chains.size() - 1));
            const Chain& chain = program.chains[run->chain];
            std::fill(run->sources.begin() + static_cast<std::ptrdiff_t>(chain.sources.size()),
                      run->sources.end(), 0);
            if (chain.results.size() == 1) run->results.back() = 0;
        }
        const std::uint32_t most_units = program.geometry.tiles.lanes / tile_unit_lanes;
        if (auto* sent = std::get_if<Multicast>(&added)) {
            sent->units = static_cast<std::uint8_t>(from(1, most_units));
        }
        if (auto* sent = std::get_if<StreamParameters>(&added)) {
            sent->units = static_cast<std::uint8_t>(from(1, most_units));
        }
        for (QueueId* const unit : {unit_of<SyncWait>(added), unit_of<SyncSignal>(added)}) {
            if (unit != nullptr) *unit = this->unit(program.geometry);
        }
        if (auto* tag = std::get_if<DebugTag>(&added); tag != nullptr && !program.layers.empty()) {
            tag->tag = static_cast<std::uint16_t>(from(0, program.layers.size()));
        }
        if (auto* read = std::get_if<ReadWeights>(&added)) {
            if (program.tiles.empty()) return;
            read->first_tile = number32(0, program.tiles.size() - 1);
            read->tiles = static_cast<std::uint16_t>(from(1, program.tiles.size() - read->first_tile));
        }
        if (auto* write = std::get_if<WriteWeights>(&added)) {
            if (program.tiles.empty()) return;
            write->tile = number32(0, program.tiles.size() - 1);
            const WeightTile& tile = program.tiles[write->tile];
            if (tile.type != DataType::Int8) return;
            write->blocks = static_cast<std::uint16_t>(from(1, std::min(tile.rows, tile.columns)));
            write->rows = static_cast<std::uint16_t>(
                from(1, (write->transposed ? tile.columns : tile.rows) / write->blocks));
            write->columns = static_cast<std::uint16_t>(
                from(1, (write->transposed ? tile.rows : tile.columns) / write->blocks));
        }
        if (auto* work = std::get_if<HostWork>(&added)) {
            if (program.host_segments.empty()) return;
            work->segment = static_cast<std::uint16_t>(from(0, program.host_segments.size() - 1));
            std::uint64_t images = UINT32_MAX;
            const HostSegment& segment = program.host_segments[work->segment];
            for (const auto* tensors : {&segment.reads, &segment.writes}) {
                for (const SegmentTensor& tensor : *tensors) {
                    images = std::min(images, program.buffers[tensor.buffer].bytes / tensor.bytes);
                }
            }
            work->first_inference = number32(0, images - 1);
            work->images = number32(1, images - work->first_inference);
        }
        if (auto* read = std::get_if<ReadHostMemory>(&added); read != nullptr && !program.buffers.empty()) {
            const HostBuffer& buffer = program.buffers[from(0, program.buffers.size() - 1)];
            read->host_address = buffer.address + from(0, buffer.bytes);
        }
        program.instructions.push_back(added);
    }

    std::mt19937_64 engine_;
};

}  // namespace systole::isa::tests
