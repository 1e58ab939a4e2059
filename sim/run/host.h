#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hw/isa/program.h"
#include "sim/run/baselines/baseline.h"
#include "sim/run/record/record.h"

/// The host model: computes and times the work that the chip leaves to the host.
namespace systole::run {

/// The kinds of isa::HostOperation that the host knows. Throws ProgramError for any other.
void check_host_operations(const isa::Program& program);

/// Lower bound of the seconds that the work takes on one die of `host`, by its roofline.
double host_seconds(const HostWork& work, const baselines::Baseline& host);

/// Whether the output has classes: it is a vector of two or more elements.
bool gives_classes(const isa::BorderTensor& output);

/// The operations that the program leaves to the host, on all its outputs.
std::vector<HostWork> output_work(const isa::Program& program);

/// From the stored bytes of the program's output tensor to the network's answers.
Outputs read_outputs(const isa::Program& program, std::span<const std::uint8_t> stored);

/// The share of predictions that are the labels; both of the same, nonzero number.
double accuracy(std::span<const std::uint32_t> predictions, std::span<const std::uint32_t> labels);

}  // namespace systole::run
