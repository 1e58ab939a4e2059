#pragma once

#include <string>

#include "hw/common/counter.h"
#include "hw/isa/program.h"

namespace systole::trace {

/// What reports call the work under a tag: the layer's name, "(outside layers)" of tag 0, "tag 7" where the
/// program does not say more.
std::string layer_name(const isa::Program& program, hw::Tag tag);

}  // namespace systole::trace
