#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Making texts fit a number of columns.
namespace systole::terminal {

/// A text cut to `width` characters, the cut marked by "~"; what is not printable ASCII is "?".
std::string fitted(std::string_view text, std::size_t width);

/// A text in lines of at most `width` characters, broken at blanks; a word that is longer stays whole. Lines
/// behind the first begin with `indent` blanks, beyond the width.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0);

/// `lead` and `text` behind it, within `columns`: what does not fit goes on below the text's beginning or,
/// where hardly any room is left beside the lead, the whole text below the lead. Words that are longer than
/// the room are broken.
std::string beside(std::string_view lead, std::string_view text, std::size_t columns);

/// How wide a column of a table may be.
struct Column {
    std::size_t width = 0;  ///< that it is meant to have
    std::size_t least = 0;  ///< that its entries can be shortened to
    std::size_t most = 0;   ///< that its longest entry would take
    unsigned leave = 0;     ///< its place among those that are left out, the first one 1; 0: it stays
};

/// The width of each column, such that they take at most `columns` together: columns that can be shortened
/// are, by as little as is enough; where that is not enough, one after the other is left out (width 0). What
/// is left over, columns get that would take more than they are meant to have.
std::vector<std::size_t> fit(std::span<const Column> table, std::size_t columns);

}  // namespace systole::terminal
