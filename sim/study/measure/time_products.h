#pragma once

#include <span>
#include <vector>

#include "sim/run/baselines/baseline.h"
#include "sim/study/measure/products.h"
#include "sim/study/measure/timing.h"

namespace systole::measure {

struct ProductTimings {
    std::vector<Timing> each;  ///< in the order of the products
    Timing pass;               ///< all of them, one after the other
};

/// Runs the products one after the other with oneDNN, again and again for `minimum_seconds`, on all cores
/// that this process may use. In int8, unsigned bytes are multiplied by signed bytes with 32-bit sums. The
/// weights of a product are in the caches only as far as the products before it have left them there.
ProductTimings time_products(std::span<const Product> products, baselines::Precision precision,
                             double minimum_seconds);

}  // namespace systole::measure
