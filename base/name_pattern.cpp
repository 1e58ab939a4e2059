#include "base/name_pattern.h"

#include <algorithm>
#include <cstddef>

namespace systole {

bool fits_pattern(std::string_view name, std::string_view pattern) {
    // The last star takes as little as possible; where the rest does not fit, a character more.
    std::size_t at = 0;
    std::size_t place = 0;  // in the pattern
    std::optional<std::size_t> star;
    std::size_t behind_star = 0;  // in the name
    while (at < name.size()) {
        if (place < pattern.size() && pattern[place] == '*') {
            star = place++;
            behind_star = at;
        } else if (place < pattern.size() && pattern[place] == name[at]) {
            ++place;
            ++at;
        } else if (star) {
            place = *star + 1;
            at = ++behind_star;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', place) == std::string_view::npos;
}

std::optional<std::string_view> text_of_star(std::string_view name, std::string_view pattern) {
    if (std::ranges::count(pattern, '*') != 1) return std::nullopt;
    const std::size_t star = pattern.find('*');
    if (name.size() + 1 < pattern.size() || !fits_pattern(name, pattern)) return std::nullopt;
    return name.substr(star, name.size() + 1 - pattern.size());
}

std::string with_star(std::string_view pattern, std::string_view text) {
    std::string name(pattern);
    return name.replace(name.find('*'), 1, text);
}

}  // namespace systole
