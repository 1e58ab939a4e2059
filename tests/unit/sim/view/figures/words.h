#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

/// Numbers in texts for people. Each is rounded to the digits that stand there.
namespace systole::figures {

/// A number as it stands in a text: "1,234.5 M" is 1234.5e6, give or take 0.05e6.
struct Printed {
    std::string text;
    double value = 0.0;
    double half_a_digit = 0.0;  ///< of the last place
    int digits = 0;             ///< significant ones

    /// Whether a figure rounds to the number.
    bool shows(double figure) const {
        const double slack = 1e-9 * std::abs(figure);
        return std::abs(value - figure) <= half_a_digit + slack;
    }

    /// Whether a figure of a rough model does: two of its digits are shown.
    bool shows_roughly(double figure) const {
        const double second_digit = std::pow(10.0, std::floor(std::log10(std::max(value, figure))) - 1.0);
        return std::abs(value - figure) <= 0.5000001 * second_digit;
    }
};

/// The factor of an SI prefix or a binary one before a unit: "ms", "GOPS", "KiB"; of "%", 0.01.
inline double factor_of(std::string_view unit) {
    static const std::regex binary("([KMGT])iB");
    std::match_results<std::string_view::const_iterator> match;
    if (std::regex_match(unit.begin(), unit.end(), match, binary)) {
        const std::string_view letters = "KMGT";
        return std::pow(1024.0, static_cast<double>(letters.find(*match[1].first) + 1));
    }
    if (unit == "%") return 0.01;
    const bool is_alone =
        unit.size() == 1 && std::string_view("PTGMk").find(unit[0]) != std::string_view::npos;
    static const std::regex decimal("([PTGMkmun])(s|J|W|OPS|B|inf/s|cycles/s|MAC/s)");
    if (!is_alone && !std::regex_match(unit.begin(), unit.end(), decimal)) return 1.0;
    if (unit == "mm2" || unit == "inf/s") return 1.0;
    switch (unit[0]) {
        case 'P':
            return 1e15;
        case 'T':
            return 1e12;
        case 'G':
            return 1e9;
        case 'M':
            return 1e6;
        case 'k':
            return 1e3;
        case 'm':
            return 1e-3;
        case 'u':
            return 1e-6;
        default:
            return 1e-9;
    }
}

/// "1,234.5" and what follows it.
inline Printed printed(const std::string& number, std::string_view unit = {}) {
    std::string plain = number;
    std::erase(plain, ',');
    const double factor = factor_of(unit);
    Printed result{.text = number, .value = std::strtod(plain.c_str(), nullptr) * factor};
    const std::size_t point = plain.find('.');
    const std::size_t exponent = plain.find('e');
    const std::size_t end = exponent == std::string::npos ? plain.size() : exponent;
    const double decimals = point == std::string::npos ? 0.0 : static_cast<double>(end - point - 1);
    const double power =
        exponent == std::string::npos ? 0.0 : std::strtod(plain.c_str() + exponent + 1, nullptr);
    result.half_a_digit = 0.5 * std::pow(10.0, power - decimals) * factor;
    bool has_begun = false;
    for (std::size_t i = 0; i < end; ++i) {
        has_begun = has_begun || (plain[i] >= '1' && plain[i] <= '9');
        if (has_begun && plain[i] != '.') ++result.digits;
    }
    return result;
}

/// The numbers of a text, in their order, not those inside of names ("haswell_e5").
inline std::vector<Printed> numbers_in(const std::string& text) {
    static const std::regex number(
        R"((^|[^A-Za-z0-9_.])(-?[0-9][0-9,]*(\.[0-9]+)?(e[-+]?[0-9]+)?)( ?([A-Za-z%/]+[0-9]?))?)");
    std::vector<Printed> numbers;
    for (auto match = std::sregex_iterator(text.begin(), text.end(), number); match != std::sregex_iterator();
         ++match) {
        std::string digits = (*match)[2];
        while (digits.back() == ',') digits.pop_back();
        numbers.push_back(printed(digits, (*match)[6].str()));
    }
    return numbers;
}

/// The text itself if each of its numbers shows one of these figures; otherwise what is wrong.
inline std::string words_with(const std::string& text, const std::vector<double>& figures) {
    for (const Printed& each : numbers_in(text)) {
        const auto shows = [&](double figure) { return each.shows(figure); };
        if (std::none_of(figures.begin(), figures.end(), shows)) {
            return "a text whose numbers are figures: " + each.text + " is none, in: " + text;
        }
    }
    return text;
}

/// The text itself if its numbers are these figures, one by one; otherwise what is wrong.
inline std::string words_with_all(const std::string& text, const std::vector<double>& figures) {
    const std::vector<Printed> numbers = numbers_in(text);
    if (numbers.size() != figures.size()) {
        return "a text of " + std::to_string(figures.size()) + " numbers, not " +
               std::to_string(numbers.size()) + ": " + text;
    }
    for (std::size_t i = 0; i < figures.size(); ++i) {
        if (!numbers[i].shows(figures[i])) {
            return "a text with " + std::to_string(figures[i]) + " instead of " + numbers[i].text + ": " +
                   text;
        }
    }
    return text;
}

}  // namespace systole::figures
