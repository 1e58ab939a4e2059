#pragma once

#include <span>
#include <string>

#include "sim/view/page/page.h"

namespace systole::page {

/// A line of titles and a line for each layer of each report, with its figures. Of a layer that repeats
/// (`repeated_layers` of the report), `block` is the name of the block, `repeat` the number of its block and
/// `place` its number in that, both from 1; of other layers, all three are empty. So a table that sums the
/// lines by report, block and place has the layers folded. RFC 4180, with line feeds.
std::string layers_to_csv(std::span<const NamedReport> reports);

}  // namespace systole::page
