#pragma once

#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "sim/study/advise/point.h"

/// When a TPU is the wrong machine: for work that its array does not do, or does several times over. Google's
/// list has element-wise work, sparse access, high precision and branches; what shows them is measured.
namespace systole::advise {

/// Below this share of the cycles, the array has next to nothing to do.
inline constexpr double idle_array = 0.1;
/// So many passes for a product, on average, are high precision: bfloat16 takes one.
inline constexpr double many_passes = 1.5;
/// So many comparisons for an element that is looked up are more than to read it.
inline constexpr std::uint64_t many_comparisons = 16;
/// From this share of the work on that branches do and nobody keeps.
inline constexpr double much_discarded = 0.25;

/// Why a machine with tensor cores is the wrong one for a network at its best batch, a sentence for each
/// reason; none where it is not. A run that waits for its input, for other cores or for weights of a batch
/// with few rows is none of these: its batch or its input is wrong.
std::vector<std::string> wrong_machine_sentences(const std::string& machine, const std::string& model,
                                                 const Point& best, const ir::Detours& detours);

}  // namespace systole::advise
