#include "sim/study/validate/null_models/linear.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

namespace systole::null_models {
namespace {

using Numbers = std::vector<double>;
using Indices = std::vector<std::size_t>;

/// Calls `use` with each choice of `size` of the numbers below `count`.
void each_choice(std::size_t count, std::size_t size, const std::function<void(const Indices&)>& use) {
    Indices chosen;
    const auto choose = [&](const auto& self, std::size_t from) -> void {
        if (chosen.size() == size) return use(chosen);
        for (std::size_t i = from; i < count; ++i) {
            chosen.push_back(i);
            self(self, i + 1);
            chosen.pop_back();
        }
    };
    choose(choose, 0);
}

/// Solves the square system by elimination, its last column being the right side; absent if it has no single
/// solution.
std::optional<Numbers> solved(std::vector<Numbers> system) {
    constexpr double nothing = 1e-12;
    const std::size_t size = system.size();
    for (std::size_t column = 0; column < size; ++column) {
        std::size_t pivot = column;
        for (std::size_t row = column + 1; row < size; ++row) {
            if (std::abs(system[row][column]) > std::abs(system[pivot][column])) pivot = row;
        }
        if (std::abs(system[pivot][column]) < nothing) return std::nullopt;
        std::swap(system[pivot], system[column]);
        for (std::size_t row = 0; row < size; ++row) {
            if (row == column) continue;
            const double factor = system[row][column] / system[column][column];
            for (std::size_t i = column; i <= size; ++i) system[row][i] -= factor * system[column][i];
        }
    }
    Numbers solution;
    for (std::size_t i = 0; i < size; ++i) solution.push_back(system[i][size] / system[i][i]);
    return solution;
}

double mean_error(const std::vector<LinearRow>& rows, const Numbers& constants) {
    double sum = 0.0;
    for (const LinearRow& row : rows) sum += std::abs(predicted(row, constants) / row.measured - 1.0);
    return sum / static_cast<double>(rows.size());
}

}  // namespace

double predicted(const LinearRow& row, const std::vector<double>& constants) {
    return std::inner_product(row.terms.begin(), row.terms.end(), constants.begin(), 0.0);
}

std::vector<double> least_absolute(const std::vector<LinearRow>& rows) {
    const std::size_t terms = rows.at(0).terms.size();
    if (terms > most_terms) throw std::invalid_argument("too many terms");
    Numbers best(terms);
    double least = mean_error(rows, best);
    // Terms differ by orders of magnitude: each is scaled by its largest share of a measured number.
    Numbers scale(terms);
    for (const LinearRow& row : rows) {
        for (std::size_t i = 0; i < terms; ++i) {
            scale[i] = std::max(scale[i], std::abs(row.terms[i]) / row.measured);
        }
    }
    for (std::size_t size = 1; size <= terms; ++size) {
        each_choice(terms, size, [&](const Indices& used) {
            each_choice(rows.size(), size, [&](const Indices& exact) {
                std::vector<Numbers> system;
                for (const std::size_t row : exact) {
                    Numbers& line = system.emplace_back();
                    for (const std::size_t term : used) {
                        const double share = rows[row].terms[term] / rows[row].measured;
                        line.push_back(scale[term] > 0.0 ? share / scale[term] : 0.0);
                    }
                    line.push_back(1.0);
                }
                const std::optional<Numbers> solution = solved(std::move(system));
                if (!solution) return;
                Numbers constants(terms);
                for (std::size_t i = 0; i < size; ++i) {
                    if ((*solution)[i] < 0.0) return;
                    constants[used[i]] = (*solution)[i] / scale[used[i]];
                }
                const double error = mean_error(rows, constants);
                if (error >= least) return;
                least = error;
                best = constants;
            });
        });
    }
    return best;
}

}  // namespace systole::null_models
