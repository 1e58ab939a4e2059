#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The figures of a run: one list of what they are called, how they are computed, where report.json has them,
/// and how they are shown. Text, comparison, page, the check of a report and docs/report.md follow it.
namespace systole::report {

using Json = nlohmann::ordered_json;

struct Basis;

struct Figure {
    /// Parts of the text that list figures, a line each.
    enum class Part : std::uint8_t { None, Time, Speed, MainUnit, Bounds, Feeding, Energy };

    /// What a report must say of a figure, so that the page can be shown: reports of earlier versions, or of
    /// some machines, lack other figures.
    enum class Needed : std::uint8_t { No, OrNull, Always };

    std::string_view name;  ///< in text and comparison: "latency"
    std::string_view path;  ///< in report.json: "tops.achieved"; with the whole of a share: "a.b / cycles"
    std::string_view unit;  ///< of the number in report.json: "ms"
    /// "count", "bytes", "share", "ratio", "times" (two digits), "inf/s", or the unit of a quantity: "s".
    std::string_view format;
    std::string_view meaning;
    Needed needed = Needed::No;

    struct Row {
        bool is_compared = false;
        int better = 0;          ///< 1: more is better; -1: less is better; 0: neither can be said
        bool is_total = false;   ///< more inferences have more of it
        bool in_cycles = false;  ///< cycles of different clocks say nothing about each other
    };
    Row row = {};  ///< of the comparison

    struct Line {
        Part part = Part::None;
        std::string_view label = {};   ///< instead of the name
        std::string_view remark = {};  ///< unless the part has words of its own for the figure
    };
    Line line = {};  ///< of the text

    struct Card {
        std::string_view title = {};   ///< empty: none
        std::string_view remark = {};  ///< unless the page has words of its own for the figure
        bool is_first = false;         ///< before those of others
    };
    Card card = {};  ///< of the page

    std::string_view instead_of = {};  ///< the key of another figure, for which it stands where there is none

    /// Its value in report.json. Null of a figure that is a part of a section, such as a layer or the
    /// comparison, and computed there (sections.h).
    Json (*compute)(const Basis& basis) = nullptr;

    std::string_view key() const { return path.substr(0, path.find(' ')); }
    std::string_view whole() const;  ///< empty: the figure is no share
    double factor() const;           ///< from `unit` to the unit of `format`
};

/// In the order of text and comparison.
std::span<const Figure> figures();
/// The one with this key. Throws std::logic_error if there is none.
const Figure& figure_named(std::string_view key);
/// Those with a line in a part of the text.
std::vector<Figure> figures_of(Figure::Part part);

/// The place at a dotted path of report.json: an object's key, a list's element by index, or by its "name" or
/// "baseline" ("layers.conv2d.cycles"). A null on the way is the value; a null pointer means that
/// there is no such path.
const Json* find_path(const Json& report, std::string_view dotted);

/// Puts a value at a path of objects, the last of which may lack the key.
void place_at(Json& report, std::string_view dotted, Json value);

/// The number at a path; absent if there is none.
std::optional<double> number_at(const Json& report, std::string_view path);

/// The figure of a report, in the unit of its format.
std::optional<double> value_of(const Figure& figure, const Json& report);

/// A value in a figure's format.
std::string figure_text(std::optional<double> value, std::string_view format);

/// The figures that the page has cards of, in their order.
Json cards_json();

}  // namespace systole::report
