#include "sim/study/validate/rooflines.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "sim/study/validate/null_models/least_error.h"

namespace systole::null_models {

// ConfigReader finds each `describe` through the type of its structure.
void describe(machine::ConfigReader& reader, Layer& layer) {
    using machine::needed;
    constexpr double most = 1e9;
    std::string name;
    std::vector<double> inputs;
    std::uint32_t columns = 0;
    std::uint32_t vectors = 0;
    reader.field(needed("name", "", ""), name);
    reader.field(needed("inputs", "", ""), inputs, {1.0, most});
    reader.field(needed("columns", "", ""), columns, {1, 1000000000});
    reader.field(needed("vectors", "", ""), vectors, {1, 1000000000});
    reader.field(needed("bits", "", ""), layer.bits, {8, 16});
    reader.check_keys();
    if (layer.bits != 8 && layer.bits != 16) reader.fail("bits", "it must be 8 or 16");
    for (const double rows : inputs) layer.inputs.push_back(static_cast<std::uint64_t>(rows));
    layer.columns = columns;
    layer.vectors = vectors;
}

void describe(machine::ConfigReader& reader, Network& network) {
    using machine::needed;
    reader.field(needed("input_bytes", "", ""), network.input_bytes, {0, 1'000'000'000});
    reader.field(needed("output_bytes", "", ""), network.output_bytes, {0, 1'000'000'000});
    reader.sections(needed("layers", "", ""), network.layers);
    reader.check_keys();
}

}  // namespace systole::null_models

namespace systole::validate {
namespace {

using null_models::Chip;
using null_models::Prediction;

constexpr double gibi = 1073741824.0;

ByWorkload<double> totals(const ByWorkload<Prediction>& predictions) {
    return by_workload([&](std::size_t i) { return predictions[i].total; });
}

ByWorkload<double> over(const ByWorkload<double>& than, const ByWorkload<double>& faster, double clock) {
    return by_workload([&](std::size_t i) { return than[i] / (faster[i] / clock); });
}

/// The workloads on a chip, and their speed over another's, whose clock is the first one's times `clock`.
class Batches {
public:
    Batches(const Published& published, const Shapes& shapes)
        : shapes_(shapes), batch_(published.workloads("table_1.batch")) {}

    ByWorkload<Prediction> on(const Chip& chip) const {
        return by_workload([&](std::size_t i) {
            return null_models::roofline(shapes_[i], static_cast<std::uint64_t>(batch_[i]), chip);
        });
    }
    ByWorkload<double> speedup(const Chip& faster, const Chip& than) const {
        return over(totals(on(than)), totals(on(faster)), faster.clock_hz / than.clock_hz);
    }
    Sensitivity sensitivity(const Chip& chip) const {
        Sensitivity performance;
        for (std::size_t curve = 0; curve < curve_names.size(); ++curve) {
            for (std::size_t i = 0; i < scales.size(); ++i) {
                performance[curve][i] = speedup(scaled(chip, static_cast<Curve>(curve), scales[i]), chip);
            }
        }
        return performance;
    }

private:
    const Shapes& shapes_;
    const ByWorkload<double> batch_;
};

NullModel model(std::string name, std::string constant, const ByWorkload<double>& predicted,
                const ByWorkload<double>& measured) {
    NullModel made{.name = std::move(name), .constant = std::move(constant)};
    made.errors = by_workload([&](std::size_t i) { return predicted[i] / measured[i] - 1.0; });
    made.mean = null_models::mean_absolute(made.errors);
    return made;
}

/// The mean absolute error of the others when the factor is that of some workloads.
double others_error(const Workloads& fitted, const ByWorkload<double>& measured,
                    const ByWorkload<double>& predicted) {
    std::vector<double> some_measured;
    std::vector<double> some_predicted;
    for (const std::size_t i : fitted) {
        some_measured.push_back(measured[i]);
        some_predicted.push_back(predicted[i]);
    }
    const double factor = null_models::best_factor(some_measured, some_predicted);
    std::vector<double> errors;
    for (const std::size_t i : all_workloads) {
        if (std::ranges::count(fitted, i) == 0) errors.push_back(factor * predicted[i] / measured[i] - 1.0);
    }
    return null_models::mean_absolute(errors);
}

}  // namespace

Shapes read_shapes(const nlohmann::json& object, const std::string& file) {
    machine::ConfigReader reader(object, file);
    reader.check_schema("sim.shapes/1");
    Shapes shapes;
    for (std::size_t i = 0; i < workload_count; ++i) {
        reader.section(machine::needed(workload_names[i], "", ""), shapes[i]);
        if (shapes[i].layers.empty()) {
            throw machine::ConfigError(fmt::format("{}: {} has no layers", file, workload_names[i]));
        }
    }
    reader.check_keys();
    return shapes;
}

Shapes read_shapes(const std::filesystem::path& path) {
    return read_shapes(machine::read_json_object(path), path.string());
}

Chip published_chip(const Published& published) {
    return {.clock_hz = published.at("table_2.clock_mhz") * 1e6,
            .array = published.count("section_2.array"),
            .weight_bytes_per_second = published.at("table_2.weight_memory_gb_per_s") * 1e9,
            .link_bytes_per_second = published.at("figure_1.host_link_gib_per_s") * gibi};
}

Chip scaled(Chip chip, Curve curve, double scale) {
    switch (curve) {
        case Memory:
            chip.weight_bytes_per_second *= scale;
            return chip;
        case Clock:
        case ClockPlus:
            chip.clock_hz *= scale;
            return chip;
        case Matrix:
        case MatrixPlus:
            chip.array = static_cast<std::uint64_t>(static_cast<double>(chip.array) * scale);
            return chip;
    }
    throw std::logic_error("a curve that does not exist");
}

double published_cycles(const Prediction& prediction, double useful_percent) {
    return prediction.useful / (useful_percent / 100.0);
}

std::vector<double> Rooflines::table_3(std::size_t row) const {
    const auto percent = [&](double Prediction::*cycles) {
        std::vector<double> shares;
        for (const Prediction& each : workloads) {
            shares.push_back(100.0 * each.*cycles / (factor * each.total));
        }
        return shares;
    };
    std::vector<double> values;
    switch (row + 1) {
        case 1:
            return percent(&Prediction::active);
        case 2:
            return percent(&Prediction::useful);
        case 3:
            for (const Prediction& each : workloads) {
                values.push_back(100.0 * (each.active - each.useful) / (factor * each.total));
            }
            return values;
        case 4:
            return percent(&Prediction::stall);
        case 5:
            return percent(&Prediction::shift);
        case 6:
            values.assign(workload_count, 100.0 * (1.0 - 1.0 / factor));
            return values;
        case 9:
            for (const Prediction& each : workloads) {
                values.push_back(2.0 * each.macs / (factor * each.total / chip.clock_hz) / 1e12);
            }
            return values;
        default:
            return {};
    }
}

Rooflines rooflines(const Published& published, const Shapes& shapes, const std::vector<Workloads>& splits) {
    const Chip chip = published_chip(published);
    const Batches batches(published, shapes);
    Rooflines made{.chip = chip, .workloads = batches.on(chip)};
    const ByWorkload<double> useful = published.table_3(useful_row);
    const auto measured =
        by_workload([&](std::size_t i) { return published_cycles(made.workloads[i], useful[i]); });
    const ByWorkload<double> bound = totals(made.workloads);
    const auto with_transfers = [](const ByWorkload<Prediction>& predictions) {
        return by_workload([&](std::size_t i) { return predictions[i].total + predictions[i].transfer; });
    };
    Chip slower = chip;
    slower.weight_bytes_per_second = published.at("figure_1.weight_memory_gib_per_s") * gibi;
    made.bound = model("roofline", "", bound, measured);
    made.with_transfers = model("roofline + PCIe", "", with_transfers(made.workloads), measured);
    made.with_transfers_at_figure_1 =
        model("the same, 30 GiB/s", "", with_transfers(batches.on(slower)), measured);
    made.factor = null_models::best_factor(measured, bound);
    made.scaled_bound = model("roofline x constant", fmt::format("{:.3f}", made.factor),
                              by_workload([&](std::size_t i) { return made.factor * bound[i]; }), measured);
    const auto layers =
        by_workload([&](std::size_t i) { return static_cast<double>(shapes[i].layers.size()); });
    const double addend = null_models::best_addend(measured, bound, layers);
    made.by_layer =
        model("roofline + by layer", fmt::format("{:.0f} cycles", addend),
              by_workload([&](std::size_t i) { return bound[i] + addend * layers[i]; }), measured);

    for (const Workloads& split : splits) {
        made.others_errors.push_back(others_error(split, measured, bound));
        made.others_mean += made.others_errors.back() / static_cast<double>(splits.size());
    }

    Shapes eight_bits = shapes;
    for (const std::size_t i : {LSTM0, LSTM1}) eight_bits[i] = null_models::with_8_bits(shapes[i]);
    made.sensitivity = batches.sensitivity(chip);
    made.eight_bit_sensitivity = Batches(published, eight_bits).sensitivity(chip);

    Chip memory = chip;
    const auto cells = static_cast<double>(chip.array * chip.array);
    memory.weight_bytes_per_second = cells * chip.clock_hz / published.at("tpu_prime.ridge_macs_per_byte");
    Chip both = memory;
    both.clock_hz = published.at("tpu_prime.clock_mhz") * 1e6;
    made.prime_memory = batches.speedup(memory, chip);
    made.prime_both = batches.speedup(both, chip);

    const std::uint64_t width = published.count("tiling.matrix");
    const null_models::Network matrix{.layers = {{.inputs = {width}, .columns = width}}};
    const auto on = [&](const Chip& array) {
        return null_models::roofline(matrix, published.count("table_1.batch.LSTM1"), array);
    };
    made.tiling = {on(chip), on(scaled(chip, Matrix, 2.0))};
    return made;
}

}  // namespace systole::validate
