#include "sim/study/validate/formulas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hw/machine/config_error.h"
#include "sim/study/validate/queue.h"
#include "sim/study/validate/row_words.h"

namespace systole::validate {
namespace {

using machine::ConfigError;
constexpr const char* weights = "weights";

/// A number that is none is absent.
Number finite(double number) {
    return std::isfinite(number) ? Number(number) : std::nullopt;
}

/// "base.cycles.MLP0" is "base.cycles" and "MLP0".
std::pair<std::string, std::string> split_last(const std::string& name) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos) return {std::string(), name};
    return {name.substr(0, dot), name.substr(dot + 1)};
}

void add_numbers(const nlohmann::ordered_json& json, const std::string& before,
                 std::map<std::string, Number>& numbers) {
    for (const auto& [key, value] : json.items()) {
        if (value.is_object()) add_numbers(value, before + key + '.', numbers);
        if (value.is_number()) numbers[before + key] = value.get<double>();
        if (value.is_boolean()) numbers[before + key] = value.get<bool>() ? 1.0 : 0.0;
    }
}

/// While it lives, the name is under way: a formula that leads back to itself is refused.
class UnderWay {
public:
    UnderWay(std::set<std::string>& names, std::string name, const std::string& file)
        : names_(names), name_(std::move(name)) {
        if (!names_.insert(name_).second) {
            throw ConfigError(fmt::format("{}: values.{}: its formula leads back to itself", file, name_));
        }
    }
    ~UnderWay() { names_.erase(name_); }
    UnderWay(const UnderWay&) = delete;
    UnderWay& operator=(const UnderWay&) = delete;

private:
    std::set<std::string>& names_;
    std::string name_;
};

}  // namespace

std::map<std::string, Number> flattened(const nlohmann::ordered_json& json, const std::string& before) {
    std::map<std::string, Number> numbers;
    add_numbers(json, before, numbers);
    return numbers;
}

Formulas::Formulas(Lists lists, std::string file) : lists_(std::move(lists)), file_(std::move(file)) {}

void Formulas::define(const std::string& name, const std::string& formula) {
    named_[name] = {.formula = formula};
    lists_of_.clear();
    expression(formula, "values." + name);
}

void Formulas::define(const std::string& name, Function function, std::vector<std::string> rows) {
    named_[name] = {.formula = {}, .function = std::move(function), .rows = std::move(rows)};
}

void Formulas::know(const std::string& name, Number number) {
    known_[name] = number;
    results_.clear();
    lists_of_.clear();
}

void Formulas::forget(const std::string& prefix) {
    std::erase_if(known_, [&](const auto& each) { return each.first.starts_with(prefix); });
    results_.clear();
    lists_of_.clear();
}

void Formulas::know(const std::map<std::string, Number>& numbers) {
    for (const auto& [name, number] : numbers) know(name, number);
}

void Formulas::fail(const std::string& name, const std::string& place) const {
    std::vector<std::string> names;
    for (const auto& [known, number] : known_) names.push_back(known);
    for (const auto& [known, formula] : named_) names.push_back(known);
    throw ConfigError(fmt::format("{}: {} names {}, which stands for no number here{}", file_, place, name,
                                  did_you_mean(nearest(name, names))));
}

const sweep::Expression& Formulas::expression(const std::string& formula, const std::string& place) {
    const auto found = expressions_.find(formula);
    if (found != expressions_.end()) return found->second;
    try {
        return expressions_.emplace(formula, sweep::Expression(formula, queue_functions())).first->second;
    } catch (const sweep::ExpressionError& error) {
        throw ConfigError(fmt::format("{}: {} is {}", file_, place, error.what()));
    }
}

bool Formulas::is_element(std::string_view name) const {
    return std::ranges::any_of(lists_, [&](const auto& list) {
        return std::ranges::find(list.second, name, &Element::name) != list.second.end();
    });
}

/// The elements of lists that follow a name in longer ones.
std::set<std::string> Formulas::elements_below(const std::string& name) const {
    std::set<std::string> elements;
    const auto add = [&](const auto& numbers) {
        for (auto each = numbers.lower_bound(name + '.');
             each != numbers.end() && each->first.starts_with(name + '.'); ++each) {
            const std::string_view rest = std::string_view(each->first).substr(name.size() + 1);
            const std::string_view element = rest.substr(0, rest.find('.'));
            if (is_element(element)) elements.emplace(element);
        }
    };
    add(known_);
    add(named_);
    return elements;
}

