#include "base/user_error.h"

#include <algorithm>
#include <new>
#include <numeric>
#include <system_error>
#include <vector>

namespace systole {

bool is_internal(const std::exception& error) {
    return dynamic_cast<const UserError*>(&error) == nullptr &&
           dynamic_cast<const std::system_error*>(&error) == nullptr &&
           dynamic_cast<const std::bad_alloc*>(&error) == nullptr;
}

std::string line_of(const std::exception& error) {
    if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "there is not enough memory";
    return (is_internal(error) ? "internal error: " : "") + std::string(error.what());
}
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
            diagonal = above;
        }
    }
    return row[b.size()];
}

std::string in_small_letters(std::string_view text) {
    std::string small(text);
    for (char& letter : small) {
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    }
    return small;
}

}  // namespace

std::string_view nearest(std::string_view given, std::span<const std::string> known) {
    if (given.empty()) return {};
    const std::string word = in_small_letters(given);
    std::string_view best;
    std::size_t best_distance = std::max<std::size_t>(2, word.size() / 2) + 1;
    for (const std::string& each : known) {
        const std::string candidate = in_small_letters(each);
        // A key that contains the other ("depth", "depth_tiles") is similar, however long the rest is.
        constexpr std::size_t least_part = 3;
        const bool part = candidate.find(word) != std::string::npos ||
                          (candidate.size() >= least_part && word.find(candidate) != std::string::npos);
        // So is a key with a similar beginning ("clok", "clock_mhz").
        const std::size_t beginning =
            1 + edit_distance(word, std::string_view(candidate).substr(0, word.size() + 1));
        const std::size_t distance = part ? 1 : std::min(edit_distance(word, candidate), beginning);
        if (distance < best_distance) {
            best_distance = distance;
            best = each;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view proposed) {
    if (proposed.empty()) return {};
    return "; did you mean \"" + std::string(proposed) + "\"?";
}

std::string suggestion(std::string_view word, std::span<const std::string> known) {
    constexpr std::size_t few = 12;
    if (const std::string_view near = nearest(word, known); !near.empty()) return did_you_mean(near);
    if (known.empty() || known.size() > few) return {};
    std::string listed;
    for (const std::string& each : known) listed += (listed.empty() ? "" : ", ") + each;
    return (known.size() == 1 ? "; there is only " : "; there are ") + listed;
}

}  // namespace systole
