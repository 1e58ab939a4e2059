#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Fits texts into a number of columns.
namespace systole::terminal {

/// A text cut to `width` columns, with "~" at the cut; what is not printable becomes "?".
std::string fitted(std::string_view text, std::size_t width);

/// The same with the cut in the middle: names of layers often differ at their end only. Names with parts
/// ("encoder.layer.0.attention.query", "model/conv") are cut between parts, if at least half of each end is
/// left: "encoder.layer.0~.query".
std::string with_both_ends(std::string_view text, std::size_t width);

/// Each name within `width` columns, as with_both_ends has it; names that differ never look the same. Those
/// that would show where they differ, "~stage2/blocks.3~", or end with their number, "conv_bl~#12". A width
/// of 8 columns is enough for 100,000 names.
std::vector<std::string> told_apart(std::span<const std::string> names, std::size_t width);

/// A text in lines of at most `width` characters, broken at blanks; a longer word is not broken. All lines
/// but the first begin with `indent` blanks, which do not count for the width.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0);

/// `lead`, followed by `text`, within `columns`. The text is wrapped below its beginning or, if there is
/// hardly any room beside the lead, placed completely below the lead. Words that do not fit a line are
/// broken.
std::string beside(std::string_view lead, std::string_view text, std::size_t columns);

/// The possible widths of a table's column.
struct Column {
    std::size_t width = 0;  ///< preferred width
    std::size_t least = 0;  ///< width to which its entries can be shortened
    std::size_t most = 0;   ///< width of its longest entry
    unsigned leave = 0;     ///< position in the order in which columns are left out, from 1; 0: never
};

/// The width of each column, so that all together take at most `columns`. Columns are shortened as little as
/// necessary; if that is not enough, columns are left out one after the other (width 0). Remaining room goes
/// to columns whose longest entry exceeds the preferred width.
std::vector<std::size_t> fit(std::span<const Column> table, std::size_t columns);

}  // namespace systole::terminal
