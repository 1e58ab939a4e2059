#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/study/sweep/expression.h"
#include "sim/study/validate/lists.h"
#include "sim/study/validate/row_words.h"

/// Formulas of a validation: sweep::Expression, whose names stand for numbers and for rows of numbers.
///
/// A name is that of a number that is known ("table_2.clock_mhz"), of a named formula, or of a row: one
/// number for each element of a list, known or by a formula. A row's number is the row's name with that of
/// the element, "base.cycles.MLP0". A formula that names a row is itself a row, computed element by element.
///
/// Words before a name make one number of a row, or of all numbers below a name: `sum_of.X`, `mean_of.X`,
/// `gm_of.X` (geometric mean), `wm_of.X` (weighted by the row `weights`), `least_of.X`, `most_of.X`, and of
/// absolute values `mean_size_of.X` and `largest_size_of.X`; `farthest_of.X` is the one with the largest
/// size. With the name of a list, `mean_of.LIST.X`, of its elements alone.
///
/// A number may be absent: known to be so, or a formula without a value, as 1 / 0. What follows from it is
/// absent.
namespace systole::validate {

using Number = std::optional<double>;

/// The numbers of a JSON document by their dotted names behind `before`; also true and false, as 1 and 0.
std::map<std::string, Number> flattened(const nlohmann::ordered_json& json, const std::string& before);

class Formulas {
public:
    /// Computes a number from rows of others, as the factor that brings one nearest to another.
    using Function = std::function<double(std::span<const std::vector<double>>)>;

    /// `file` leads the messages.
    Formulas(Lists lists, std::string file);
    Formulas(Formulas&&) = default;

    /// A named formula, or a function of rows. Throws ConfigError for a text that is no formula.
    void define(const std::string& name, const std::string& formula);
    void define(const std::string& name, Function function, std::vector<std::string> rows);
    void know(const std::string& name, Number number);
    void know(const std::map<std::string, Number>& numbers);
    /// Numbers that will be known later, also of rows: add_needs takes their names as they are.
    void expect(std::set<std::string> names) { expected_ = std::move(names); }
    /// Of all known numbers whose names begin so.
    void forget(const std::string& prefix);

    // All throw ConfigError for a name that stands for nothing, and where a row stands for a number or the
    // reverse. `place` is where the formula stands, for messages.
    Number value(const std::string& formula, const std::string& place);
    /// One number of a row's formula.
    Number value(const std::string& formula, const std::string& element, const std::string& place);
    /// The same where the names in `first` stand for those numbers.
    Number value(const std::string& formula, const std::string& element,
                 const std::map<std::string, Number>& first, const std::string& place);
    /// The list over which the formula is a row; null: it is a number.
    const std::vector<Element>* list_of(const std::string& formula, const std::string& place);
    /// Of a row, in the order of its list.
    std::vector<std::pair<std::string, Number>> row(const std::string& formula, const std::string& place);
    /// The names that must be known to compute the formula, with those of rows before their elements' names.
    /// Throws for a name that stands for nothing and is not expected.
    void add_needs(const std::string& formula, std::set<std::string>& names, const std::string& place);
    /// A text with a formula and the digits behind the point in each pair of braces: "{100 * x:.1f} %".
    std::string filled(const std::string& text, const std::string& place);
    /// The formulas in the braces of such a text.
    std::vector<std::string> formulas_in(const std::string& text, const std::string& place) const;

    const Lists& lists() const { return lists_; }

private:
    struct Named {
        std::optional<std::string> formula;
        Function function = {};
        std::vector<std::string> rows = {};  ///< of the function
    };

    const sweep::Expression& expression(const std::string& formula, const std::string& place);
    Number computed(const std::string& formula, const std::string& element, const std::string& place,
                    const std::map<std::string, Number>& first = {});
    Number number(const std::string& name, const std::string& element, const std::string& place);
    Number named_number(const std::string& name, const std::string& element);
    Number reduced(const RowWord& word, std::string_view name, const std::string& place);
    std::vector<std::pair<std::string, Number>> below(const std::string& name,
                                                      const std::vector<Element>* only,
                                                      const std::string& place);
    std::set<std::string> elements_below(const std::string& name) const;
    const std::vector<Element>* list_of_name(const std::string& name, const std::string& place);
    const std::vector<Element>* list_below(const std::string& name, const std::string& place);
    bool is_number(const std::string& name, const std::string& place);
    bool is_of_row(const std::string& name, const std::string& place);
    bool is_element(std::string_view name) const;
    bool is_expected(const std::string& name) const;
    void check_there(const std::string& name, const std::string& place) const;
    bool is_there(const std::string& name) const { return known_.contains(name) || named_.contains(name); }
    [[noreturn]] void fail(const std::string& name, const std::string& place) const;

    Lists lists_;
    std::string file_;
    std::map<std::string, Named, std::less<>> named_;
    std::map<std::string, Number, std::less<>> known_;
    std::set<std::string> expected_;
    std::map<std::string, sweep::Expression> expressions_;           ///< by text
    std::map<std::pair<std::string, std::string>, Number> results_;  ///< of named formulas, by element
    std::map<std::string, const std::vector<Element>*> lists_of_;    ///< of names
    std::set<std::string> computing_;                                ///< names that are under way
    std::set<std::string> open_;                                     ///< whose lists are
};

}  // namespace systole::validate
