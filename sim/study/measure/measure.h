#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/run/baselines/baseline.h"
#include "sim/study/measure/computer.h"
#include "sim/study/measure/products.h"
#include "sim/study/measure/timing.h"
#include "sim/view/terminal/look.h"

/// Measures this computer as a baseline.
namespace systole::measure {

/// The options of a measurement.
struct Options {
    double minimum_seconds = 0.5;    ///< minimum time of each measurement
    std::uint64_t peak_size = 2048;  ///< rows, columns and depth of the product that stands for the peak
    std::uint64_t least_read_bytes = std::uint64_t{256} << 20;  ///< read from memory at once
    std::filesystem::path powercap = "/sys/class/powercap";
};

/// Watts of all packages.
struct Watts {
    double idle = 0.0;
    double busy = 0.0;  ///< while the network's products run
};

struct Measurement {
    Computer computer;
    std::string model;
    std::uint32_t batch = 0;
    Products products;
    ProductTimings fp32;  ///< of the products
    ProductTimings int8;
    std::uint64_t peak_size = 0;
    Timing fp32_peak;  ///< of one product of peak_size
    /// Share of its cores' time that the process had during this product. A share well below 1 means that
    /// other work ran at the same time, so that the figures are too low.
    double core_share = 0.0;
    Timing int8_peak;
    Timing call;  ///< of a product of one element
    std::uint64_t read_bytes = 0;
    Timing read;
    std::optional<Watts> watts;
    std::string no_watts_because;  ///< the reason, if `watts` is absent

    /// 10^9 operations a second, a multiply-accumulate counting two.
    double peak_gops(const Timing& peak) const;
    double read_gb_per_s() const;
    /// The rate of the network's products alone: an upper bound for the network on this computer.
    double inferences_per_second(const ProductTimings& timings) const;
};

/// Measures this computer on the products of a network. Throws ModelError if the network has none.
Measurement measure(const ir::Graph& graph, std::uint32_t batch, const Options& options);

/// The computer as a baseline for comparisons. Its peaks are the attained ones, so its efficiency is 1.
baselines::Baseline to_baseline(const Measurement& measurement);

/// The measurement as text for people.
std::string to_text(const Measurement& measurement, const terminal::Look& look = {});

}  // namespace systole::measure
