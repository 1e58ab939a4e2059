#include "sim/study/validate/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "hw/machine/config_error.h"
#include "sim/view/table/table.h"

namespace systole::validate {
namespace {

void add_baselines(const BaselineErrors& models, std::vector<Figure>& to) {
    for (const auto* part : {&models.throughput, &models.latency, &models.batch, &models.ratio}) {
        for (const BaselineErrorRow& row : *part) {
            const std::string name = row.baseline.substr(0, row.baseline.find_first_of("_ "));
            to.push_back(
                {.place = fmt::format("{}, {}, {}", row.source, name, row.unit),
                 .what = row.batch == 0 ? row.workload : fmt::format("{}, batch {}", row.workload, row.batch),
                 .origin = Origin::Model,
                 .published = row.published,
                 .ours = row.ours,
                 .digits = row.published >= 100.0 ? 0 : 1});
        }
    }
}

/// The published row and ours are over one list, or both are numbers.
void check_lists(const FigureFormulas& figure, const std::string& place, Formulas& formulas) {
    const std::vector<Element>* const list = formulas.list_of(figure.published, place);
    for (const std::string* const formula : {&figure.ours, &figure.roofline}) {
        if (formula->empty() || formulas.list_of(*formula, place) == list) continue;
        throw machine::ConfigError(fmt::format("{}: \"{}\" and \"{}\" are not over the same list", place,
                                               figure.published, *formula));
    }
}

void add_figures(const FigureFormulas& formulas_of, Formulas& formulas, std::vector<Figure>& to) {
    const std::string place = fmt::format("figures, {}", formulas_of.place);
    check_lists(formulas_of, place, formulas);
    const auto add = [&](const std::string& element, std::string what) {
        const auto value = [&](const std::string& formula) {
            return formula.empty() ? Number() : formulas.value(formula, element, place);
        };
        const Number published = value(formulas_of.published);
        if (!published) {
            throw machine::ConfigError(fmt::format("{}: {} has no published value", place, what));
        }
        to.push_back({.place = formulas_of.place,
                      .what = std::move(what),
                      .origin = formulas_of.origin,
                      .published = *published,
                      .ours = value(formulas_of.ours),
                      .roofline = value(formulas_of.roofline),
                      .has_roofline = !formulas_of.roofline.empty(),
                      .digits = static_cast<int>(formulas_of.digits)});
    };
    const std::vector<Element>* const list = formulas.list_of(formulas_of.published, place);
    if (list == nullptr) {
        add({}, formulas_of.what);
        return;
    }
    for (const Element& element : *list) add(element.name, element.name + formulas_of.what);
}

/// Of ours or of another value. A published 0 is met by what is shown as 0.
std::optional<double> error_of(const Figure& figure, const std::optional<double>& value) {
    if (!value) return std::nullopt;
    if (figure.published != 0.0) return *value / figure.published - 1.0;
    return tables::rounded(*value, figure.digits) == 0.0 ? std::optional(0.0) : std::nullopt;
}

double size_of(const std::optional<double>& error) {
    return error ? std::abs(*error) : std::numeric_limits<double>::infinity();
}

}  // namespace

std::optional<double> Figure::error() const {
    return error_of(*this, ours);
}

std::optional<double> Figure::roofline_error() const {
    return error_of(*this, roofline);
}

std::vector<Figure> figures_of(const Target& target, const BaselineErrors& baselines, Formulas& formulas) {
    std::vector<Figure> figures;
    for (const FigureFormulas& each : target.figures) {
        if (each.rows_of.empty()) {
            add_figures(each, formulas, figures);
        } else {
            add_baselines(baselines, figures);
        }
    }
    return figures;
}

Closeness closeness(const std::vector<const Figure*>& figures,
                    std::optional<double> (Figure::*error)() const) {
    Closeness result{.figures = figures.size()};
    std::vector<double> sizes;
    for (const Figure* figure : figures) {
        const double size = size_of((figure->*error)());
        sizes.push_back(size);
        for (std::size_t i = 0; i < close_bounds.size(); ++i) result.within[i] += size <= close_bounds[i];
        if (result.worst == nullptr || size > size_of((result.worst->*error)())) result.worst = figure;
    }
    std::ranges::sort(sizes);
    if (!sizes.empty()) {
        const std::size_t middle = sizes.size() / 2;
        result.median = sizes.size() % 2 == 1 ? sizes[middle] : (sizes[middle - 1] + sizes[middle]) / 2.0;
    }
    return result;
}

}  // namespace systole::validate
