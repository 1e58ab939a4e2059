#include "sim/run/record/trace_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/user_error.h"
#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"

namespace systole::trace {
namespace {

[[noreturn]] void fail(const std::string& place, std::string_view key, const std::string& value,
                       const std::string& rule) {
    throw machine::ConfigError(fmt::format("{}: trace.{} is {}; {}", place, key, value, rule));
}

}  // namespace

const std::vector<std::string>& trace_kinds() {
    static const std::vector<std::string> kinds{"timeline", "csv", "text", "waves"};
    return kinds;
}

bool TraceConfig::has(std::string_view kind) const {
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

void TraceConfig::validate(const std::string& place) const {
    const std::vector<std::string>& known = trace_kinds();
    for (const std::string& kind : kinds) {
        if (std::find(known.begin(), known.end(), kind) == known.end()) {
            fail(place, "kinds", fmt::format("\"{}\"", kind),
                 "there is no such trace" + suggestion(kind, known));
        }
    }
    if (to != 0 && to <= from) {
        fail(place, "to", fmt::to_string(to),
             fmt::format("the window is empty: it must be above trace.from, {}", from));
    }
    if (has("waves") && !layers.empty()) {
        fail(place, "layers", fmt::format("\"{}\"", layers.front()),
             "it does not apply to waves, as units work for several layers at once; give trace.from and "
             "trace.to");
    }
    if (!has("waves") && !processing_elements.empty()) {
        fail(place, "processing_elements", fmt::format("\"{}\"", processing_elements.front()),
             "waves show registers; give \"waves\" among trace.kinds");
    }
    if (!kinds.empty()) return;
    constexpr const char* no_trace = "it needs a trace: give trace.kinds, too";
    if (from != 0) fail(place, "from", fmt::to_string(from), no_trace);
    if (to != 0) fail(place, "to", fmt::to_string(to), no_trace);
    if (!layers.empty()) fail(place, "layers", fmt::format("\"{}\"", layers.front()), no_trace);
}

}  // namespace systole::trace
