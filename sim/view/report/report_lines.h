#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sim/view/report/figures.h"
#include "sim/view/report/numbers.h"
#include "sim/view/terminal/layout.h"
#include "sim/view/terminal/look.h"

namespace systole::report {

/// Parts of a remark, those that are not empty, with "; " between.
inline std::string remark_of(std::initializer_list<std::string_view> parts) {
    std::string text;
    for (const std::string_view part : parts) {
        if (!part.empty()) text += fmt::format("{}{}", text.empty() ? "" : "; ", part);
    }
    return text;
}

/// Builds a part of the report's text, line by line.
class ReportLines {
public:
    explicit ReportLines(const terminal::Look& look) : look_(look), columns_(look.width()) {}

protected:
    template <typename... Arguments>
    void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        std::string line = fmt::format(format, std::forward<Arguments>(arguments)...);
        line.erase(line.find_last_not_of(' ') + 1);
        text_ += line + '\n';
    }

    /// A line that ends in words, which are wrapped.
    void line_and(const std::string& lead, std::string_view remark) {
        line("{}", terminal::beside(lead, remark, columns_));
    }

    void entry(std::string_view what, std::string_view value, std::string_view remark) {
        line_and(fmt::format("  {:<18}{:>16}   ", what, value), remark);
    }

    /// A line for each figure of a part. `remark_of` gives the words beside a figure and its value, or
    /// nothing where it has no line.
    template <class RemarkOf>
    void figure_lines(Figure::Part part, const Json& report, RemarkOf remark_of) {
        for (const Figure& figure : figures_of(part)) {
            const std::optional<double> value = value_of(figure, report);
            const std::string_view label = figure.line.label.empty() ? figure.name : figure.line.label;
            const std::optional<std::string> remark = remark_of(figure, value);
            if (remark) entry(label, figure_text(value, figure.format), *remark);
        }
    }

    /// A line of prose, indented.
    void note(std::size_t indent, std::string_view text) { line_and(std::string(indent, ' '), text); }

    std::string heading(std::string_view text) const { return look_.paint(terminal::Role::Heading, text); }

    /// A bar that ends a line before the last column.
    std::string bar_for(std::optional<double> share) const {
        constexpr std::size_t before = 44;
        constexpr std::size_t longest = 60;
        return bar(share, std::min(columns_ - before, longest));
    }

    std::string take() { return std::move(text_); }

    const terminal::Look look_;
    const std::size_t columns_;
    std::string text_;
};

}  // namespace systole::report
