#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sim/study/sweep/expression.h"
#include "tests/system/page_commands.h"
#include "tests/system/sim_process.h"

/// Figures in the prose of a page. Comments of the page say where they come from:
///
///     <!-- figures
///     "takes 1.85 times as long" = half_clock.seconds / base.seconds
///     "76 of 103" = 70 + 6; 103
///     given "three convolutions of 12, 24 and 64 filters"
///     run published = mnist_cnn --mapping as_published
///     -->
///
/// The text in quotes stands in the prose; each number in it, rounded as it is written, is the value of its
/// formula. A name of a formula is a folder of `results` and a key of its report.json, or that of a run of
/// the comment. "given" is what no command of the page prints. All other numbers of the prose stand in an
/// output or in a command of the page.
namespace systole::tests {

/// The numbers of a text, as they are written, without commas: "65536", "2.7". Not those in names, as
/// "conv2d" or "TPU v1".
inline std::vector<std::string> numbers_of(const std::string& text) {
    static const std::regex number(R"((^|[^\w.,])(\d[\d,]*(\.\d+)?)(?!\w|\.\d))");
    std::vector<std::string> numbers;
    for (std::sregex_iterator match(text.begin(), text.end(), number), end; match != end; ++match) {
        std::string found = (*match)[2];
        std::erase(found, ',');
        numbers.push_back(found);
    }
    return numbers;
}

class ProseFigures {
public:
    /// `results` has folders with reports.
    ProseFigures(const Page& page, std::filesystem::path results) : results_(std::move(results)) {
        static const std::regex held(R"~(^"([^"]+)" = (.*)$)~");
        static const std::regex given(R"~(^given "([^"]+)"$)~");
        static const std::regex run(R"~(^run (\w+) = (.*)$)~");
        for (const std::string& line : page.comments()) {
            INFO(line);
            std::smatch match;
            if (line.empty() || line.starts_with("<!--") || line == "-->") continue;
            if (std::regex_match(line, match, run)) {
                runs_[match[1]] = report_of(match[2]);
            } else if (std::regex_match(line, match, held)) {
                check(page, match[1], match[2]);
            } else {
                const bool is_given = std::regex_match(line, match, given);
                CHECK(is_given);
                if (is_given) add(page, match[1]);
            }
        }
        check_the_others(page);
    }

private:
    void add(const Page& page, const std::string& text) {
        CHECK(page.prose().find(text) != std::string::npos);
        for (const std::string& number : numbers_of(text)) known_.insert(number);
    }

    void check(const Page& page, const std::string& text, const std::string& formulas) {
        add(page, text);
        std::istringstream list(formulas);
        const std::vector<std::string> numbers = numbers_of(text);
        for (const std::string& number : numbers) {
            std::string formula;
            REQUIRE(std::getline(list, formula, ';'));
            const std::size_t point = number.find('.');
            const auto decimals =
                static_cast<double>(point == std::string::npos ? 0 : number.size() - point - 1);
            const double value = value_of(formula);
            INFO("the prose has " << number << ", and the formula gives " << value);
            CHECK(std::abs(std::stod(number) - value) <= 0.5000001 * std::pow(10.0, -decimals));
        }
        CHECK(list.peek() == std::istringstream::traits_type::eof());
    }

    double value_of(const std::string& formula) {
        const sweep::Expression expression(formula);
        std::vector<double> values;
        for (const std::string& name : expression.names()) {
            const std::size_t dot = name.find('.');
            INFO(name);
            REQUIRE(dot != std::string::npos);
            const std::string run = name.substr(0, dot);
            if (!runs_.contains(run)) {
                const std::string text = text_in(results_ / run / "report.json");
                REQUIRE_FALSE(text.empty());
                runs_[run] = nlohmann::ordered_json::parse(text);
            }
            std::string pointer = name.substr(dot);
            std::ranges::replace(pointer, '.', '/');
            values.push_back(runs_[run].at(nlohmann::ordered_json::json_pointer(pointer)).get<double>());
        }
        return expression.value(values);
    }

    void check_the_others(const Page& page) const {
        const std::vector<std::string> shown = numbers_of(page.shown());
        for (const std::string& number : numbers_of(page.prose())) {
            INFO("no output of the page has " << number << ", and no comment says where it comes from");
            CHECK((known_.contains(number) || std::ranges::find(shown, number) != shown.end()));
        }
    }

    std::filesystem::path results_;
    std::map<std::string, nlohmann::ordered_json> runs_;
    std::set<std::string> known_;
};

}  // namespace systole::tests
