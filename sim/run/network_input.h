#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/ir/graph.h"
#include "hw/isa/program.h"
#include "sim/run/images.h"
#include "sim/run/record/record.h"
#include "sim/run/record/spec.h"

/// The run's values of the inputs of its network or program.
namespace systole::run {

/// Batch and number of inferences: as many as there are images; without images the limit, or one batch. The
/// batch of a program for several replicas is a step of them, unless the run states another, which the
/// compiler refuses.
compiler::Batches batches_of(const RunSpec& spec, const ir::Graph& graph,
                             const std::vector<NamedImages>& inputs);

/// How the run's pixels become numbers of each input of the network, as it was read. Where the run does not
/// say it, pixels stay from 0 to 255 if the network scales them itself.
std::vector<Normalization> normalizations_of(const RunSpec& spec, const ir::Graph& graph);

/// The same for all inputs of a program.
Normalization program_normalization(const RunSpec& spec);

/// The run's values of each input of the network or program `name`, up to its limit; none if the run names
/// none. Throws InputError.
std::vector<NamedImages> read_input(const RunSpec& spec, const std::vector<InputTensor>& tensors,
                                    const std::string& name);

/// The same for a network, or the made-up input that the run requests instead: as many images as the limit,
/// else one batch.
std::vector<NamedImages> read_input(const RunSpec& spec, const ir::Graph& graph);

/// The values of each input of a network or program of arrays (sim/run/arrays.h): those of files up to the
/// run's limit, or `count` made-up ones, of state those of a batch; none if the run names none. Throws
/// InputError, or ConfigError for a limit that is no whole steps of all replicas.
std::vector<NamedImages> array_inputs(const RunSpec& spec, const std::vector<InputTensor>& tensors,
                                      const std::string& name, std::uint64_t count);

/// Made-up values of each input.
std::vector<NamedImages> random_inputs(const RunSpec& spec, const std::vector<InputTensor>& tensors,
                                       std::uint64_t count);

/// The inputs whose pixels go in from 0 to 255, because the network scales them and the run does not say
/// otherwise.
std::vector<PixelScaling> own_scaling(const RunSpec& spec, const ir::Graph& graph,
                                      const std::vector<NamedImages>& inputs);

/// Warnings about the files of the inputs.
std::vector<std::string> file_warnings(const std::vector<NamedImages>& inputs);

/// Warnings for images of another scale than they are expected in: by a float network, or as the program's
/// inputs `tensors` store them. No graph: there is no network; no tensors: no program yet. None if the run
/// reads no image files or computes no values.
std::vector<std::string> scale_warnings(const RunSpec& spec, const ir::Graph* graph,
                                        std::span<const isa::BorderTensor> tensors,
                                        const std::vector<NamedImages>& inputs);

/// Warnings for numbers that the program's inputs `tensors` store badly: most of those besides 0 become 0, or
/// numbers are far outside of the range. None if the run computes no values.
std::vector<std::string> storage_warnings(const RunSpec& spec, std::span<const isa::BorderTensor> tensors,
                                          const std::vector<NamedImages>& inputs);

}  // namespace systole::run
