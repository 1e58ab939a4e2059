#include "sim/view/trace/old_traces.h"

#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "sim/view/trace/tracer.h"

namespace systole::trace {
namespace {

namespace fs = std::filesystem;

bool begins_with(const fs::path& path, std::string_view begin) {
    std::ifstream file(path, std::ios::binary);
    std::string text(begin.size(), '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    return file && text == begin;
}

}  // namespace

void remove_old_traces(const TraceConfig& config, const fs::path& folder) noexcept {
    for (const TraceFile& trace : trace_files) {
        if (config.has(trace.kind)) continue;
        std::error_code error;
        const fs::path path = folder / trace.name;
        const bool is_file = fs::is_regular_file(fs::symlink_status(path, error));
        if (is_file && begins_with(path, trace.begins)) fs::remove(path, error);
    }
}

}  // namespace systole::trace
