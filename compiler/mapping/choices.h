#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/cycle.h"

namespace systole::mapping {

/// One of the ways to map something.
struct Alternative {
    std::string name =
        {};            ///< what it is known by beside the others: the images of a slice, a block of pixels
    Cycle cycles = 0;  ///< predicted or simulated
    std::string detail = {};
    bool chosen = false;
};

/// What the compiler chose, and from what. Without alternatives it is a remark.
struct Choice {
    std::string of;  ///< what was to be mapped, as a line of text
    std::vector<Alternative> alternatives = {};
    std::size_t left_out = 0;  ///< alternatives that take more cycles than these
};

/// A line for what was to be mapped, and one for each alternative, as `sim compile --explain` prints them.
std::string to_text(const std::vector<Choice>& choices);

}  // namespace systole::mapping
