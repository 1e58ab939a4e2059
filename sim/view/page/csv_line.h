#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sim/view/table/table.h"

namespace systole::page {

/// A line of CSV (RFC 4180), with a line feed; absent values are empty.
class CsvLine {
public:
    void add(std::string_view text) {
        line_ += (is_first_ ? "" : ",") + tables::csv_field(text);
        is_first_ = false;
    }
    void add(std::optional<double> value) { add(value ? fmt::format("{}", *value) : std::string()); }
    void add(std::optional<std::size_t> value) { add(value ? fmt::format("{}", *value) : std::string()); }

    std::string take() && { return std::move(line_) + '\n'; }

private:
    std::string line_;
    bool is_first_ = true;
};

}  // namespace systole::page
