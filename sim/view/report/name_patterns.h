#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Names of layers that differ in their numbers alone: "encoder.layer.0.output", "encoder.layer.1.output".
namespace systole::report {

/// The name with each number left out. Names that are equal up to numbers, and only they, have the same: a
/// backslash stands before "#", which stands for a number, and before a backslash.
std::string without_numbers(std::string_view name);

/// Names that are equal up to numbers as one: "*" stands for each number that is not the same in all, as in
/// "encoder.layer.*.output".
std::string pattern_of(std::span<const std::string> names);

/// The scope that all names have in common, a name itself if it is the only one: "encoder.layer.*" of
/// "encoder.layer.*.output" and "/encoder.layer.*.attention.query". Parts of a name end at one of "/._"; the
/// scope has none of these at its end, and no "/" at its begin. Empty if there is none.
std::string common_scope(std::span<const std::string> names);

/// What layers are called together: the common scope of those that have one, else the first name.
std::string block_name(std::span<const std::string> names);

/// A name without the scope before it; the whole name if it is the scope, or outside of it.
std::string_view within_scope(std::string_view name, std::string_view scope);

/// Names that are equal up to numbers, side by side: the first of each group is in its place.
struct NameGroup {
    std::string pattern;
    std::size_t count = 0;  ///< of names
};
std::vector<NameGroup> groups_of(std::span<const std::string> names);

}  // namespace systole::report
