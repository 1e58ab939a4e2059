#include "sim/study/validate/queue.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace systole::validate {
namespace {

/// Where one in a hundred waits hundreds of service times.
constexpr double most_load = 0.99;

/// The probabilities that a customer who leaves has at most 0, 1, ... `most` others behind. Flows between n
/// and n + 1 customers balance, which gives each probability from those before it, in sums of positive terms.
std::vector<double> at_most(std::size_t most, double load) {
    double exactly = std::exp(-load);              // the probability of k arrivals in a service time
    std::vector<double> more_than{1.0 - exactly};  // and of more than k
    std::vector<double> probability{1.0 - load};   // of n customers
    std::vector<double> sums{1.0 - load};
    for (std::size_t n = 0; n < most; ++n) {
        double up = probability[0] * more_than[n];
        for (std::size_t i = 1; i <= n; ++i) up += probability[i] * more_than[n - i + 1];
        probability.push_back(up / std::exp(-load));
        sums.push_back(sums.back() + probability.back());
        exactly *= load / static_cast<double>(n + 1);
        // A smaller tail would be rounding noise: it counts as 0.
        const double rest = more_than.back() - exactly;
        more_than.push_back(rest > 1e-15 ? rest : 0.0);
    }
    return sums;
}

/// The probability of a wait of at most `time` service times.
double waits_at_most(double load, double time) {
    const auto periods = static_cast<std::size_t>(time) + 1;
    const std::vector<double> length = at_most(periods, load);
    const double mean = load * (static_cast<double>(periods) - time);
    double arrivals = std::exp(-mean);  // the probability that none, one, ... arrive
    double sum = 0.0;
    for (std::size_t j = 0; j < periods; ++j) {
        sum += length[periods - j] * arrivals;
        arrivals *= mean / static_cast<double>(j + 1);
    }
    return sum;
}

/// Beyond, the search for a time would not end: the sums have no more digits.
bool is_percentile(double share) {
    constexpr double most = 0.99999;
    return share > 0.0 && share <= most;
}

}  // namespace

double response_time(double load, double percentile) {
    if (!(load > 0.0 && load < 1.0)) throw std::invalid_argument("a queue's load must be within (0, 1)");
    double too_short = 0.0;  // waiting times below and above the percentile
    if (waits_at_most(load, 0.0) >= percentile) return 1.0;
    double enough = 1.0;
    while (waits_at_most(load, enough) < percentile) enough *= 2.0;
    while (enough - too_short > 0.5e-3) {
        const double middle = (too_short + enough) / 2.0;
        (waits_at_most(load, middle) < percentile ? too_short : enough) = middle;
    }
    return 1.0 + enough;
}

double largest_load(double limit, double percentile) {
    if (limit < 1.0) return 0.0;
    // In whole thousandths, so that no rounding decides.
    unsigned within = 0;
    auto beyond = static_cast<unsigned>(std::lround(1000.0 * most_load));
    while (beyond - within > 1) {
        const unsigned middle = (within + beyond) / 2;
        (response_time(middle / 1000.0, percentile) <= limit ? within : beyond) = middle;
    }
    return within / 1000.0;
}

std::span<const sweep::BinaryFunction> queue_functions() {
    static constexpr std::array<sweep::BinaryFunction, 2> functions{
        {{"response_time",
          [](double load, double percentile) {
              return load > 0.0 && load < most_load && is_percentile(percentile)
                         ? response_time(load, percentile)
                         : std::nan("");
          }},
         {"largest_load", [](double limit, double percentile) {
              return is_percentile(percentile) ? largest_load(limit, percentile) : std::nan("");
          }}}};
    return functions;
}

}  // namespace systole::validate
