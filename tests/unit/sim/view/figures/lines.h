#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/unit/sim/view/figures/words.h"

/// A table of the lines of a text: which figure of report.json each of their numbers shows.
namespace systole::figures {

using Json = nlohmann::ordered_json;

/// A line: `{}` stands for a number, `{2}` for one of a rough model, which has two digits, `{=}` for a text
/// of the report, `{~}` for words without digits. Blanks count as one.
struct Line {
    std::string section;
    std::string pattern;
    /// For each `{}` and `{=}`, what it shows: keys of report.json and numbers with / * + - between, from
    /// left to right.
    /// `#` is the element that the line, or one before it in the section, begins.
    std::vector<std::string> shows = {};
    bool begins = false;  ///< the next element of the section's list
};

/// The value of "layers[#].cycles / cycles"; null where a part is, or a denominator is 0.
inline Json evaluate(const Json& report, const std::string& expression, std::size_t element) {
    const auto operand = [&](std::string text) -> Json {
        if (std::isdigit(static_cast<unsigned char>(text[0])) != 0) return std::stod(text);
        const std::string number = std::to_string(element);
        for (std::size_t at = text.find('#'); at != std::string::npos; at = text.find('#'))
            text.replace(at, 1, number);
        std::string pointer = "/";
        for (const char letter : text) {
            if (letter == '.' || letter == '[') {
                pointer += '/';
            } else if (letter != ']') {
                pointer += letter;
            }
        }
        const Json::json_pointer place(pointer);
        for (Json::json_pointer parent = place; !parent.empty(); parent = parent.parent_pointer()) {
            if (report.contains(parent) && report.at(parent).is_null()) return nullptr;
        }
        if (!report.contains(place)) throw std::logic_error("the report has no " + text);
        return report.at(place);
    };
    std::istringstream words(expression);
    std::string word;
    words >> word;
    Json value = operand(word);
    for (std::string operation; words >> operation >> word;) {
        const Json other = operand(word);
        if (value.is_null() || other.is_null()) return nullptr;
        const double a = value.get<double>();
        const double b = other.get<double>();
        if (operation == "/" && b == 0.0) return nullptr;
        value = operation == "/" ? a / b : operation == "*" ? a * b : operation == "+" ? a + b : a - b;
    }
    return value;
}

/// Blanks count as one, and none at the ends; the bar at the end of a line repeats a number.
inline std::string one_blank(const std::string& text) {
    static const std::regex blanks(R"(\s+)");
    static const std::regex ends(R"(^ | ?(#+)?$)");
    return std::regex_replace(std::regex_replace(text, blanks, " "), ends, "");
}

/// Compares texts with lines, and notes which lines stood in one.
class LineTable {
public:
    explicit LineTable(std::vector<Line> lines) : lines_(std::move(lines)) {
        for (const Line& line : lines_) patterns_.push_back(compile(line.pattern));
    }

    /// Every line of the section's text that has a digit must be one of the table's, with the report's
    /// figures.
    void check(const std::string& section, const std::string& text, const Json& report) {
        std::istringstream stream(text);
        std::ptrdiff_t element = -1;
        for (std::string raw; std::getline(stream, raw);) {
            const std::string line = one_blank(raw);
            INFO(section << ": " << line);
            const bool has_number =
                std::any_of(line.begin(), line.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
            const std::optional<std::string> fault = fault_of(section, line, report, element);
            if (fault && has_number) FAIL_CHECK(*fault);
        }
    }

    std::size_t numbers() const { return numbers_; }

    std::set<std::string> unused() const {
        std::set<std::string> unused;
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            if (!used_.contains(i)) unused.insert(lines_[i].section + ": " + lines_[i].pattern);
        }
        return unused;
    }

private:
    static constexpr const char* number_pattern =
        R"((-|<?-?[0-9][0-9,]*(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?))"
        R"((?: ?(%|x|[PTGMkmun]?(?:s|J|W|OPS|inf/s|cycles/s|MAC/s)|[KMGT]iB|B|[PTGMk])(?![A-Za-z]))?)";

    struct Compiled {
        std::regex expression;
        std::vector<bool> is_rough;  ///< of each figure
    };

    static Compiled compile(const std::string& pattern) {
        Compiled compiled;
        const std::string text = one_blank(pattern);
        std::string expression;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text.compare(i, 2, "{}") == 0) {
                expression += number_pattern;
                compiled.is_rough.push_back(false);
                i += 1;
            } else if (text.compare(i, 3, "{2}") == 0) {
                expression += number_pattern;
                compiled.is_rough.push_back(true);
                i += 2;
            } else if (text.compare(i, 3, "{=}") == 0) {
                expression += "(.*?)()";
                compiled.is_rough.push_back(false);
                i += 2;
            } else if (text.compare(i, 3, "{~}") == 0) {
                expression += "[^0-9]*";
                i += 2;
            } else {
                if (std::string_view("()[]{}.*+?^$|\\/").find(text[i]) != std::string_view::npos)
                    expression += '\\';
                expression += text[i];
            }
        }
        compiled.expression = std::regex(expression);
        return compiled;
    }

    /// What is wrong with a line; absent if one of the table has the same numbers and texts.
    std::optional<std::string> fault_of(const std::string& section, const std::string& line,
                                        const Json& report, std::ptrdiff_t& element) {
        std::string wrong = "no line of the table says what the numbers show";
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            std::smatch match;
            if (lines_[i].section != section || !std::regex_match(line, match, patterns_[i].expression))
                continue;
            const std::ptrdiff_t its_element = element + (lines_[i].begins ? 1 : 0);
            std::string fault = fault_of(i, match, report,
                                         static_cast<std::size_t>(std::max<std::ptrdiff_t>(its_element, 0)));
            if (fault.empty()) {
                element = its_element;
                used_.insert(i);
                return std::nullopt;
            }
            wrong = std::move(fault);
        }
        return wrong;
    }

    /// What a line shows that is not the report's; empty: nothing.
    std::string fault_of(std::size_t index, const std::smatch& match, const Json& report,
                         std::size_t element) {
        const Line& line = lines_[index];
        for (std::size_t i = 0; i < line.shows.size(); ++i) {
            const std::string text = match[2 * i + 1];
            const std::string unit = match[2 * i + 2];
            Json expected;
            try {
                expected = evaluate(report, line.shows[i], element);
            } catch (const std::logic_error& error) {
                return error.what();
            }
            if (!shows(text, unit, expected, patterns_[index].is_rough.at(i))) {
                return text + " " + unit + " should show " + line.shows[i] + ", which is " + expected.dump();
            }
        }
        numbers_ += line.shows.size();
        return {};
    }

    static bool shows(const std::string& text, const std::string& unit, const Json& expected, bool is_rough) {
        if (expected.is_string()) return text == one_blank(expected.get<std::string>());
        if (expected.is_null() || text == "-") return expected.is_null() && text == "-";
        if (!expected.is_number()) return false;
        const auto value = expected.get<double>();
        if (text.starts_with('<')) return value > 0.0 && value < printed(text.substr(1), unit).half_a_digit;
        const Printed number = printed(text, unit);
        if (is_rough) return number.shows_roughly(value);
        // A number with a single digit is whole, or has decimals.
        const bool is_exact = std::abs(number.value - value) <= 1e-9 * std::abs(value);
        return number.shows(value) && (number.digits >= 2 || is_exact || text.find('.') != std::string::npos);
    }

    std::vector<Line> lines_;
    std::vector<Compiled> patterns_;
    std::set<std::size_t> used_;
    std::size_t numbers_ = 0;
};

}  // namespace systole::figures
