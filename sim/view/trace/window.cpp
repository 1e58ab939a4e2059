#include "sim/view/trace/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include "base/user_error.h"
#include "hw/isa/program.h"
#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"

namespace systole::trace {
namespace {

/// The names of all tags that the program may use, by tag.
std::vector<std::string> names_by_tag(const isa::Program& program) {
    std::size_t last = program.layers.size();
    for (const isa::Instruction& instruction : program.instructions) {
        if (const auto* debug = std::get_if<isa::DebugTag>(&instruction)) {
            last = std::max<std::size_t>(last, debug->tag);
        }
    }
    std::vector<std::string> names;
    for (std::size_t tag = 0; tag <= last; ++tag) {
        names.push_back(isa::layer_name(program, static_cast<hw::Tag>(tag)));
    }
    return names;
}

void choose(const std::string& layer, const std::vector<std::string>& names, std::vector<bool>& chosen) {
    bool found = false;
    for (std::size_t tag = 0; tag < names.size(); ++tag) {
        if (names[tag] != layer) continue;
        chosen[tag] = true;
        found = true;
    }
    if (found) return;
    throw machine::ConfigError(fmt::format("trace.layers is \"{}\"; the program has no such layer{}", layer,
                                           suggestion(layer, names)));
}

}  // namespace

Window::Window(const TraceConfig& config, const isa::Program& program)
    : from_(config.from), to_(config.to != 0 ? config.to : std::numeric_limits<Cycle>::max()) {
    if (config.layers.empty()) return;
    const std::vector<std::string> names = names_by_tag(program);
    tags_.resize(names.size());
    for (const std::string& layer : config.layers) choose(layer, names, tags_);
}

}  // namespace systole::trace
