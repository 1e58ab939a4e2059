#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hw/isa/program.h"

// The rules of a valid program, checked when it is read from a file or text and before it is written.
namespace systole::isa {

/// Largest number of rows and of columns of an array.
inline constexpr std::uint32_t largest_array_side = 4096;
/// Of a program for tiles.
inline constexpr std::uint32_t largest_tile_side = 16;
inline constexpr std::uint32_t largest_lanes = 256;
/// Of a program for a tensor core.
inline constexpr std::uint32_t largest_tensor_lanes = 1024;
inline constexpr std::uint32_t largest_tensor_cores = 255;

/// The first rule that is broken, with field and value, or nullopt.
std::optional<std::string> broken_rule(const Geometry& geometry);
std::optional<std::string> broken_rule(const TileGrid& grid);
std::optional<std::string> broken_rule(const WeightTile& tile, const Geometry& geometry);
std::optional<std::string> broken_rule(const HostBuffer& buffer);
std::optional<std::string> broken_rule(const BorderTensor& tensor);
std::optional<std::string> broken_rule(const InitialRows& initial, MemoryId memory, const Geometry& geometry);
std::optional<std::string> broken_rule(const HostSegment& segment, const Program& program);
std::optional<std::string> broken_rule(const HostWork& work, const Program& program);
std::optional<std::string> broken_rule(const RunChain& run, const Program& program);
std::optional<std::string> broken_rule(const WriteWeights& write, const Program& program);
std::optional<std::string> broken_rule(const TensorShape& shape);
std::optional<std::string> broken_rule(const StateTensors& state, const Program& program);
std::optional<std::string> broken_rule(const ResidentTensor& resident, const Program& program);
std::optional<std::string> broken_rule(const ConstantOutput& constant);
std::optional<std::string> broken_rule(const Instruction& instruction, const Program& program);

/// Checks the rules of all parts of a program, instructions included, and the rules between parts: host
/// buffers and chains have different names, buffers do not overlap, nor do initial rows of a memory; an input
/// or output is in one state, or stays in memory once and has a buffer for its elements; arrays have whole
/// steps of all replicas; the tiles of `read_weights` and `write_weights` exist, and so do the layers of tags
/// if layers are given, and the segments of `host_work` with their images. Throws ProgramError with part,
/// value and rule.
void validate(const Program& program);

/// Throws ProgramError with the instruction unless each `product` meets weights of its depth and columns: the
/// next ones that were loaded before it, or those of the product before.
void check_products(const Program& program);

/// Throws ProgramError unless the program is for a machine with so many cores, and each `collective`, too.
void check_cores(const Program& program, std::uint32_t cores);

/// Throws ProgramError if an initial sum has not room in an accumulator of `sum_bits` bits.
void check_initial_sums(const Program& program, std::uint32_t sum_bits);

}  // namespace systole::isa
