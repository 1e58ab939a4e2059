#include "sim/study/validate/row_words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace systole::validate {
namespace {

using Numbers = std::span<const double>;

double sum_of(Numbers numbers, Numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}
double mean_of(Numbers numbers, Numbers) {
    return sum_of(numbers, {}) / static_cast<double>(numbers.size());
}
double geometric_mean_of(Numbers numbers, Numbers) {
    double logarithms = 0.0;
    for (const double number : numbers) logarithms += std::log(number);
    return std::exp(logarithms / static_cast<double>(numbers.size()));
}
double weighted_mean_of(Numbers numbers, Numbers shares) {
    return std::inner_product(numbers.begin(), numbers.end(), shares.begin(), 0.0);
}
double least_of(Numbers numbers, Numbers) {
    return *std::ranges::min_element(numbers);
}
double most_of(Numbers numbers, Numbers) {
    return *std::ranges::max_element(numbers);
}
double absolute(double number) {
    return std::abs(number);
}
double mean_size_of(Numbers numbers, Numbers) {
    double sizes = 0.0;
    for (const double number : numbers) sizes += absolute(number);
    return sizes / static_cast<double>(numbers.size());
}
double farthest_of(Numbers numbers, Numbers) {
    return *std::ranges::max_element(numbers, {}, absolute);
}
double largest_size_of(Numbers numbers, Numbers) {
    return absolute(farthest_of(numbers, {}));
}

constexpr std::array<RowWord, 9> row_words{{{"sum_of", sum_of},
                                            {"mean_of", mean_of},
                                            {"gm_of", geometric_mean_of},
                                            {"wm_of", weighted_mean_of, true},
                                            {"least_of", least_of},
                                            {"most_of", most_of},
                                            {"mean_size_of", mean_size_of},
                                            {"largest_size_of", largest_size_of},
                                            {"farthest_of", farthest_of}}};

}  // namespace

std::optional<std::pair<const RowWord*, std::string_view>> split_row_word(std::string_view name) {
    const std::size_t dot = name.find('.');
    const auto* const found = std::ranges::find(row_words, name.substr(0, dot), &RowWord::word);
    if (dot == std::string_view::npos || found == row_words.end()) return std::nullopt;
    return std::pair(found, name.substr(dot + 1));
}

}  // namespace systole::validate
