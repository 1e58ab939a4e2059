#include "sim/view/trace/processing_elements.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <set>
#include <string_view>

#include "hw/machine/config_error.h"

namespace systole::trace {
namespace {

struct IndexRange {
    std::size_t first = 0;
    std::size_t last = 0;
};

[[noreturn]] void fail(const std::string& text, const std::string& rule) {
    throw machine::ConfigError(fmt::format("trace.processing_elements is \"{}\"; {}", text, rule));
}

std::optional<std::size_t> read_index(std::string_view digits) {
    std::size_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stopped, error] = std::from_chars(digits.data(), end, value);
    if (error != std::errc() || stopped != end) return std::nullopt;
    return value;
}

/// "3", or "0-3".
IndexRange read_range(std::string_view part, const std::string& text) {
    const std::size_t dash = part.find('-');
    const std::optional<std::size_t> first = read_index(part.substr(0, dash));
    const std::optional<std::size_t> last =
        dash == std::string_view::npos ? first : read_index(part.substr(dash + 1));
    if (!first || !last) fail(text, "it must be ROW,COLUMN, as in 0,3, or ranges of them, as in 0-1,2-3");
    if (*last < *first) fail(text, "the end of a range is before its beginning");
    return {*first, *last};
}

void check_inside(const IndexRange& range, std::size_t count, std::string_view what,
                  const std::string& text) {
    if (range.last < count) return;
    fail(text, fmt::format("the array has {} {}, numbered from 0 to {}", count, what, count - 1));
}

}  // namespace

std::vector<Cell> read_cells(const std::vector<std::string>& texts, const machine::MachineConfig& machine) {
    if (texts.empty()) return {};
    if (const auto reason = machine.no_cells_reason()) fail(texts.front(), *reason);
    std::set<Cell> cells;
    for (const std::string& text : texts) {
        const std::string_view whole = text;
        const std::size_t comma = whole.find(',');
        if (comma == std::string_view::npos) fail(text, "it must be ROW,COLUMN, as in 0,3");
        const IndexRange rows = read_range(whole.substr(0, comma), text);
        const IndexRange columns = read_range(whole.substr(comma + 1), text);
        check_inside(rows, machine.matrix_unit.rows, "rows", text);
        check_inside(columns, machine.matrix_unit.columns, "columns", text);
        for (std::size_t row = rows.first; row <= rows.last; ++row) {
            for (std::size_t column = columns.first; column <= columns.last; ++column) {
                cells.insert({row, column});
                if (cells.size() > most_cells) {
                    fail(text, fmt::format("that makes more than {} elements", most_cells));
                }
            }
        }
    }
    return {cells.begin(), cells.end()};
}

}  // namespace systole::trace
