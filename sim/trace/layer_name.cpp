#include "sim/trace/layer_name.h"

#include <fmt/format.h>

namespace systole::trace {

std::string layer_name(const isa::Program& program, hw::Tag tag) {
    if (tag == 0) return "(outside layers)";
    if (tag <= program.layers.size()) return program.layers[tag - 1U].name;
    return fmt::format("tag {}", tag);
}

}  // namespace systole::trace
