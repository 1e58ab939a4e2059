#include "sim/study/validate/formula_fits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "hw/machine/config_error.h"

namespace systole::validate {
namespace {

/// A fit with the elements that it is of.
class NamedFit {
public:
    NamedFit(const FormulaFit& fit, const Setup& setup, Formulas& formulas)
        : fit_(fit), setup_(setup), formulas_(formulas), elements_(elements_of_list()) {}

    void know() {
        const Fits fits = validate::fit(
            fit_.grid, elements_.size(), [this](const std::vector<FitTask>& tasks) { return errors(tasks); },
            sets());
        const std::vector<std::string> groups = groups_of_elements();
        for (std::size_t i = 0; i < fit_.grid.axes.size(); ++i) {
            const std::string& key = fit_.grid.axes[i].key;
            know("constants." + key, fits.all.parameters[i]);
            Number least;
            Number most;
            std::map<std::string, double> without;  // by the text that was left out
            for (std::size_t split = 0; split < fits.splits.size(); ++split) {
                const double value = fits.splits[split].parameters[i];
                least = std::min(least.value_or(value), value);
                most = std::max(most.value_or(value), value);
                without[order_of_groups()[split]] = value;
            }
            know("least." + key, least);
            know("most." + key, most);
            for (const Element& workload : formulas_.lists().at("workloads")) {
                const auto found = without.find(group_of(workload.name));
                know(fmt::format("without.{}.{}", key, workload.name),
                     found == without.end() ? fits.all.parameters[i] : found->second);
            }
        }
        know_errors(fits, groups);
    }

private:
    void know_errors(const Fits& fits, const std::vector<std::string>& groups) {
        const std::vector<std::string> order = order_of_groups();
        double sum = 0.0;
        double worst = 0.0;
        for (std::size_t i = 0; i < elements_.size(); ++i) {
            know("errors." + elements_[i], fits.all.errors[i]);
            if (fits.splits.empty()) {
                know("left_out." + elements_[i], std::nullopt);
                continue;
            }
            const auto split = static_cast<std::size_t>(std::ranges::find(order, groups[i]) - order.begin());
            const double error = fits.splits[split].errors[i];
            know("left_out." + elements_[i], error);
            sum += std::abs(error);
            worst = std::max(worst, std::abs(error));
        }
        know("error", fits.all.fitted_error);
        know("worst", fits.all.fitted_worst);
        const bool has_others = !fits.splits.empty();
        know("others_mean", has_others ? Number(sum / static_cast<double>(elements_.size())) : std::nullopt);
        know("others_worst", has_others ? Number(worst) : std::nullopt);
    }

    [[noreturn]] void fail(const std::string& what) const {
        throw machine::ConfigError(fmt::format("{}: formula_fits.{}: {}", setup_.file, fit_.name, what));
    }
    void know(const std::string& what, Number number) {
        formulas_.know(fmt::format("{}.{}", fit_.name, what), number);
    }

    std::vector<std::string> elements_of_list() const {
        const auto list = formulas_.lists().find(fit_.of);
        if (list == formulas_.lists().end()) fail(fmt::format("{} is no list", fit_.of));
        std::vector<std::string> names;
        for (const Element& element : list->second) names.push_back(element.name);
        return names;
    }

    /// The text by which a workload is left out; empty where none is.
    std::string group_of(const std::string& element) const {
        if (fit_.leave_out.empty()) return {};
        const std::vector<Element>& workloads = formulas_.lists().at("workloads");
        const auto workload = std::ranges::find(workloads, element, &Element::name);
        if (workload == workloads.end()) fail(fmt::format("{} is none of the workloads", element));
        const auto text = workload->more.find(fit_.leave_out);
        if (text == workload->more.end()) {
            fail(fmt::format("leave_out is {}; {} has no such text", fit_.leave_out, element));
        }
        return text->second;
    }
    std::vector<std::string> groups_of_elements() const {
        std::vector<std::string> groups;
        for (const std::string& element : elements_) groups.push_back(group_of(element));
        return groups;
    }
    /// Each text once, in the order of the elements.
    std::vector<std::string> order_of_groups() const {
        std::vector<std::string> order;
        for (std::string& group : groups_of_elements()) {
            if (!group.empty() && std::ranges::count(order, group) == 0) order.push_back(std::move(group));
        }
        return order;
    }

    /// All elements without those of each text, then all.
    std::vector<Workloads> sets() const {
        const std::vector<std::string> groups = groups_of_elements();
        const std::vector<std::string> order = order_of_groups();
        if (order.size() == 1)
            fail(fmt::format("{} is {} of all: none would be left", fit_.leave_out, order[0]));
        std::vector<Workloads> sets(order.size() + 1);
        for (std::size_t i = 0; i < elements_.size(); ++i) {
            for (std::size_t set = 0; set < order.size(); ++set) {
                if (groups[i] != order[set]) sets[set].push_back(i);
            }
            sets.back().push_back(i);
        }
        return sets;
    }

    std::vector<double> errors(const std::vector<FitTask>& tasks) {
        const std::string& formula = fit_.grid.rows.front().error;
        const std::string place = fmt::format("formula_fits.{}.error", fit_.name);
        std::vector<double> errors;
        errors.reserve(tasks.size());
        for (const FitTask& task : tasks) {
            FitNumbers trial;
            for (std::size_t i = 0; i < task.parameters.size(); ++i) {
                trial["trial." + fit_.grid.axes[i].key] = task.parameters[i];
            }
            const std::string& element = elements_[task.workload];
            const Number error = formulas_.value(formula, element, trial, place);
            if (!error) fail(fmt::format("\"{}\" has no value for {}", formula, element));
            errors.push_back(*error);
        }
        return errors;
    }

    const FormulaFit& fit_;
    const Setup& setup_;
    Formulas& formulas_;
    const std::vector<std::string> elements_;
};

}  // namespace

std::set<std::string> names_of(const FormulaFit& fit) {
    std::set<std::string> names;
    const auto add = [&](const std::string& what) { names.insert(fmt::format("{}.{}", fit.name, what)); };
    for (const GridAxis& axis : fit.grid.axes) {
        for (const char* const what : {"constants", "least", "most", "without"})
            add(fmt::format("{}.{}", what, axis.key));
        names.insert("trial." + axis.key);
    }
    for (const char* const what : {"errors", "left_out", "error", "worst", "others_mean", "others_worst"}) {
        add(what);
    }
    return names;
}

void know_formula_fit(const FormulaFit& fit, const Setup& setup, Formulas& formulas) {
    NamedFit(fit, setup, formulas).know();
}

}  // namespace systole::validate
