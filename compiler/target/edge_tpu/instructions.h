#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/target/edge_tpu/network.h"
#include "hw/isa/instruction.h"
#include "hw/isa/interpolation.h"
#include "hw/isa/registers.h"
#include "hw/isa/weight_blocks.h"

namespace systole::edge_tpu {

/// A register that an instruction needs. Values of the network, such as zero points, are written in each
/// layer, so that the number of instructions depends on shapes alone.
struct RegisterValue {
    isa::Register reg;
    std::uint32_t value = 0;
    bool of_network = false;
};
using RegisterValues = std::vector<RegisterValue>;

/// The registers that describe a part of a tensor as an image or, of forms other than Image, as one pixel.
void add_source(const Network& network, const Part& part, RegisterValues& values);
void add_result(const Network& network, const Part& part, RegisterValues& values);
std::uint32_t address_of(const Network& network, const Part& part);

/// tile_multiply of a step, without the place of its parameters, and its registers.
struct ProductInstruction {
    isa::TileMultiply multiply;
    RegisterValues registers;
    isa::WeightBlocks blocks;
};
ProductInstruction product_of(const Network& network, const Step& step);

struct VectorInstruction {
    isa::TileVector vector;
    RegisterValues registers;
};
VectorInstruction vector_of(const Network& network, const Step& step);

/// What a Vector step's instruction interpolates by.
isa::Interpolation interpolation_of(const ir::Graph& graph, const Step& step);

struct MoveInstruction {
    isa::Move move;
    RegisterValues registers;
};
MoveInstruction move_of(const Network& network, const Step& step);

struct PermuteInstruction {
    isa::Permute permute;
    RegisterValues registers;
};
PermuteInstruction permute_of(const Network& network, const Step& step);

/// The table of a Vector step; empty if it has none. Zeros in a graph without weights.
std::vector<std::uint8_t> table_of(const Network& network, const Step& step);

/// The stored numbers of a Read step's constant, one for each element of the result.
std::vector<std::uint8_t> constant_image(const Network& network, const Step& step);

/// The block of a group, of the graph's weights; zeros in a graph without weights.
std::vector<std::uint8_t> block_of(const Network& network, const Step& step,
                                   const ProductInstruction& product, std::uint64_t group);

}  // namespace systole::edge_tpu
