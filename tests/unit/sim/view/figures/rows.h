#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/unit/sim/view/figures/facts.h"

/// A table of what each figure of a report means: a pattern of its path in report.json, and a function that
/// computes it a second time, from the record and the files of a run.
namespace systole::figures {

/// What stands in a path for each `[]` and `*` of a row's pattern.
class Place {
public:
    explicit Place(std::vector<std::string> wild) : wild_(std::move(wild)) {}

    /// The index that stands for the first, or the next, wildcard.
    std::size_t index(std::size_t wildcard = 0) const {
        const std::string& text = wild_.at(wildcard);
        std::size_t number = 0;
        std::from_chars(text.data(), text.data() + text.size(), number);
        return number;
    }
    const std::string& key(std::size_t wildcard = 0) const { return wild_.at(wildcard); }

private:
    std::vector<std::string> wild_;
};

/// What a report should have at a place.
struct Expected {
    // A row states a number, a text, a list, an object, or null.
    template <typename Value>
    requires(!std::is_same_v<std::remove_cvref_t<Value>, Expected>) Expected(Value&& stated)
        : value(std::forward<Value>(stated)) {}  // NOLINT(google-explicit-constructor)

    Json value;
    /// The size of the numbers of which the figure is a difference: rounding is a share of them.
    double size = 0.0;
    bool is_absent = false;  ///< the report should not have the key
};

inline Expected absent() {
    Expected nothing{nullptr};
    nothing.is_absent = true;
    return nothing;
}

/// A number, or null where its denominator is 0.
inline Expected quotient(double numerator, double denominator) {
    return denominator > 0.0 ? Expected(numerator / denominator) : Expected(nullptr);
}

template <typename Value>
Expected or_null(const std::optional<Value>& value) {
    return value ? Expected(*value) : Expected(nullptr);
}

template <typename Value>
Expected or_absent(const std::optional<Value>& value) {
    return value ? Expected(*value) : absent();
}

/// A row: `layers[].bounds.array` has `[]` for any index, `units.*.*` has `*` for any key. A pattern that
/// ends in `#` is of the number of elements of a list, or of keys of an object.
struct Row {
    std::string pattern;
    std::function<Expected(const Facts&, const Place&)> expected;
};

using Rows = std::vector<Row>;

/// "layers[3].name" as its parts: "layers", "[]", "3", "name"... An index is a part with its number.
using Path = std::vector<std::string>;

inline Path parts_of(std::string_view pattern) {
    Path parts(1);
    for (const char letter : pattern) {
        if (letter == '.') {
            parts.emplace_back();
        } else if (letter == '[') {
            parts.emplace_back("[");
        } else if (letter == '#') {
            parts.emplace_back("#");
        } else {
            parts.back() += letter;
        }
    }
    return parts;
}

inline std::string text_of(const Path& path) {
    std::string text;
    for (const std::string& part : path) {
        const bool is_joined = text.empty() || part.starts_with('[') || part == "#";
        text += (is_joined ? "" : ".") + part;
    }
    return text;
}

/// Compares reports with rows, and notes which rows found a figure.
class Table {
public:
    explicit Table(Rows rows) : rows_(std::move(rows)) {
        for (const Row& row : rows_) patterns_.push_back(parts_of(row.pattern));
    }

    /// Every number, text, truth value and null of the report must have a row, and be what the row says.
    void check(const Facts& facts) {
        Path path;
        check(facts.report(), path, facts);
    }

    std::size_t leaves() const { return leaves_; }
    std::size_t rows() const { return rows_.size(); }

    /// The patterns that no figure had.
    std::set<std::string> unused() const {
        std::set<std::string> unused;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            if (!used_.contains(i)) unused.insert(rows_[i].pattern);
        }
        return unused;
    }

private:
    static std::optional<Place> place_in(const Path& pattern, const Path& path) {
        if (pattern.size() != path.size()) return std::nullopt;
        std::vector<std::string> wild;
        for (std::size_t i = 0; i < path.size(); ++i) {
            if (pattern[i] == "[]" && path[i].starts_with('[')) {
                wild.push_back(path[i].substr(1, path[i].size() - 2));
            } else if (pattern[i] == "*" && !path[i].starts_with('[') && path[i] != "#") {
                wild.push_back(path[i]);
            } else if (pattern[i] != path[i]) {
                return std::nullopt;
            }
        }
        return Place(std::move(wild));
    }

    struct Found {
        const Row* row = nullptr;
        Place place{{}};
    };

