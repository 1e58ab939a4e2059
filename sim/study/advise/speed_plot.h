#pragma once

#include <string>

#include "sim/study/advise/advise.h"

namespace systole::advise {

/// The speed over the batch, as SVG: each point has the colour and the form of the part that binds there, and
/// a line stands at the article's batch, 64 x cores. Colours are those of the page, --part0 and on. Empty
/// without points that say which part binds.
std::string speed_plot(const Advice& advice);

/// How many colours it takes from the page.
inline constexpr int part_colours = 6;

}  // namespace systole::advise
