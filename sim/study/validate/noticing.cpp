#include "sim/study/validate/noticing.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>

#include "hw/machine/config_error.h"

namespace systole::validate {
double NoticingFigure::error() const {
    return is_share ? std::abs(ours - published) : 100.0 * std::abs(ours / published - 1.0);
}

std::vector<NoticingFigure> noticing_figures(const Target& target, const std::string& machine,
                                             Formulas& formulas) {
    std::vector<NoticingFigure> figures;
    for (const NoticingFormulas& each : target.noticing) {
        if (!each.machine.empty() && each.machine != machine) continue;
        const std::string place = fmt::format("noticing, {}", each.name);
        const auto add = [&](const std::string& element, const std::string& name) {
            const auto value = [&](const std::string& formula) {
                return formulas.value(formula, element, place).value_or(NAN);
            };
            const double published = value(each.published);
            if (std::isnan(published) || (!each.is_share && published == 0.0)) {
                throw machine::ConfigError(
                    fmt::format("{}: {} has no published value with which to compare", place, name));
            }
            figures.push_back({name, each.is_share, published, value(each.ours)});
        };
        const std::vector<Element>* const list = formulas.list_of(each.published, place);
        if (list == nullptr) add({}, each.name);
        for (const Element& element : list == nullptr ? std::vector<Element>() : *list) {
            add(element.name, each.name + ", " + element.name);
        }
    }
    return figures;
}

std::string Growth::text() const {
    return fmt::format("{}: {:.1f} -> {:.1f} {}", figure, before, after, is_share ? "points" : "%");
}

std::optional<Growth> largest_growth(const std::vector<NoticingFigure>& before,
                                     const std::vector<NoticingFigure>& after) {
    std::optional<Growth> most;
    for (std::size_t i = 0; i < before.size(); ++i) {
        const double was = before[i].error();
        const double is = after.at(i).error();
        const double least = most ? most->after - most->before : 0.0;
        if (!(is - was > least)) continue;  // also if an error is no number
        most = Growth{.figure = before[i].name, .is_share = before[i].is_share, .before = was, .after = is};
    }
    return most;
}

}  // namespace systole::validate
