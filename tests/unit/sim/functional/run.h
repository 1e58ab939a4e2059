#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "hw/isa/assembly.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"
#include "sim/functional/executor.h"

namespace systole::functional::tests {

using Bytes = std::vector<std::uint8_t>;

/// The smallest machine for programs of that array, with these numbers of rows in its memories.
inline machine::MachineConfig small_machine(const isa::Geometry& array, std::uint32_t buffer_rows,
                                            std::uint32_t accumulator_rows) {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = array.rows;
    machine.matrix_unit.columns = array.columns;
    machine.unified_buffer.rows = buffer_rows;
    machine.accumulators.rows = accumulator_rows;
    return machine;
}

/// A program on a machine of 16 unified-buffer rows and 8 accumulator rows, or as many as are given.
struct Run {
    explicit Run(isa::Program made, std::uint32_t buffer_rows = 16, std::uint32_t accumulator_rows = 8)
        : program(std::move(made)),
          executor(program, small_machine(program.geometry, buffer_rows, accumulator_rows)) {}
    explicit Run(const std::string& text, std::uint32_t buffer_rows = 16)
        : Run(isa::assemble(text, "test"), buffer_rows) {}

    Bytes buffer_row(std::size_t row) const {
        const auto bytes =
            executor.unified_buffer().subspan(row * program.geometry.rows, program.geometry.rows);
        return {bytes.begin(), bytes.end()};
    }
    std::vector<std::int32_t> accumulator_row(std::size_t row) const {
        const auto sums =
            executor.accumulators().subspan(row * program.geometry.columns, program.geometry.columns);
        return {sums.begin(), sums.end()};
    }
    Bytes host(std::size_t buffer) {
        const auto bytes = executor.host_bytes(program.buffers.at(buffer));
        return {bytes.begin(), bytes.end()};
    }

    const isa::Program program;
    Executor executor;
};

/// Random numbers from a seed, which tests print on failure.
class Random {
public:
    explicit Random(unsigned seed) : engine_(seed) {}

    std::uint32_t from(std::uint32_t lowest, std::uint32_t highest) {
        return std::uniform_int_distribution<std::uint32_t>(lowest, highest)(engine_);
    }
    std::uint8_t byte() { return static_cast<std::uint8_t>(from(0, 255)); }
    bool coin() { return from(0, 1) == 1; }
    Bytes bytes(std::size_t count) {
        Bytes result(count);
        for (std::uint8_t& each : result) each = byte();
        return result;
    }

private:
    std::mt19937 engine_;
};

/// Adds a constant of `contents` at the end of the program's host memory, and the instruction that fills
/// the unified buffer with it from row 0 on.
inline void fill_buffer(isa::Program& program, Bytes contents) {
    const std::uint64_t bytes = contents.size();
    std::uint64_t address = 0;
    for (const isa::HostBuffer& buffer : program.buffers) address = buffer.address + buffer.bytes;
    program.buffers.push_back({.name = "contents" + std::to_string(program.buffers.size()),
                               .kind = isa::BufferKind::Constant,
                               .address = address,
                               .bytes = bytes,
                               .contents = std::move(contents)});
    program.instructions.emplace_back(
        isa::ReadHostMemory{.host_address = address, .block_bytes = static_cast<std::uint32_t>(bytes)});
}

}  // namespace systole::functional::tests
