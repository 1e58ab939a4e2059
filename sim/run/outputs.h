#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "hw/isa/program.h"
#include "sim/run/record/record.h"

/// The answers of a network in forms for other programs and for people.
namespace systole::run {

/// Real numbers of an output of the network, for all inferences, in the order of the network's file.
OutputArray output_array(const ir::Value& output, std::uint64_t inferences, std::vector<float> values);

/// An output of a program, with the stored bytes where they are integers and no work of the host follows.
/// `output` is that of the program's network, or null for a program without one.
OutputArray output_array(const isa::Program& program, const ir::Value* output, const Outputs& outputs,
                         std::span<const std::uint8_t> stored, std::size_t number = 0);

/// An array of a number format, from words. NumPy has no bfloat16: a float32 holds each.
OutputArray array_in_format(std::string name, std::vector<std::uint64_t> shape, DataType type,
                            std::span<const std::uint32_t> words);

/// The words of such an array.
std::vector<std::uint32_t> words_of(const OutputArray& array);

/// An output of a network of arrays (sim/run/arrays.h), for all inferences, or of state for a batch, in
/// words: in its format, bfloat16 as the float32 that it is, and without the number of inferences if that
/// is 1, unless it `keeps_first_axis`, as the file of a network has it. Of several replicas, for each step
/// the whole array. `output` is that of the program's network, or null for a program without one.
OutputArray array_of_words(const isa::Program& program, const ir::Value* output,
                           std::vector<std::uint32_t> words, std::size_t number,
                           bool keeps_first_axis = false);

/// The beginning of an output in its own format, for people. The network's number format may be another one
/// than the array's.
ShownOutput shown_output(const OutputArray& array, DataType type);

/// Adds the outputs that are constants to those that the network computes, each at its place. A constant is
/// the same for all inferences, and has the shape that it has in the file.
void add_constant_outputs(const ir::Graph& graph, std::vector<OutputArray>& arrays);
/// The same for a program of arrays, whose outputs are in their own formats; `types` are those that the
/// network's outputs have.
void add_constant_arrays(const isa::Program& program, std::vector<OutputArray>& arrays,
                         std::vector<DataType>& types);

/// The five best classes, or all if they are fewer, of each of the first inferences: the largest output
/// first, of equals the first.
std::vector<BestClasses> best_classes(const Outputs& outputs, std::span<const std::string> names);

}  // namespace systole::run
