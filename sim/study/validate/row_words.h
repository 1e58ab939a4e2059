#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <utility>

/// Words before the name of a row, which make one number of its numbers: "mean_of.error".
namespace systole::validate {

struct RowWord {
    std::string_view word;
    /// Of at least one number; the shares, one for each number, are used where they are needed.
    double (*of)(std::span<const double> numbers, std::span<const double> shares);
    bool has_weights = false;  ///< whether they are
};

/// The word and the name behind it, if the name begins with one.
std::optional<std::pair<const RowWord*, std::string_view>> split_row_word(std::string_view name);

}  // namespace systole::validate