bool Formulas::is_number(const std::string& name, const std::string& place) {
    return known_.contains(name) || (named_.contains(name) && list_of_name(name, place) == nullptr);
}

/// The list with just those elements for which there is a number behind the name; null if there is none.
const std::vector<Element>* Formulas::list_below(const std::string& name, const std::string& place) {
    std::set<std::string> there = elements_below(name);
    std::erase_if(there, [&](const std::string& element) { return !is_number(name + '.' + element, place); });
    if (there.empty()) return nullptr;
    for (const auto& [list, elements] : lists_) {
        const bool is_it =
            elements.size() == there.size() &&
            std::ranges::all_of(elements, [&](const Element& each) { return there.contains(each.name); });
        if (is_it) return &elements;
    }
    throw ConfigError(fmt::format("{}: {}: {} has numbers for {}; these are the elements of no list", file_,
                                  place, name, fmt::join(there, ", ")));
}

const std::vector<Element>* Formulas::list_of_name(const std::string& name, const std::string& place) {
    if (known_.contains(name) || split_row_word(name)) return nullptr;
    const auto done = lists_of_.find(name);
    if (done != lists_of_.end()) return done->second;
    const auto named = named_.find(name);
    const std::vector<Element>* list = nullptr;
    if (named != named_.end()) {
        if (!named->second.formula) return nullptr;
        const UnderWay under_way(open_, name, file_);
        list = list_of(*named->second.formula, "values." + name);
    } else {
        list = list_below(name, place);
        if (list == nullptr && !is_of_row(name, place)) fail(name, place);
    }
    lists_of_[name] = list;
    return list;
}

/// Whether the name is that of a row's formula and of one of its elements.
bool Formulas::is_of_row(const std::string& name, const std::string& place) {
    const auto [row, of] = split_last(name);
    if (row.empty() || !named_.contains(row)) return false;
    const std::vector<Element>* const list = list_of_name(row, place);
    return list != nullptr && std::ranges::find(*list, of, &Element::name) != list->end();
}

const std::vector<Element>* Formulas::list_of(const std::string& formula, const std::string& place) {
    const std::vector<Element>* list = nullptr;
    for (const std::string& name : expression(formula, place).names()) {
        const std::vector<Element>* const other = list_of_name(name, place);
        if (list != nullptr && other != nullptr && list != other) {
            throw ConfigError(
                fmt::format("{}: {}: \"{}\" names rows of different lists", file_, place, formula));
        }
        if (other != nullptr) list = other;
    }
    return list;
}

Number Formulas::computed(const std::string& formula, const std::string& element, const std::string& place,
                          const std::map<std::string, Number>& first) {
    const sweep::Expression& parsed = expression(formula, place);
    std::vector<double> operands;
    bool is_complete = true;
    for (const std::string& name : parsed.names()) {
        const auto given = first.find(name);
        const Number operand = given == first.end() ? number(name, element, place) : given->second;
        is_complete = is_complete && operand.has_value();
        operands.push_back(operand.value_or(0.0));
    }
    if (!is_complete) return std::nullopt;
    try {
        return parsed.value(operands);
    } catch (const sweep::ExpressionError&) {
        return std::nullopt;  // 1 / 0: there is no such number
    }
}

Number Formulas::number(const std::string& name, const std::string& element, const std::string& place) {
    if (const auto known = known_.find(name); known != known_.end()) return known->second;
    if (const auto word = split_row_word(name)) return reduced(*word->first, word->second, place);
    if (named_.contains(name)) {
        if (list_of_name(name, place) == nullptr) return named_number(name, {});
        if (!element.empty()) return named_number(name, element);
        throw ConfigError(fmt::format(
            "{}: {} names {}, a row of numbers; a word like mean_of makes one of it", file_, place, name));
    }
    if (!element.empty() && is_there(name + '.' + element))
        return number(name + '.' + element, element, place);
    if (is_of_row(name, place)) {
        const auto [row, of] = split_last(name);
        return named_number(row, of);
    }
    fail(name, place);
}

