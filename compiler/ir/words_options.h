#pragma once

#include <cstdint>
#include <string>

namespace systole::ir {

/// The numbers of a machine of floats that decide the bits of its answers; attributes of a graph in words say
/// them for each node.
struct WordsOptions {
    std::uint32_t sum_tile = 128;         ///< rows of the array
    std::string precision = "default";    ///< of products: default, high or highest
    std::uint32_t reduction_block = 128;  ///< lanes: numbers that are reduced by halves
};

}  // namespace systole::ir
