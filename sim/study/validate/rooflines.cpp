#include "sim/study/validate/rooflines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "hw/machine/config_error.h"
#include "sim/study/validate/null_models/least_error.h"
#include "sim/study/validate/null_models/roofline.h"

namespace systole::validate {
namespace {

using null_models::Chip;

class Chips {
public:
    Chips(const Setup& setup, Formulas& formulas)
        : setup_(setup), formulas_(formulas), first_(setup.target.rooflines.front().second) {}

    Chip chip(const std::string& name, const RooflineSet& set) {
        return {
            .clock_hz = number(name, "clock_hz", set.clock_hz, first_.clock_hz),
            .array = static_cast<std::uint64_t>(number(name, "array", set.array, first_.array)),
            .weight_bytes_per_second = number(name, "weight_bytes_per_second", set.weight_bytes_per_second,
                                              first_.weight_bytes_per_second),
            .link_bytes_per_second = number(name, "link_bytes_per_second", set.link_bytes_per_second,
                                            first_.link_bytes_per_second)};
    }

private:
    double number(const std::string& name, const char* key, const std::string& formula,
                  const std::string& first) {
        const std::string place = fmt::format("rooflines: {}.{}", name, key);
        std::set<std::string> needs;
        formulas_.add_needs(formula.empty() ? first : formula, needs, place);
        if (std::ranges::any_of(needs, [](const auto& need) { return need.starts_with("machine."); })) {
            throw machine::ConfigError(
                fmt::format("{}: {}: no key of the machine has a part in a roofline", setup_.file, place));
        }
        const Number value = formulas_.value(formula.empty() ? first : formula, place);
        const bool is_count = std::string_view(key) == "array";
        if (value && *value > 0.0 && (!is_count || *value == std::floor(*value))) return *value;
        throw machine::ConfigError(fmt::format("{}: {}: it must be a {}number above 0", setup_.file, place,
                                               is_count ? "whole " : ""));
    }

    const Setup& setup_;
    Formulas& formulas_;
    const RooflineSet& first_;
};

void know_prediction(const std::string& name, const std::string& model,
                     const null_models::Prediction& prediction, Formulas& formulas) {
    const auto know = [&](const char* what, double number) {
        formulas.know(fmt::format("{}.{}.{}", name, what, model), number);
    };
    know("total", prediction.total);
    know("active", prediction.active);
    know("useful", prediction.useful);
    know("stall", prediction.stall);
    know("shift", prediction.shift);
    know("transfer", prediction.transfer);
    know("macs", prediction.macs);
    know("tiles", static_cast<double>(prediction.tiles));
}

}  // namespace

void know_shapes(const Setup& setup, Formulas& formulas) {
    for (const auto& each : setup.shapes) {
        const auto& network = each.second;
        const auto know = [&](const char* what, std::uint64_t number) {
            formulas.know(fmt::format("shapes.{}.{}", what, each.first), static_cast<double>(number));
        };
        know("macs", null_models::macs_of(network));
        know("weights", null_models::weights_of(network));
        know("layers", network.layers.size());
        know("input_bytes", network.input_bytes);
        know("output_bytes", network.output_bytes);
    }
}

void know_rooflines(const Setup& setup, Formulas& formulas) {
    if (setup.target.rooflines.empty()) return;
    Chips chips(setup, formulas);
    for (const auto& [name, set] : setup.target.rooflines) {
        const Chip chip = chips.chip(name, set);
        formulas.know(name + ".clock_hz", chip.clock_hz);
        formulas.know(name + ".array", static_cast<double>(chip.array));
        for (const auto& [model, network] : setup.shapes) {
            const null_models::Network shapes = set.eight_bits ? null_models::with_8_bits(network) : network;
            know_prediction(name, model,
                            null_models::roofline(shapes, batch_of(setup, model, formulas), chip), formulas);
            formulas.know(fmt::format("{}.layers.{}", name, model),
                          static_cast<double>(network.layers.size()));
        }
    }
}

void define_constant(const std::string& name, const BestConstant& constant, Formulas& formulas) {
    using Rows = std::span<const std::vector<double>>;
    if (constant.times.empty()) {
        formulas.define(name, [](Rows rows) { return null_models::best_factor(rows[0], rows[1]); },
                        {constant.measured, constant.predicted});
    } else {
        formulas.define(name, [](Rows rows) { return null_models::best_addend(rows[0], rows[1], rows[2]); },
                        {constant.measured, constant.predicted, constant.times});
    }
}

}  // namespace systole::validate
