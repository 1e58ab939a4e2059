#include "sim/study/validate/counters.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace systole::validate {

double counter_row(std::size_t row, const Measurement& measured) {
    constexpr double percent = 100.0;
    switch (row) {
        case 0:
            return percent * measured.share(measured.active_cycles);
        case 1:
            return percent * measured.useful_share();
        case 2:
            return percent * measured.unused_share();
        case 3:
            return percent * measured.share(measured.weight_stall_cycles);
        case 4:
            return percent * measured.share(measured.weight_shift_cycles);
        case 5:
            return percent * measured.share(measured.non_matrix_cycles);
        case 6:
            return percent * measured.share(measured.raw_stall_cycles);
        case 7:
            return percent * measured.share(measured.input_stall_cycles);
        case 8:
            return measured.tera_ops();
        default:
            throw std::out_of_range("Table 3 has nine rows");
    }
}

double counter_row_mean(std::size_t row, const ByWorkload<Measurement>& measured) {
    double sum = 0.0;
    for (const Measurement& each : measured) sum += counter_row(row, each);
    return sum / static_cast<double>(workload_count);
}

double counter_row_difference(std::size_t row, const Results& results) {
    double sum = 0.0;
    for (std::size_t i = 0; i < workload_count; ++i) {
        sum += std::abs(counter_row(row, results.base[i]) - results.published.table_3.rows.at(row)[i]);
    }
    return sum / static_cast<double>(workload_count);
}

CyclesErrors cycles_errors(const Results& results) {
    CyclesErrors errors;
    for (std::size_t i = 0; i < workload_count; ++i) {
        const double error = cycles_error(results.published.table_3.rows[1][i], results.base[i]);
        errors.by_workload[i] = error;
        errors.mean += std::abs(error) / static_cast<double>(workload_count);
        errors.largest = std::max(errors.largest, std::abs(error));
    }
    return errors;
}

SensitivityErrors sensitivity_errors(const Results& results, const Sensitivity& ours) {
    SensitivityErrors errors{};
    for (std::size_t curve = 0; curve < curve_names.size(); ++curve) {
        for (std::size_t i = 0; i < scales.size(); ++i) {
            const double mean = weighted_mean(results.weights, ours.performance[curve][i]);
            errors[curve][i] = mean / results.published.figure_11.curves[curve][i] - 1.0;
        }
    }
    return errors;
}

double largest(const SensitivityErrors& errors) {
    double most = 0.0;
    for (const auto& curve : errors) {
        for (const double error : curve) most = std::max(most, std::abs(error));
    }
    return most;
}

}  // namespace systole::validate
