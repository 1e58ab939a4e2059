#pragma once

#include <string>
#include <vector>

#include "sim/study/validate/results.h"

namespace systole::validate {

/// A picture of the page.
struct Plot {
    std::string name;  ///< of the file, without extension, and of the placeholder in the page
    std::string alt;   ///< what it shows, in words
    std::string svg;
};

std::vector<Plot> all_plots(const Results& results);

}  // namespace systole::validate
