#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hw/isa/assembly.h"
#include "hw/isa/program.h"
#include "sim/functional/tiles/tile_executor.h"

namespace systole::functional::tests {

using Bytes = std::vector<std::uint8_t>;

/// The stored bytes of numbers.
inline Bytes bytes_of(const std::vector<int>& numbers) {
    Bytes result;
    result.reserve(numbers.size());
    for (const int number : numbers) result.push_back(static_cast<std::uint8_t>(number));
    return result;
}

/// A program on a machine whose tiles have 256 bytes of narrow memory and sums for 64 pixels, or other
/// numbers.
struct TileRun {
    explicit TileRun(isa::Program made, const TileSizes& sizes = {.narrow_bytes = 256, .positions = 64})
        : program(std::move(made)), executor(program, sizes) {}
    explicit TileRun(const std::string& text, const TileSizes& sizes = {.narrow_bytes = 256, .positions = 64})
        : TileRun(isa::assemble(text, "test"), sizes) {}

    Bytes narrow(std::uint64_t tile, std::uint64_t address, std::uint64_t bytes) const {
        const auto part = executor.narrow_memory(tile).subspan(address, bytes);
        return {part.begin(), part.end()};
    }
    Bytes wide(std::uint64_t unit, std::uint64_t units) const {
        const auto part =
            executor.wide_memory().subspan(unit * isa::tile_unit_bytes, units * isa::tile_unit_bytes);
        return {part.begin(), part.end()};
    }
    Bytes host(std::size_t buffer) {
        const auto bytes = executor.host_bytes(program.buffers.at(buffer));
        return {bytes.begin(), bytes.end()};
    }

    const isa::Program program;
    TileExecutor executor;
};

}  // namespace systole::functional::tests
