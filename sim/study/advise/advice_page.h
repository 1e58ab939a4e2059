#pragma once

#include <string>

#include "sim/study/advise/advise.h"

namespace systole::advise {

/// The advice as a page in one file: the sentences, a plot of the share of the peak over the batch with a
/// line for each size of images, and the table.
std::string to_html(const Advice& advice);

}  // namespace systole::advise
