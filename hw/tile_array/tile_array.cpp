#include "hw/tile_array/tile_array.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <variant>

#include "hw/isa/instruction.h"
#include "hw/timing/tiles.h"

namespace systole::hw {
namespace {

Product product_of(const isa::TileMultiply& multiply, const Command& command,
                   const machine::MachineConfig& machine) {
    const isa::Registers& registers = *command.bound.registers;
    const isa::TileGrid grid = timing::grid_of(machine);
    Product product{.instruction = multiply,
                    .registers = command.bound.registers,
                    .grid = grid,
                    .cost = timing::product_cost(multiply, registers, machine),
                    .source = {},
                    .result = {},
                    .window = {},
                    .area = {},
                    .number = command.number,
                    .tag = command.tag};
    if (product.is_dense()) return product;
    product.source = isa::tile_layout(registers, isa::source_registers, grid, multiply.source);
    product.result = isa::tile_layout(registers, isa::result_registers, grid, multiply.result);
    product.window = isa::tile_window(registers);
    product.area = timing::area_of(product.result, multiply.with_margins);
    return product;
}

VectorWork work_of(const isa::TileVector& vector, const Command& command, const isa::TileGrid& grid) {
    const isa::Registers& registers = *command.bound.registers;
    VectorWork work{.instruction = vector,
                    .registers = command.bound.registers,
                    .grid = grid,
                    .source = isa::tile_layout(registers, isa::source_registers, grid, vector.source),
                    .other = {},
                    .result = isa::tile_layout(registers, isa::result_registers, grid, vector.result),
                    .window = vector.is_pooling() ? isa::tile_window(registers) : isa::TileWindow(),
                    .area = {},
                    .number = command.number,
                    .tag = command.tag};
    work.area = timing::area_of(work.result, vector.with_margins);
    if (vector.has_other()) {
        work.other = isa::tile_layout(registers, isa::other_registers, grid, vector.other);
    }
    return work;
}

/// Bytes of a table that an element reads: a byte, or a word for the sum and one for the share.
std::uint64_t table_bytes_read(const isa::TileVector& vector) {
    if (vector.operation == isa::TileOperation::Lookup) return 1;
    return vector.operation == isa::TileOperation::Softmax ? 2 * isa::tile_word : 0;
}

}  // namespace

CommandQueue::WaitCounters TileWaitCounters::by_queue() {
    CommandQueue::WaitCounters waits{};
    const auto set = [&](isa::QueueId queue, Counter& counter) {
        waits[static_cast<std::size_t>(queue)] = &counter;
    };
    set(isa::QueueId::HostRead, host_read_cycles);
    set(isa::QueueId::Ring, ring_cycles);
    set(isa::QueueId::Mesh, mesh_cycles);
    set(isa::QueueId::HostWrite, host_write_cycles);
    set(isa::QueueId::Host, host_cycles);
    set(isa::QueueId::Tiles, tiles_cycles);
    return waits;
}

TileArray::TileArray(const sc_core::sc_module_name& name, const UnitContext& context, WeightParts& weights,
                     const TileMemories& memories, HostMemoryAccess& host_memory)
    : QueuedUnit(name, isa::QueueId::Tiles,
                 {.track = "tiles", .signals = "tile_array.", .is_main = true, .computes = true}, context),
      grid_(timing::grid_of(context.machine)),
      weights_(weights),
      narrow_(memories.narrow),
      wide_(memories.wide),
      host_memory_(host_memory),
      done_(grid_),
      engine_(make_tile_engine({.context = context_,
                                .queue = context.queue(isa::QueueId::Tiles),
                                .narrow = narrow_,
                                .wide = wide_,
                                .counters = done_})) {
    register_counters(counters());
    register_counters(std::string(basename()) + ".work", done_.work);
    register_counters(std::string(basename()) + ".waits", waits_);
    queue().count_waits(waits_.by_queue());
    register_details(std::string(basename()) + ".macs", done_.each);
    start("tiles", [this](const Command& command) { execute(command); });
}

void TileArray::execute(const Command& command) {
    begin();
    narrow_.touch(command.bound.footprint);
    const isa::Instruction& instruction = command.bound.instruction;
    if (const auto* const multiply_fields = std::get_if<isa::TileMultiply>(&instruction)) {
        multiply(product_of(*multiply_fields, command, context_.machine));
    } else if (const auto* const vector = std::get_if<isa::TileVector>(&instruction)) {
        const VectorWork work = work_of(*vector, command, grid_);
        engine_->vector(work);
        const std::uint64_t results = isa::pixels_in_image(work.result, work.area) * work.result.channels;
        const std::uint64_t operands = vector->has_other() ? 2 : 1;
        const std::uint64_t steps =
            timing::vector_steps(*vector, *command.bound.registers, context_.machine).of_element;
        narrow_.count_reads(results * operands * steps, command.tag);
        done_.work.read_bytes.add(results * operands * steps, command.tag);
        narrow_.count_writes(results, command.tag);
        wide_.count_reads(results * table_bytes_read(*vector), command.tag);
    } else {
        throw std::logic_error("an instruction that is not the tiles'");
    }
    const Cycle now = context_.clock.now();
    complete(now, now + context_.machine.tile_array.result_cycles);
}

void TileArray::multiply(const Product& product) {
    count_moves(product);
    if (product.is_dense()) {
        engine_->dense(product);
        return;
    }
    engine_->begin(product, parameters_of(product));
    const isa::WeightBlocks& blocks = product.cost.blocks;
    const timing::BlockParts parts = timing::block_parts(blocks.rows(), context_.machine);
    std::uint64_t macs = 0;
    for (std::uint64_t repeat = 0; repeat < product.cost.repeats(); ++repeat) {
        for (std::uint64_t group = 0; group < blocks.groups; ++group) {
            for (std::uint64_t part = 0; part < parts.count(); ++part) {
                counters_.spend(counters_.busy_cycles, context_.clock.now(), product.tag);
                const WeightPart& weights = weights_.next();
                stalled(counters_.ring_stall_cycles);
                const ProductPart arrived{.repeat = repeat,
                                          .group = group,
                                          .ends_block = part + 1 == parts.count(),
                                          .weights = weights,
                                          .macs_before = macs};
                check_part(product, arrived, parts.begin(part), parts.rows_of(part));
                engine_->part(product, arrived);
                if (product.instruction.product == isa::TileProduct::Depthwise) {
                    macs += depthwise_macs_of(product, arrived);
                }
                weights_.release();
            }
        }
    }
    engine_->end(product);
}

void TileArray::check_part(const Product& product, const ProductPart& part, std::uint64_t first_row,
                           std::uint64_t rows) const {
    const isa::WeightBlocks& blocks = product.cost.blocks;
    const isa::TileMultiply& multiply = product.instruction;
    const std::uint64_t block =
        multiply.parameters + part.group * (multiply.streamed ? blocks.block_bytes() : blocks.block_units());
    const WeightPart& weights = part.weights;
    if (weights.streamed == multiply.streamed && weights.block == block && weights.first_row == first_row &&
        weights.rows == rows && weights.row_units == blocks.row_units()) {
        return;
    }
    const auto place = [](bool streamed) { return streamed ? "host byte" : "unit"; };
    throw InstructionError(
        product.number,
        fmt::format("the next weights on the ring are rows {} to {} of the block at {} {}, {} units each; it "
                    "needs rows "
                    "{} to {} of the one at {} {}, {} units each",
                    weights.first_row, weights.first_row + weights.rows - 1, place(weights.streamed),
                    weights.block, weights.row_units, first_row, first_row + rows - 1,
                    place(multiply.streamed), block, blocks.row_units()));
}

const std::uint8_t* TileArray::parameters_of(const Product& product) {
    const isa::TileMultiply& multiply = product.instruction;
    const isa::WeightBlocks& blocks = product.cost.blocks;
    if (multiply.streamed) {
        const std::uint64_t bytes = blocks.block_bytes() * blocks.groups;
        if (!host_memory_.has(multiply.parameters, bytes)) {
            throw InstructionError(product.number,
                                   fmt::format("host bytes {} to {} lie in none of the program's buffers",
                                               multiply.parameters, multiply.parameters + bytes - 1));
        }
        return context_.computes_values() ? host_memory_.host_bytes(multiply.parameters, bytes) : nullptr;
    }
    return context_.computes_values() ? wide_.from_unit(multiply.parameters) : nullptr;
}

void TileArray::count_moves(const Product& product) {
    const isa::WeightBlocks& blocks = product.cost.blocks;
    const std::uint64_t results = product.cost.all_pixels * blocks.outputs;
    std::uint64_t words = product.cost.all_pixels * blocks.groups * blocks.weight_rows;
    if (product.is_dense()) {
        words = blocks.groups * blocks.weight_rows;
        wide_.count_reads(blocks.groups * blocks.block_bytes(), product.tag);
        done_.work.dense_bytes.add(blocks.groups * blocks.weight_rows * blocks.row_bytes(), product.tag);
    }
    // A depthwise product reads an element for each product.
    const std::uint64_t read = product.instruction.product == isa::TileProduct::Depthwise
                                   ? results * blocks.weights
                                   : words * isa::tile_word;
    narrow_.count_reads(read, product.tag);
    done_.work.read_bytes.add(read, product.tag);
    narrow_.count_writes(results, product.tag);
}

}  // namespace systole::hw
