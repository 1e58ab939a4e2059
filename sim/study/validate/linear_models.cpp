#include "sim/study/validate/linear_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hw/machine/config_error.h"
#include "sim/study/validate/null_models/linear.h"

namespace systole::validate {
namespace {

using null_models::LinearRow;

/// A null model with its numbers: of each row one for each workload.
class LinearModel {
public:
    LinearModel(const Setup& setup, std::string name, const NullModel& model, Formulas& formulas)
        : setup_(setup), name_(std::move(name)), model_(model), formulas_(formulas) {
        std::set<std::string> names;
        for (const NullRow& row : model.rows) {
            for (const auto& [constant, formula] : row.terms) names.insert(constant);
        }
        constants_.assign(names.begin(), names.end());
        if (constants_.size() > null_models::most_terms) {
            fail("", fmt::format("it has {} constants; at most {} are fitted", constants_.size(),
                                 null_models::most_terms));
        }
        for (const NullRow& row : model.rows) rows_.push_back(numbers_of(row));
    }

    void know() {
        const std::vector<Element>& workloads = formulas_.lists().at("workloads");
        const std::vector<double> constants = fitted(workloads.size());
        for (std::size_t i = 0; i < constants.size(); ++i) {
            formulas_.know(fmt::format("{}.constants.{}", name_, constants_[i]), constants[i]);
        }
        Sizes all;
        Sizes others;
        for (std::size_t workload = 0; workload < workloads.size(); ++workload) {
            const std::vector<double> without = fitted(workload);
            for (std::size_t row = 0; row < rows_.size(); ++row) {
                const auto know = [&](const char* what, const std::vector<double>& by, Sizes& sizes) {
                    const LinearRow& numbers = rows_[row][workload];
                    const double error = null_models::predicted(numbers, by) / numbers.measured - 1.0;
                    sizes.push_back(std::abs(error));
                    formulas_.know(fmt::format("{}.{}.{}.{}", name_, what, model_.rows[row].name,
                                               workloads[workload].name),
                                   error);
                };
                know("errors", constants, all);
                know("left_out", without, others);
            }
        }
        know_sizes("mean", "worst", all);
        know_sizes("others_mean", "others_worst", others);
    }

private:
    using Sizes = std::vector<double>;

    [[noreturn]] void fail(const std::string& key, const std::string& what) const {
        throw machine::ConfigError(fmt::format("{}: null_models.{}{}: {}", setup_.file, name_, key, what));
    }

    /// The constants of all workloads but one.
    std::vector<double> fitted(std::size_t left_out) const {
        std::vector<LinearRow> some;
        for (const std::vector<LinearRow>& row : rows_) {
            for (std::size_t i = 0; i < row.size(); ++i) {
                if (i != left_out) some.push_back(row[i]);
            }
        }
        if (some.empty()) return std::vector<double>(constants_.size());
        return null_models::least_absolute(some);
    }

    std::vector<LinearRow> numbers_of(const NullRow& row) const {
        const std::vector<double> measured = workload_row(row.measured, "." + row.name + ".measured");
        std::vector<LinearRow> numbers;
        for (const double number : measured) {
            if (number <= 0.0) fail("." + row.name + ".measured", "it must be above 0");
            numbers.push_back({.measured = number, .terms = {}});
        }
        for (const std::string& constant : constants_) {
            std::vector<double> term(measured.size());
            const auto found = row.terms.find(constant);
            if (found != row.terms.end()) {
                term = workload_row(found->second, fmt::format(".{}.terms.{}", row.name, constant));
            }
            for (std::size_t i = 0; i < term.size(); ++i) numbers[i].terms.push_back(term[i]);
        }
        return numbers;
    }

    std::vector<double> workload_row(const std::string& formula, const std::string& key) const {
        const std::string place = fmt::format("null_models.{}{}", name_, key);
        std::set<std::string> needs;
        formulas_.add_needs(formula, needs, place);
        for (const std::string& need : needs) {
            const std::string first = need.substr(0, need.find('.'));
            if (first == "machine" || first == "fit" || setup_.target.runs.contains(first)) {
                fail(key, need + " is of ours; it has no part in a null model");
            }
        }
        if (formulas_.list_of(formula, place) != &formulas_.lists().at("workloads")) {
            fail(key, fmt::format("\"{}\" is no row of the workloads", formula));
        }
        std::vector<double> numbers;
        for (const auto& [element, number] : formulas_.row(formula, place)) {
            if (!number) fail(key, fmt::format("\"{}\" has no value for {}", formula, element));
            numbers.push_back(*number);
        }
        return numbers;
    }

    void know_sizes(const char* mean, const char* worst, const Sizes& sizes) {
        double sum = 0.0;
        for (const double size : sizes) sum += size;
        formulas_.know(fmt::format("{}.{}", name_, mean), sum / static_cast<double>(sizes.size()));
        formulas_.know(fmt::format("{}.{}", name_, worst), *std::ranges::max_element(sizes));
    }

    const Setup& setup_;
    const std::string name_;
    const NullModel& model_;
    Formulas& formulas_;
    std::vector<std::string> constants_;
    std::vector<std::vector<LinearRow>> rows_;
};

}  // namespace

void know_null_models(const Setup& setup, Formulas& formulas) {
    for (const auto& [name, model] : setup.target.null_models)
        LinearModel(setup, name, model, formulas).know();
}

}  // namespace systole::validate
