#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <variant>

#include "base/cycle.h"
#include "base/data_type.h"
#include "hw/isa/instruction.h"
#include "hw/isa/multipliers.h"
#include "hw/isa/operands.h"
#include "hw/isa/program.h"
#include "hw/isa/registers.h"
#include "hw/machine/machine_config.h"
#include "hw/timing/activation_unit.h"
#include "hw/timing/matrix_unit.h"
#include "hw/timing/transfers.h"

/// The costs of docs/timing.md, counted access by access, row by row and cycle by cycle. The units use the
/// formulas of hw/timing, so comparing units and formulas would not find a wrong formula; comparing with
/// these does.
namespace systole::tests::walked {

using isa::Register;

/// Accesses of up to `row_bytes` consecutive bytes.
inline std::uint64_t accesses(std::uint64_t bytes, std::uint64_t row_bytes) {
    std::uint64_t count = 0;
    for (std::uint64_t at = 0; at < bytes; at += row_bytes) ++count;
    return count;
}

/// Accesses that fetch these bytes of each of a line's windows.
inline std::uint64_t window_accesses(std::uint64_t windows, std::uint64_t bytes, std::uint64_t stride,
                                     std::uint64_t row_bytes) {
    std::uint64_t end = 0;
    std::uint64_t apart = 0;
    for (std::uint64_t window = 0; window < windows; ++window) {
        end = window * stride + bytes;
        apart += accesses(bytes, row_bytes);
    }
    return std::min(accesses(end, row_bytes), apart);
}

/// Whole cycles in which this number of bytes pass, from the beginning of a cycle on.
inline Cycle transfer_cycles(std::uint64_t bytes, const Rate& rate) {
    Cycle cycles = 0;
    std::uint64_t parts = 0;
    for (std::uint64_t byte = 0; byte < bytes; ++byte) {
        for (parts += rate.cycles; parts >= rate.bytes; parts -= rate.bytes) ++cycles;
    }
    return cycles;
}

template <class Transfer>
timing::HostTransferCost host_transfer(const Transfer& transfer, const Rate& rate,
                                       const machine::MachineConfig& machine) {
    timing::HostTransferCost cost;
    for (std::uint64_t block = 0; block < transfer.blocks; ++block) {
        cost.bytes += transfer.block_bytes;
        cost.buffer_accesses += accesses(transfer.block_bytes, machine.matrix_unit.rows);
    }
    cost.cycles = transfer_cycles(cost.bytes, rate);
    return cost;
}

inline timing::TileFetchCost tile_fetch(std::span<const isa::WeightTile> tiles,
                                        const machine::MachineConfig& machine) {
    timing::TileFetchCost cost;
    for (const isa::WeightTile& tile : tiles) {
        for (std::uint32_t row = 0; row < machine.matrix_unit.rows; ++row) {
            if (!machine.weight_memory.whole_tiles && row >= tile.rows) break;
            cost.bytes += std::uint64_t{machine.matrix_unit.columns} * bytes_of(tile.type);
        }
    }
    cost.cycles = machine.weight_memory.latency_cycles + transfer_cycles(cost.bytes, machine.weight_rate());
    // A memory that a weight writer shares answers two cycles later, or more.
    if (machine.weight_memory.writable && cost.cycles < 2) cost.cycles = 2;
    return cost;
}

inline timing::TileWriteCost tile_write(const isa::WriteWeights& write, const isa::WeightTile& tile,
                                        const machine::MachineConfig& machine) {
    timing::TileWriteCost cost;
    for (std::uint64_t row = 0; row < write.rows; ++row) {
        std::set<std::uint64_t> touched;
        for (std::uint64_t i = 0; i < std::uint64_t{write.blocks} * write.columns; ++i) {
            touched.insert((write.first_byte + row * write.stride + i) / machine.matrix_unit.rows);
        }
        cost.buffer_accesses += touched.size();
    }
    const std::uint32_t rows = machine.weight_memory.whole_tiles ? machine.matrix_unit.rows : tile.rows;
    cost.bytes = std::uint64_t{rows} * machine.matrix_unit.columns;
    const Cycle moves = machine.weight_memory.writable.value().latency_cycles +
                        transfer_cycles(cost.bytes, machine.weight_write_rate());
    cost.cycles = cost.buffer_accesses + (moves < 2 ? 2 : moves);
    return cost;
}

/// The cost of one repetition of a matmul or convolve, from its first cycle in the array on.
struct Stream {
    Cycle input_cycles = 0;  ///< with input
    Cycle span = 0;          ///< until the next stream may enter
    Cycle complete = 0;
    std::uint64_t fetches = 0;
};

inline std::uint64_t line_fetches(const isa::Convolve& convolve, const isa::Registers& registers,
                                  std::uint32_t repetition, std::uint64_t array_rows) {
    const std::uint64_t element_bytes = bytes_of(convolve.flags.activations);
    const std::uint64_t channels = registers[Register::WindowChannels];
    const std::uint64_t kernel_row = registers[Register::WindowKernelWidth] * channels;
    const std::uint64_t window = registers[Register::WindowKernelHeight] * kernel_row;
    const std::uint64_t first = (registers[Register::WindowTile] + repetition) * array_rows;
    std::uint64_t fetches = 0;
    std::uint64_t run = 0;  // elements of one kernel row
    for (std::uint64_t element = first; element < std::min(first + array_rows, window); ++element) {
        ++run;
        const std::uint64_t next = element + 1;
        if (next % kernel_row != 0 && next != std::min(first + array_rows, window)) continue;
        fetches += window_accesses(registers[Register::WindowOutputWidth], run * element_bytes,
                                   registers[Register::WindowStrideX] * channels * element_bytes, array_rows);
        run = 0;
    }
    return fetches;
}

inline Stream stream(const isa::Instruction& instruction, const isa::Registers& registers,
                     std::uint32_t repetition, const machine::MachineConfig& machine) {
    const machine::MatrixUnitConfig& array = machine.matrix_unit;
    const isa::MatrixFlags& flags = *isa::matrix_flags(instruction);
    std::uint64_t lines = 0;
    std::uint64_t line_rows = 1;
    std::uint64_t fetches = bytes_of(flags.activations);  // a row of the buffer for each byte
    if (const auto* multiply = std::get_if<isa::MatrixMultiply>(&instruction)) {
        lines = multiply->length;
    } else {
        const auto& convolve = std::get<isa::Convolve>(instruction);
        lines = convolve.lines;
        line_rows = registers[Register::WindowOutputWidth];
        fetches = line_fetches(convolve, registers, repetition, array.rows);
    }
    Cycle passes = 0;
    for (const machine::MatrixFormat& format : array.formats) {
        if (format.activations == flags.activations && format.weights == flags.weights)
            passes = format.passes;
    }
    Stream result;
    Cycle last_pass = 0;
    for (std::uint64_t line = 0; line < lines; ++line) {
        Cycle collecting = 0;
        for (std::uint64_t left = fetches; left > 0; ++collecting) {
            left -= std::min<std::uint64_t>(left, machine.systolic_data_setup.fetches_per_cycle);
        }
        Cycle cycle = 0;
        for (std::uint64_t row = 0; row < line_rows; ++row) {
            for (Cycle pass = 0; pass < passes; ++pass) last_pass = result.span + cycle++;
        }
        result.input_cycles += cycle;
        result.span += std::max(cycle, collecting);
        result.fetches += fetches;
    }
    Cycle written = last_pass + array.setup_cycles + machine.accumulators.write_cycles;
    for (std::uint32_t row = 0; row < array.rows; row += array.cells_per_stage) {
        written += array.mac_latency_cycles;
    }
    for (std::uint32_t column = array.cells_per_stage; column < array.columns;
         column += array.cells_per_stage) {
        ++written;
    }
    result.complete = std::max(written, result.span);
    return result;
}

inline timing::ActivationCost activation(const isa::Activate& activate, const isa::Registers& registers,
                                         const machine::MachineConfig& machine) {
    const std::uint64_t row_bytes = machine.matrix_unit.rows;
    const std::uint64_t columns = registers[Register::ActivationColumns];
    const bool looks_up = activate.function == isa::ActivationFunction::Lookup;
    timing::ActivationCost cost;
    if (activate.load_parameters) {
        cost.loads = accesses(isa::parameter_bytes(activate.multipliers) * columns, row_bytes);
        if (looks_up) cost.loads += accesses(isa::table_bytes(activate.output), row_bytes);
    }
    cost.cycles = cost.buffer_reads = cost.loads;
    for (std::uint64_t row = 0; row < activate.length; ++row) {
        std::uint64_t writes = 0;
        const std::uint64_t width = registers[Register::BlockWidth];
        const std::uint64_t height = registers[Register::BlockHeight];
        for (std::uint64_t line = 0; line < height; ++line) {  // of the block, also outside the image
            writes += window_accesses(width, columns / (width * height) * bytes_of(activate.output),
                                      registers[Register::ActivationPixelBytes], row_bytes);
        }
        ++cost.accumulator_reads;
        cost.cycles += writes;
        cost.buffer_writes += writes;
        cost.elements += columns;
        if (looks_up) cost.lookups += columns;
    }
    return cost;
}

inline timing::ActivationCost activation(const isa::Vector& vector, const isa::Registers& registers,
                                         const machine::MachineConfig& machine) {
    const std::uint64_t row_bytes = machine.matrix_unit.rows;
    timing::ActivationCost cost;
    if (vector.operation == isa::VectorOperation::Lookup) {
        cost.buffer_reads = cost.loads = accesses(isa::table_bytes(vector.elements), row_bytes);
    }
    const std::uint64_t channels = registers[Register::WindowChannels];
    const std::uint64_t width = registers[Register::WindowOutputWidth];
    for (std::uint64_t line = 0; line < vector.length; ++line) {
        switch (vector.operation) {
            case isa::VectorOperation::Add:
            case isa::VectorOperation::Multiply:
                cost.buffer_reads += 2;
                cost.buffer_writes += 1;
                cost.operand_elements += 2 * row_bytes;
                break;
            case isa::VectorOperation::Lookup:
                cost.buffer_reads += 1;
                cost.buffer_writes += 1;
                cost.lookups += row_bytes;
                break;
            case isa::VectorOperation::MaxPool:
            case isa::VectorOperation::AveragePool:
                for (std::uint32_t row = 0; row < registers[Register::WindowKernelHeight]; ++row) {
                    const std::uint64_t elements = registers[Register::WindowKernelWidth] * channels;
                    cost.buffer_reads += window_accesses(
                        width, elements, registers[Register::WindowStrideX] * channels, row_bytes);
                    cost.pooled_elements += width * elements;
                }
                cost.buffer_writes += accesses(width * channels, row_bytes);
                break;
        }
    }
    // Bytes until here: of 16-bit elements, one may lie in two rows.
    cost.operand_elements /= bytes_of(vector.elements);
    cost.lookups /= bytes_of(vector.elements);
    cost.cycles = std::max(cost.buffer_reads, cost.buffer_writes);
    return cost;
}

}  // namespace systole::tests::walked
