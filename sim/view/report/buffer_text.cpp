// The contents of host buffers for a terminal.
#include <fmt/format.h>

#include <algorithm>

#include "base/data_type.h"
#include "sim/view/report/texts.h"

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
    // As many digits as tell float32 apart; all whole numbers of 32 bits have their own.
    const bool is_real = buffer.type == name_of(DataType::Float32);
    const auto text_of = [&](double value) {
        return is_real ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{:.0f}", value);
    };
    std::size_t value_width = 1;
    for (const double value : buffer.values) value_width = std::max(value_width, text_of(value).size());
    const std::size_t index_width = fmt::formatted_size("{}", buffer.values.size());
    const std::uint64_t columns =
        buffer.columns > 0 ? buffer.columns : fitting_columns(index_width, value_width, look.width());
    std::string text = look.paint(terminal::Role::Heading, fmt::format("Buffer {}", buffer.name)) +
                       fmt::format(": {} {}\n", buffer.values.size(), buffer.type);
    for (std::size_t i = 0; i < buffer.values.size(); ++i) {
        if (i % columns == 0) text += fmt::format("  {:>{}}:", i, index_width);
        text += fmt::format(" {:>{}}", text_of(buffer.values[i]), value_width);
        if (i % columns == columns - 1 || i + 1 == buffer.values.size()) text += '\n';
    }
    return text;
}

}  // namespace systole::report