/// Of a named formula or function, computed once.
Number Formulas::named_number(const std::string& name, const std::string& element) {
    const auto key = std::pair(name, element);
    if (const auto done = results_.find(key); done != results_.end()) return done->second;
    const std::string place = "values." + name;
    const UnderWay under_way(computing_, element.empty() ? name : name + '.' + element, file_);
    const Named& named = named_.at(name);
    Number result;
    if (named.formula) {
        result = computed(*named.formula, element, place);
    } else {
        std::vector<std::vector<double>> rows;
        bool is_complete = true;
        for (const std::string& formula : named.rows) {
            if (list_of(formula, place) != list_of(named.rows.front(), place)) {
                throw ConfigError(fmt::format("{}: {}: \"{}\" and \"{}\" are rows of different lists", file_,
                                              place, named.rows.front(), formula));
            }
            std::vector<double>& numbers = rows.emplace_back();
            for (const auto& [each, number] : row(formula, place)) {
                is_complete = is_complete && number.has_value();
                numbers.push_back(number.value_or(0.0));
            }
        }
        if (is_complete) result = finite(named.function(rows));
    }
    results_[key] = result;
    return result;
}

std::vector<std::pair<std::string, Number>> Formulas::below(const std::string& name,
                                                            const std::vector<Element>* only,
                                                            const std::string& place) {
    const bool is_row = named_.contains(name);
    std::vector<std::string> elements;
    const std::vector<Element>* const list = only != nullptr ? only
                                             : is_row        ? list_of_name(name, place)
                                                             : list_below(name, place);
    if (list != nullptr) {
        for (const Element& element : *list) elements.push_back(element.name);
    } else {
        for (const std::string& element : elements_below(name)) elements.push_back(element);
    }
    if (elements.empty()) fail(name, place);
    std::vector<std::pair<std::string, Number>> numbers;
    for (const std::string& element : elements) {
        const std::string inner = fmt::format("{}.{}", name, element);
        if (is_row || is_number(inner, place)) {
            numbers.emplace_back(element, number(inner, {}, place));
        } else {
            for (auto& each : below(inner, nullptr, place)) numbers.push_back(std::move(each));
        }
    }
    return numbers;
}

Number Formulas::reduced(const RowWord& word, std::string_view name, const std::string& place) {
    const std::vector<Element>* only = nullptr;
    const std::size_t dot = name.find('.');
    if (const auto list = lists_.find(name.substr(0, dot));
        dot != std::string_view::npos && list != lists_.end()) {
        only = &list->second;
        name.remove_prefix(dot + 1);
    }
    const auto members = below(std::string(name), only, place);
    std::vector<double> numbers;
    std::vector<double> weights_of_them;
    for (const auto& [element, each] : members) {
        const Number weight =
            word.has_weights ? number(fmt::format("{}.{}", weights, element), {}, place) : Number(1.0);
        if (!each || !weight) return std::nullopt;
        numbers.push_back(*each);
        weights_of_them.push_back(*weight);
    }
    constexpr double nearly = 1e-6;
    const double sum = std::accumulate(weights_of_them.begin(), weights_of_them.end(), 0.0);
    if (word.has_weights && std::abs(sum - 1.0) > nearly) {
        throw ConfigError(
            fmt::format("{}: {}: the weights of {} have the sum {}; it must be 1", file_, place, name, sum));
    }
    return finite(word.of(numbers, weights_of_them));
}

Number Formulas::value(const std::string& formula, const std::string& place) {
    return computed(formula, {}, place);
}

Number Formulas::value(const std::string& formula, const std::string& element, const std::string& place) {
    return computed(formula, element, place);
}

Number Formulas::value(const std::string& formula, const std::string& element,
                       const std::map<std::string, Number>& first, const std::string& place) {
    return computed(formula, element, place, first);
}

std::vector<std::pair<std::string, Number>> Formulas::row(const std::string& formula,
                                                          const std::string& place) {
    const std::vector<Element>* const list = list_of(formula, place);
    if (list == nullptr) {
        throw ConfigError(
            fmt::format("{}: {}: \"{}\" is one number; a row is needed", file_, place, formula));
    }
    std::vector<std::pair<std::string, Number>> numbers;
    for (const Element& element : *list) {
        numbers.emplace_back(element.name, computed(formula, element.name, place));
    }
    return numbers;
}

