#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/run/record/record.h"
#include "sim/study/advise/point.h"

/// Which part of a machine binds: what each part needs of the cycles if it never waits.
namespace systole::advise {

/// The bounds of a run over its cycles, or those of a further step over its cycles where the record has one;
/// the largest first, without `macs`, which is of no mapping.
std::vector<Share> shares_of(const run::RunRecord& record);

/// "infeed-bound", "HBM-bound", "weight-shift-bound" of a bound's name.
std::string bound_word(std::string_view name);

/// The share with this name; 0 without it.
double share_named(std::span<const Share> shares, std::string_view name);

/// The images a core of the rule in the article on Colab's TPU: batch = 64 x cores.
inline constexpr std::uint64_t article_images = 64;

/// Below this share of the cycles, a part is called the nearest to binding.
inline constexpr double binding_share = 0.5;

/// From the points of one size with shares, by batch: at which batches which part binds, and what the
/// article's rule gives of the best speed. Nothing of points without shares.
std::vector<std::string> binding_sentences(std::span<const Point> batches);

}  // namespace systole::advise
