#include "sim/study/validate/queue.h"

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace systole::validate {
namespace {

/// The distribution of the number in the system when a customer leaves it. Flows between n and n + 1 balance,
/// which gives each probability from those before it, in sums of positive terms.
class QueueLength {
public:
    explicit QueueLength(double load)
        : load_(load), probability_{1.0 - load}, more_than_{1.0 - std::exp(-load)}, term_(std::exp(-load)) {}

    /// The probability of at most `n` in the system.
    double at_most(std::size_t n) {
        while (probability_.size() <= n) extend();
        double sum = 0.0;
        for (std::size_t i = 0; i <= n; ++i) sum += probability_[i];
        return sum;
    }

private:
    /// The probability that more than `k` arrive in a service time.
    double more_than(std::size_t k) {
        while (more_than_.size() <= k) {
            term_ *= load_ / static_cast<double>(more_than_.size());
            // A smaller tail would be rounding noise: it counts as 0.
            const double rest = more_than_.back() - term_;
            more_than_.push_back(rest > 1e-15 ? rest : 0.0);
        }
        return more_than_[k];
    }
    void extend() {
        const std::size_t n = probability_.size() - 1;
        double up = probability_[0] * more_than(n);
        for (std::size_t i = 1; i <= n; ++i) up += probability_[i] * more_than(n - i + 1);
        probability_.push_back(up / std::exp(-load_));
    }

    double load_;
    std::vector<double> probability_;
    std::vector<double> more_than_;
    double term_;  ///< the probability of the last number of arrivals in `more_than_`
};

/// The probability of a wait of at most `time` service times.
double waits_at_most(QueueLength& length, double load, double time) {
    const auto periods = static_cast<std::size_t>(time) + 1;
    const double mean = load * (static_cast<double>(periods) - time);
    double arrivals = std::exp(-mean);  // the probability that none, one, ... arrive
    double sum = 0.0;
    for (std::size_t j = 0; j < periods; ++j) {
        sum += length.at_most(periods - j) * arrivals;
        arrivals *= mean / static_cast<double>(j + 1);
    }
    return sum;
}

}  // namespace

double response_time(double load, double percentile) {
    if (!(load > 0.0 && load < 1.0)) throw std::invalid_argument("a queue's load must be within (0, 1)");
    QueueLength length(load);
    double too_short = 0.0;  // waiting times below and above the percentile
    if (waits_at_most(length, load, 0.0) >= percentile) return 1.0;
    double enough = 1.0;
    while (waits_at_most(length, load, enough) < percentile) enough *= 2.0;
    while (enough - too_short > 0.5e-3) {
        const double middle = (too_short + enough) / 2.0;
        (waits_at_most(length, load, middle) < percentile ? too_short : enough) = middle;
    }
    return 1.0 + enough;
}

double largest_load(double limit, double percentile) {
    if (limit < 1.0) return 0.0;
    // In whole thousandths, so that no rounding decides.
    unsigned within = 0;
    unsigned beyond = 990;  // where one in a hundred waits hundreds of service times
    while (beyond - within > 1) {
        const unsigned middle = (within + beyond) / 2;
        (response_time(middle / 1000.0, percentile) <= limit ? within : beyond) = middle;
    }
    return within / 1000.0;
}

}  // namespace systole::validate