bool Formulas::is_expected(const std::string& name) const {
    return expected_.contains(name) || expected_.contains(split_last(name).first);
}

void Formulas::check_there(const std::string& name, const std::string& place) const {
    const auto [row, element] = split_last(name);
    const bool is_of_named = named_.contains(row) && is_element(element);
    if (!is_there(name) && !is_expected(name) && !is_of_named && elements_below(name).empty())
        fail(name, place);
}

void Formulas::add_needs(const std::string& formula, std::set<std::string>& names, const std::string& place) {
    const auto add_name = [&](const auto& self, std::string name, const std::string& at) -> void {
        if (const auto word = split_row_word(name)) {
            if (word->first->has_weights) self(self, weights, at);
            std::string_view rest = word->second;
            const std::size_t dot = rest.find('.');
            if (dot != std::string_view::npos && lists_.contains(rest.substr(0, dot))) {
                rest.remove_prefix(dot + 1);
            }
            name = std::string(rest);
        }
        if (!names.insert(name).second) return;
        check_there(name, at);
        for (auto named = named_.lower_bound(name); named != named_.end() && named->first.starts_with(name);
             ++named) {
            if (named->first != name && !named->first.starts_with(name + '.')) continue;
            const std::string inside = "values." + named->first;
            std::vector<std::string> formulas = named->second.rows;
            if (named->second.formula) formulas.push_back(*named->second.formula);
            for (const std::string& each : formulas) {
                for (const std::string& inner : expression(each, inside).names()) self(self, inner, inside);
            }
        }
        const auto [row, element] = split_last(name);
        if (!row.empty() && named_.contains(row) && is_element(element)) self(self, row, at);
    };
    for (const std::string& name : expression(formula, place).names()) add_name(add_name, name, place);
}

namespace {

/// A formula and the digits of its number in a pair of braces: "{base.cycles.MLP0:.1f}".
struct Braces {
    std::size_t begin = 0;
    std::size_t end = 0;  ///< behind the brace
    std::string formula;
    int digits = 0;
};

/// Absent where the text has no more; `is_broken` where braces have something else.
std::optional<Braces> next_braces(const std::string& text, std::size_t from, bool& is_broken) {
    constexpr std::string_view format = ":.0f}";
    const std::size_t begin = text.find('{', from);
    is_broken = false;
    if (begin == std::string::npos) return std::nullopt;
    const std::size_t close = text.find('}', begin);
    is_broken = close == std::string::npos || close < begin + format.size();
    if (is_broken) return std::nullopt;
    const std::size_t colon = close + 1 - format.size();
    const char digit = text[colon + 2];
    is_broken =
        text[colon] != ':' || text[colon + 1] != '.' || digit < '0' || digit > '9' || text[colon + 3] != 'f';
    if (is_broken) return std::nullopt;
    return Braces{begin, close + 1, text.substr(begin + 1, colon - begin - 1), digit - '0'};
}

}  // namespace

std::vector<std::string> Formulas::formulas_in(const std::string& text, const std::string& place) const {
    std::vector<std::string> formulas;
    bool is_broken = false;
    for (auto next = next_braces(text, 0, is_broken); next; next = next_braces(text, next->end, is_broken)) {
        formulas.push_back(next->formula);
    }
    if (is_broken) {
        throw ConfigError(
            fmt::format("{}: {}: \"{}\": braces have a formula and its digits, as {{base.cycles.MLP0:.1f}}",
                        file_, place, text));
    }
    return formulas;
}

std::string Formulas::filled(const std::string& text, const std::string& place) {
    std::string result;
    std::size_t done = 0;
    bool is_broken = false;
    static_cast<void>(formulas_in(text, place));  // refuses broken braces
    for (auto next = next_braces(text, 0, is_broken); next; next = next_braces(text, done, is_broken)) {
        result += text.substr(done, next->begin - done);
        const Number number = value(next->formula, place);
        result += number ? fmt::format("{:.{}f}", *number, next->digits) : "-";
        done = next->end;
    }
    return result + text.substr(done);
}

}  // namespace systole::validate
