#pragma once

#include <cstdint>
#include <string>

#include "hw/isa/program.h"

namespace systole::isa {

/// What reports call the work under a tag: the layer's name, "(outside layers)" of tag 0, "tag 7" where the
/// program does not say more.
std::string layer_name(const Program& program, std::uint16_t tag);

}  // namespace systole::isa
