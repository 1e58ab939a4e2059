#include "sim/study/validate/null_models/least_error.h"

#include <cmath>
#include <vector>

namespace systole::null_models {

double mean_absolute(std::span<const double> errors) {
    double sum = 0.0;
    for (const double error : errors) sum += std::abs(error);
    return sum / static_cast<double>(errors.size());
}

double least_error(std::span<const double> measured,
                   const std::function<double(std::size_t, double)>& predict,
                   const std::function<double(std::size_t)>& exact) {
    double best = 0.0;
    double least = HUGE_VAL;
    std::vector<double> errors(measured.size());
    for (std::size_t candidate = 0; candidate < measured.size(); ++candidate) {
        const double constant = exact(candidate);
        for (std::size_t i = 0; i < measured.size(); ++i) {
            errors[i] = predict(i, constant) / measured[i] - 1.0;
        }
        const double mean = mean_absolute(errors);
        if (mean >= least) continue;
        least = mean;
        best = constant;
    }
    return best;
}

double best_factor(std::span<const double> measured, std::span<const double> predicted) {
    return least_error(
        measured, [&](std::size_t i, double factor) { return factor * predicted[i]; },
        [&](std::size_t i) { return measured[i] / predicted[i]; });
}

double best_addend(std::span<const double> measured, std::span<const double> predicted,
                   std::span<const double> times) {
    return least_error(
        measured, [&](std::size_t i, double addend) { return predicted[i] + addend * times[i]; },
        [&](std::size_t i) { return (measured[i] - predicted[i]) / times[i]; });
}

}  // namespace systole::null_models
