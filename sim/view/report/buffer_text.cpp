// The contents of host buffers for a terminal.
#include <fmt/format.h>

#include <algorithm>

#include "sim/view/report/report.h"

namespace systole::report {
namespace {

/// As many columns as fit a line: a power of two, at most 16.
std::uint64_t fitting_columns(std::size_t index_width, std::size_t value_width, std::size_t line) {
    std::uint64_t columns = 16;
    while (columns > 1 && index_width + 3 + columns * (value_width + 1) > line) columns /= 2;
    return columns;
}

}  // namespace

std::string buffer_text(const run::BufferContents& buffer, const terminal::Look& look) {
    std::size_t value_width = 1;
    for (const std::int64_t value : buffer.values) {
        value_width = std::max(value_width, fmt::formatted_size("{}", value));
    }
    const std::size_t index_width = fmt::formatted_size("{}", buffer.values.size());
    const std::uint64_t columns =
        buffer.columns > 0 ? buffer.columns : fitting_columns(index_width, value_width, look.width());
    std::string text = look.paint(terminal::Role::Heading, fmt::format("Buffer {}", buffer.name)) +
                       fmt::format(": {} {}\n", buffer.values.size(), buffer.type);
    for (std::size_t i = 0; i < buffer.values.size(); ++i) {
        if (i % columns == 0) text += fmt::format("  {:>{}}:", i, index_width);
        text += fmt::format(" {:>{}}", buffer.values[i], value_width);
        if (i % columns == columns - 1 || i + 1 == buffer.values.size()) text += '\n';
    }
    return text;
}

}  // namespace systole::report
