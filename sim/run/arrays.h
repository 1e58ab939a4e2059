#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"
#include "sim/run/images.h"
#include "sim/run/input/array_file.h"
#include "sim/run/record/spec.h"

/// Networks of arrays: their inputs and outputs are arrays of any number format, and no images.
namespace systole::run {

/// Whether a network is one of arrays on a machine: the machine computes in floats, and an input or output
/// states the format that it has in files or is int32 or bfloat16, or the network has operators on words or
/// state.
bool takes_arrays(const ir::Graph& graph, const machine::MachineConfig& machine);
/// The same for a program: it says so, or one of its inputs or outputs is not float32, or it has state.
bool takes_arrays(const isa::Program& program, const machine::MachineConfig& machine);

/// Throws ModelError for a network with state or operators on words, with inputs or outputs of bfloat16, or
/// of formats that only files have, on a machine that does not compute in floats.
void check_takes_arrays(const ir::Graph& graph, const machine::MachineConfig& machine);

/// The inputs of a network or program of arrays, in its order; their types are those in files.
std::vector<InputTensor> array_tensors(const ir::Graph& graph);
std::vector<InputTensor> array_tensors(const isa::Program& program);

/// The shape that an input's array has in files, for one inference; replicas share an array, or have parts of
/// one.
std::vector<std::uint32_t> array_shape(const InputTensor& tensor);

/// An array as the values of an input, for as many inferences as it has. `name` leads messages. Throws
/// InputError for another shape.
NamedImages named_array(input::WordArray array, const InputTensor& tensor, const std::string& name);

/// The values of each input, as words: from files for an input by its name or position, from .npz files by
/// the name or position of their arrays ("0", "arr_0"), or from a file for the only input. A number that is a
/// name is no position. All inputs have as many inferences, and those of state have a batch's. The first one
/// has warnings of arrays that are for no input. Throws InputError.
std::vector<NamedImages> read_arrays(const std::vector<InputFile>& files,
                                     const std::vector<InputTensor>& tensors, const std::string& model);

/// Made-up values of an input for so many inferences. Replicas share an array, or have parts of one.
NamedImages random_whole_array(const InputTensor& tensor, std::uint64_t count, std::uint64_t seed);

/// Throws InputError if the run prepares images.
void check_no_preparation(const Preparation& preparation, const std::string& model);

}  // namespace systole::run