    /// The last row of the path: later rows are more exact.
    std::optional<Found> find(const Path& path) {
        for (std::size_t i = rows_.size(); i-- > 0;) {
            if (auto place = place_in(patterns_[i], path)) {
                used_.insert(i);
                return Found{&rows_[i], *std::move(place)};
            }
        }
        return std::nullopt;
    }

    void check(const Json& value, Path& path, const Facts& facts) {
        if (const auto found = find(path)) {
            leaves_ += leaves_of(value);
            const Expected expected = expected_of(*found->row, found->place, facts);
            if (expected.is_absent) {
                FAIL_CHECK(text_of(path) << " should not be there");
            } else {
                compare(value, expected.value, expected.size, text_of(path));
            }
        } else if (value.is_object() && !value.empty()) {
            check_object(value, path, facts);
        } else if (value.is_array()) {
            check_list(value, path, facts);
        } else {
            FAIL_CHECK(text_of(path) << " has no row that says what it means");
        }
    }

    void check_object(const Json& object, Path& path, const Facts& facts) {
        for (const auto& [key, value] : object.items()) {
            path.push_back(key);
            check(value, path, facts);
            path.pop_back();
        }
        check_count(object, path, facts, false);
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            if (patterns_[i].size() != path.size() + 1 || object.contains(patterns_[i].back())) continue;
            const std::string& key = patterns_[i].back();
            if (key == "*" || key == "#" || key.starts_with('[')) continue;
            const auto place = place_in(Path(patterns_[i].begin(), patterns_[i].end() - 1), path);
            if (place && !expected_of(rows_[i], *place, facts).is_absent) {
                FAIL_CHECK(text_of(path) << " lacks the key " << key);
            }
        }
    }

    void check_list(const Json& list, Path& path, const Facts& facts) {
        check_count(list, path, facts, true);
        for (std::size_t i = 0; i < list.size(); ++i) {
            path.push_back("[" + std::to_string(i) + "]");
            check(list[i], path, facts);
            path.pop_back();
        }
    }

    void check_count(const Json& value, Path& path, const Facts& facts, bool must) {
        path.emplace_back("#");
        if (const auto found = find(path)) {
            compare(Json(value.size()), expected_of(*found->row, found->place, facts).value, 0.0,
                    text_of(path));
        } else if (must) {
            FAIL_CHECK(text_of(path) << ": no row says how many elements there are");
        }
        path.pop_back();
    }

    /// A row that finds a key of its files or of the report missing says so.
    static Expected expected_of(const Row& row, const Place& place, const Facts& facts) {
        try {
            return row.expected(facts, place);
        } catch (const std::exception& error) {
            return "computed by " + row.pattern + ": " + error.what();
        }
    }

    static std::size_t leaves_of(const Json& value) {
        if (!value.is_structured()) return 1;
        std::size_t leaves = 0;
        for (const Json& each : value) leaves += leaves_of(each);
        return leaves;
    }

    static void compare(const Json& actual, const Json& expected, double size, const std::string& path) {
        if (!is_same(actual, expected, size)) {
            FAIL_CHECK(path << " is " << shown(actual) << " and should be " << shown(expected));
        }
    }

    static std::string shown(const Json& value) {
        const std::string text = value.dump();
        constexpr std::size_t most = 300;
        return text.size() <= most ? text : text.substr(0, most) + "...";
    }

public:
    /// Integers, texts, truth values and the shape exactly; other numbers to twelve digits.
    static bool is_same(const Json& actual, const Json& expected, double size = 0.0) {
        if (actual.is_number() && expected.is_number()) {
            if (actual.is_number_integer() && expected.is_number_integer()) return actual == expected;
            constexpr double digits = 1e-12;
            const auto a = actual.get<double>();
            const auto b = expected.get<double>();
            return a == b || std::abs(a - b) <= digits * std::max({std::abs(a), std::abs(b), std::abs(size)});
        }
        if (actual.type() != expected.type() || actual.size() != expected.size()) return false;
        if (actual.is_array()) {
            for (std::size_t i = 0; i < actual.size(); ++i) {
                if (!is_same(actual[i], expected[i], size)) return false;
            }
            return true;
        }
        if (actual.is_object()) {
            for (const auto& [key, value] : actual.items()) {
                if (!expected.contains(key) || !is_same(value, expected.at(key), size)) return false;
            }
            return true;
        }
        return actual == expected;
    }

private:
    Rows rows_;
    std::vector<Path> patterns_;
    std::set<std::size_t> used_;
    std::size_t leaves_ = 0;
};

}  // namespace systole::figures
