#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/data_type.h"
#include "hw/isa/program.h"
#include "sim/run/baselines/baseline.h"
#include "sim/run/record/record.h"

/// The host model: computes and times the work that the chip leaves to the host.
namespace systole::run {

/// The kinds of isa::HostOperation that the host knows. Throws ProgramError for any other.
void check_host_operations(const isa::Program& program);

/// The seconds that the work takes on one die of `host`: one layer, launched in each call
/// (baselines::work_costs).
double host_seconds(const HostWork& work, const baselines::Baseline& host);

/// Whether the output has classes: it is a vector of two or more elements.
bool gives_classes(const isa::BorderTensor& output);

/// The output whose largest element is a class: the only one that has classes; of a network of arrays
/// (sim/run/arrays.h), those are floats. State has none, nor have arrays that several replicas share. Absent
/// if there is none, or more than one.
std::optional<std::size_t> class_output(const isa::Program& program, bool of_arrays = false);

/// How often the host works on inputs, and on outputs: once for each batch.
std::uint64_t host_calls(const isa::Program& program);

/// The operations that the program leaves to the host, on all its outputs.
std::vector<HostWork> output_work(const isa::Program& program);

/// From the stored bytes of an output of the program to the network's answers. Predictions are those of the
/// output that has classes.
Outputs read_outputs(const isa::Program& program, std::span<const std::uint8_t> stored,
                     std::size_t output = 0);

/// The same for an output of a network of arrays, in words; without the host's operations. Few of such
/// networks classify: predictions are made if they are asked for.
Outputs read_word_outputs(const isa::Program& program, std::span<const std::uint32_t> words,
                          std::size_t output, bool with_predictions);

/// The number that a word of this format is.
double number_of_word(std::uint32_t word, DataType type);

/// The share of predictions that are the labels; both of the same, nonzero number.
double accuracy(std::span<const std::uint32_t> predictions, std::span<const std::uint32_t> labels);

}  // namespace systole::run
